import { isJsonObject, type Json, type JsonObject } from '../../meta/index.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { Resource } from '../cluster/resource.ts';
import { command } from '../command.ts';
import { CommandError } from '../errors.ts';
import { text, toggle } from '../flags/flag.ts';
import { jsonText } from '../output/json.ts';

/** The widest descriptions, without their indentation, and the narrowest on a small terminal (characters). */
const maxWidth = 76;
const minWidth = 20;
const indentation = 4;
/** The maximum number of fields that `--recursive` prints. */
const maxFields = 200_000;

export const explainCommand = command({
  name: 'explain',
  summary: 'Get documentation for a resource',
  description:
    'Describe fields and structure of various resources.\n\n This command describes the fields associated with each supported API resource. Fields are identified via a simple JSONPath identifier:\n\n        <type>.<fieldName>[.<fieldName>]',
  usage: 'TYPE [--recursive=FALSE|TRUE] [--api-version=api-version-group]',
  examples: [
    { title: 'Get the documentation of the resource and its fields', lines: ['ctl explain pods'] },
    { title: 'Get all the fields in the resource', lines: ['ctl explain pods --recursive'] },
    { title: 'Get the documentation of a specific field of a resource', lines: ['ctl explain pods.spec.containers'] },
  ],
  flags: {
    apiVersion: text('', 'Use given api-version (group/version) of the resource.'),
    output: text('plaintext', 'Format in which to render the schema. Valid values are: (plaintext).'),
    recursive: toggle(
      false,
      'When true, print the name of all the fields recursively. Otherwise, print the available fields with their description.',
    ),
  },
  run: async ({ args, flags, io, cluster }) => {
    const [arg, ...more] = args;
    if (arg === undefined) {
      throw new CommandError(
        'You must specify the type of resource to explain. Use "orch ctl api-resources" for a complete list of supported resources.',
      );
    }
    if (more.length > 0) throw new CommandError('We accept only this format: explain RESOURCE');
    if (flags.output !== 'plaintext') throw new CommandError(`unrecognized format: ${flags.output}`);
    const opened = await cluster();
    const [type = '', ...path] = arg.replace(/\.$/, '').split('.');
    const resource = await resourceFor(opened, type, flags.apiVersion);
    const schemas = await schemasOf(opened, resource);
    io.stdout.write(
      `${resource.group === '' ? '' : `GROUP:      ${resource.group}\n`}KIND:       ${resource.kind}\nVERSION:    ${resource.version}\n\n`,
    );
    const columns = io.stdout.columns ?? Number.POSITIVE_INFINITY;
    const width = Math.max(minWidth, Math.min(maxWidth, columns - indentation));
    io.stdout.write(new Explanation(schemas, width).of(path, flags.recursive));
    return 0;
  },
});

async function resourceFor(cluster: Cluster, type: string, apiVersion: string): Promise<Resource> {
  const discovery = await cluster.discovery();
  const found = await discovery.find(type);
  if (found === undefined) {
    throw new CommandError(`the server doesn't have a resource type ${JSON.stringify(type)}`, { prefixed: false });
  }
  if (apiVersion === '') return found;
  const versioned = discovery.resources.find(({ name, apiVersion: one }) => name === found.name && one === apiVersion);
  if (versioned !== undefined) return versioned;
  const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
  throw new CommandError(`couldn't find resource for "${group}/${version}, Resource=${found.name}"`);
}

interface Schemas {
  readonly root: JsonObject;
  readonly byName: JsonObject;
}

/** The schema of a resource and those that it refers to, from the OpenAPI document of its version. */
async function schemasOf(cluster: Cluster, { group, version, kind }: Resource): Promise<Schemas> {
  const { names } = await cluster.discovery();
  const url = `/openapi/v3/${group === '' ? 'api' : `apis/${group}`}/${version}`;
  const document = await cluster.send({ url });
  const components = objectIn(document['components']);
  const byName = objectIn(components['schemas']);
  const key = `${names.extension}group-version-kind`;
  const isOfKind = (schema: Json) => {
    const kinds = isJsonObject(schema) ? schema[key] : undefined;
    return (Array.isArray(kinds) ? kinds.filter(isJsonObject) : []).some(
      (one) => one['kind'] === kind && one['group'] === group && one['version'] === version,
    );
  };
  const root = Object.values(byName).find(isOfKind);
  if (!isJsonObject(root)) throw new CommandError(`GVR (${group}, ${version}, ${kind}) not found in OpenAPI schema`);
  return { root, byName };
}

const objectIn = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {});
const textIn = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

class Explanation {
  readonly #schemas: Schemas;
  /** Of descriptions, without their indentation (characters). */
  readonly #width: number;
  #fields = 0;

  constructor(schemas: Schemas, width: number) {
    this.#schemas = schemas;
    this.#width = width;
  }

  /** @throws CommandError when the field does not exist */
  of(path: readonly string[], recursive: boolean): string {
    let schema = this.#schemas.root;
    for (const name of path) {
      const property = this.#properties(schema)[name];
      if (!isJsonObject(property)) throw new CommandError(`field ${JSON.stringify(name)} does not exist`);
      schema = property;
    }
    const field = path.at(-1);
    const head =
      field === undefined ? '' : `FIELD: ${field} <${this.#type(schema)}>\n${enumBlock(this.#enum(schema))}\n`;
    const description = this.#descriptions(schema)
      .map((each) => indented(each, this.#width))
      .join('');
    const properties = this.#properties(schema);
    const hasFields = Object.keys(properties).length > 0;
    const fields = recursive ? this.#names(schema, 2, []) : this.#described(schema);
    return `${head}DESCRIPTION:\n${description === '' ? '    <empty>\n' : description}    \n${hasFields ? 'FIELDS:\n' : ''}${fields}\n`;
  }

  #described(schema: JsonObject): string {
    return this.#entries(schema)
      .map(([name, property, line]) => {
        const [description] = this.#descriptions(property);
        return `  ${name}\t${line}\n${this.#enumLine(property, 2)}${indented(description ?? '<no description>', this.#width)}\n`;
      })
      .join('');
  }

  /** `parents`: the schemas around it, which a recursive type would repeat. */
  #names(schema: JsonObject, indent: number, parents: readonly string[]): string {
    const space = ' '.repeat(indent);
    return this.#entries(schema)
      .map(([name, property, line]) => {
        if (++this.#fields > maxFields) throw new CommandError(`the type has more than ${maxFields} fields`);
        const own = `${space}${name}\t${line}\n${this.#enumLine(property, indent)}`;
        const reference = this.#reference(property);
        if (reference !== undefined && parents.includes(reference)) return own;
        const next = reference === undefined ? parents : [...parents, reference];
        return own + this.#names(property, indent + 2, next);
      })
      .join('');
  }

  #entries(schema: JsonObject): [string, JsonObject, string][] {
    const { required = [] } = this.#resolved(this.#inner(schema));
    const properties = this.#properties(schema);
    return Object.keys(properties)
      .sort()
      .map((name) => {
        const property = objectIn(properties[name]);
        const isRequired = Array.isArray(required) && required.includes(name);
        return [name, property, `<${this.#type(property)}>${isRequired ? ' -required-' : ''}`];
      });
  }

  /** The fields of a type, of the items of a list, or of the values of a map. */
  #properties(schema: JsonObject): JsonObject {
    return objectIn(this.#resolved(this.#inner(schema))['properties']);
  }

  #inner(schema: JsonObject): JsonObject {
    const resolved = this.#resolved(schema);
    const { items, additionalProperties } = resolved;
    if (isJsonObject(items)) return this.#inner(items);
    return isJsonObject(additionalProperties) && resolved['properties'] === undefined
      ? this.#inner(additionalProperties)
      : resolved;
  }

  #resolved(schema: JsonObject): JsonObject {
    const name = this.#referenceOf(schema);
    return name === undefined ? schema : objectIn(this.#schemas.byName[name]);
  }

  #reference(schema: JsonObject): string | undefined {
    const { items, additionalProperties } = schema;
    const inner = isJsonObject(items) ? items : isJsonObject(additionalProperties) ? additionalProperties : undefined;
    return this.#referenceOf(schema) ?? (inner === undefined ? undefined : this.#reference(inner));
  }

  #referenceOf({ $ref, allOf }: JsonObject): string | undefined {
    const [only] = Array.isArray(allOf) ? allOf : [];
    const text = textIn($ref ?? (isJsonObject(only) ? only['$ref'] : undefined));
    return text === '' ? undefined : text.slice(text.lastIndexOf('/') + 1);
  }

  #type(schema: JsonObject): string {
    const { items, additionalProperties, type } = schema;
    if (isJsonObject(items)) return `[]${this.#type(items)}`;
    if (isJsonObject(additionalProperties)) return `map[string]${this.#type(additionalProperties)}`;
    const reference = this.#referenceOf(schema);
    const resolved = this.#resolved(schema);
    if (reference !== undefined) {
      // Types such as times and quantities are shown as what they are made of.
      const simple = textIn(resolved['type']);
      const isNamed = simple === '' || simple === 'object' || simple === 'array';
      return isNamed ? reference.slice(reference.lastIndexOf('.') + 1) : simple;
    }
    return textIn(type) === 'object' || textIn(type) === '' ? 'Object' : textIn(type);
  }

  #enum(schema: JsonObject): string[] {
    const { enum: values } = this.#resolved(schema);
    return Array.isArray(values) ? values.map((value) => (value === '' ? '""' : jsonText(value))).toSorted() : [];
  }

  #enumLine(schema: JsonObject, indent: number): string {
    const values = this.#enum(schema);
    return values.length === 0
      ? ''
      : `${' '.repeat(indent)}enum: ${values.slice(0, 4).join(', ')}${values.length > 4 ? ', ....' : ''}\n`;
  }

  /** The description of a field, and that of its type. */
  #descriptions(schema: JsonObject): string[] {
    const { items, additionalProperties } = schema;
    const own = textIn(schema['description']);
    const inner = isJsonObject(items) ? items : isJsonObject(additionalProperties) ? additionalProperties : undefined;
    const type =
      inner === undefined ? textIn(this.#resolved(schema)['description']) : (this.#descriptions(inner)[0] ?? '');
    return [own, type === own ? '' : type].filter((each) => each !== '');
  }
}

function enumBlock(values: readonly string[]): string {
  return values.length === 0 ? '\n' : `ENUM:\n${values.map((value) => `    ${value}\n`).join('')}`;
}

/** Breaks lines at spaces, and indents them. Ends with a line feed. */
function indented(description: string, width: number): string {
  const lines = description.split('\n').flatMap((line) => {
    const parts = [''];
    for (const word of line.split(' ')) {
      const last = parts.at(-1) ?? '';
      if (last !== '' && last.length + 1 + word.length > width) parts.push(word);
      else parts[parts.length - 1] = last === '' ? word : `${last} ${word}`;
    }
    return parts;
  });
  return lines.map((line) => `${' '.repeat(indentation)}${line}\n`).join('');
}
