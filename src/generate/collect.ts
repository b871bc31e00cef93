import { getKey, isJsonObject, type Json, type JsonObject, type Names, setKey } from '../meta/index.ts';
import { type JsonSchema, type JsonType, type Model, referenceTo } from './model.ts';
import { freeName, pascal, typeNames } from './names.ts';
import { javaScriptPattern } from './pattern.ts';

/** A kind by the OpenAPI component of its objects. */
export interface Kind {
  readonly component: string;
  /** The first one is that of the field; others are those of the same kind under other API domains. */
  readonly apiVersions: readonly string[];
  readonly kind: string;
}

export interface Sources {
  readonly names: Names;
  /** The schemas of components of OpenAPI documents, by name: those of the kinds, and what they refer to. */
  readonly components: ReadonlyMap<string, JsonObject>;
  readonly kinds: readonly Kind[];
  /** Other components that are written although no kind refers to them. */
  readonly others?: readonly string[];
  /** The types of object metadata have names without a version. */
  readonly bareMeta: boolean;
}

type Mutable = { -readonly [K in keyof JsonSchema]: JsonSchema[K] };

/** The types of kinds and of all that is below them. Objects inside them are types named after their path. */
export function modelOf(sources: Sources): Model {
  const collector = new Collector(sources);
  for (const { component } of sources.kinds) collector.refer(component);
  for (const component of sources.others ?? []) collector.refer(component);
  return { kinds: collector.collect(), types: collector.types };
}

class Collector {
  readonly types = new Map<string, JsonSchema>();
  readonly #sources: Sources;
  readonly #kinds: ReadonlyMap<string, Kind>;
  readonly #names: ReadonlyMap<string, string>;
  /** The names of components that are types, which no other type gets. */
  readonly #reserved: ReadonlySet<string>;
  readonly #queue = new Set<string>();

  constructor(sources: Sources) {
    this.#sources = sources;
    this.#kinds = new Map(sources.kinds.map((kind) => [kind.component, kind]));
    const objects = [...sources.components].filter(([, schema]) => isFields(schema)).map(([component]) => component);
    this.#names = typeNames(objects, sources.names, sources.bareMeta);
    this.#reserved = new Set(this.#names.values());
  }

  /** Defines the components that were referred to. Returns the names of the kinds. */
  collect(): string[] {
    const kinds: string[] = [];
    // Components that are referenced during the loop are appended.
    for (const component of this.#queue) {
      const name = this.#names.get(component) as string;
      const kind = this.#kinds.get(component);
      if (kind !== undefined) kinds.push(name);
      this.#define(name, this.#sources.components.get(component) as JsonObject, kind);
    }
    return kinds;
  }

  /** A reference to the type of a component; the schema itself unless the component is an object with fields. */
  refer(component: string): JsonSchema {
    const name = this.#names.get(component);
    if (name === undefined) return this.#schema(this.#sources.components.get(component) ?? {}, undefined);
    this.#queue.add(component);
    return { $ref: referenceTo(name), ...(this.#kinds.has(component) && { embedded: true as const }) };
  }

  #define(name: string, source: JsonObject, kind?: Kind): void {
    // Types stand before those of their fields.
    this.types.set(name, {});
    const object = this.#object(source, name);
    this.types.set(name, kind === undefined ? object : ofKind(object, kind));
  }

  /** `path` names the type of an object at this place; undefined: the object stays in its place. */
  #schema(source: JsonObject, path: string | undefined): JsonSchema {
    const component = componentOf(source);
    if (component !== undefined) return referring(this.refer(component), source);
    if (path === undefined || !isFields(source)) return this.#object(source, path);
    const name = freeName(path, (one) => this.types.has(one) || this.#reserved.has(one));
    const { default: _, ...type } = source;
    this.#define(name, type);
    return referring({ $ref: referenceTo(name) }, source);
  }

  /** The schema in its place. */
  #object(source: JsonObject, path: string | undefined): JsonSchema {
    const { extension } = this.#sources.names;
    const out: Mutable = { ...copied(source), ...limits(source), ...typeOf(source, extension, path) };
    const below = (key: string) => {
      const value = getKey(source, key);
      return isJsonObject(value) ? this.#schema(value, path) : undefined;
    };
    const items = below('items');
    if (items !== undefined) out.items = items;
    const properties = getKey(source, 'properties');
    if (isJsonObject(properties)) {
      const written: { [name: string]: JsonSchema } = {};
      for (const [name, property] of Object.entries(properties)) {
        if (!isJsonObject(property)) continue;
        define(written, name, this.#schema(property, path && path + pascal(name)));
      }
      out.properties = written;
    }
    const required = requiredOf(source);
    if (required.length > 0) out.required = required;
    const keeps = getKey(source, `${extension}preserve-unknown-fields`) === true;
    const values = keeps || getKey(source, 'additionalProperties') === true || below('additionalProperties');
    if (values !== undefined && (path !== undefined || values !== true)) out.additionalProperties = values;
    if (getKey(source, `${extension}list-type`) === 'set') out.uniqueItems = true;
    return { ...out, ...this.#combined(source, extension) };
  }

  /** Schemas that a value satisfies in addition to its own. */
  #combined(source: JsonObject, extension: string): JsonSchema {
    const out: Mutable = {};
    for (const key of ['allOf', 'anyOf', 'oneOf'] as const) {
      const all = getKey(source, key);
      // The types of such a value are said already.
      if (!Array.isArray(all) || (key === 'anyOf' && isIntOrString(source, extension))) continue;
      out[key] = all.filter(isJsonObject).map((one) => this.#schema(one, undefined));
    }
    const not = getKey(source, 'not');
    if (isJsonObject(not)) out.not = this.#schema(not, undefined);
    return out;
  }
}

/** An object of a kind, which says so. */
function ofKind(schema: JsonSchema, { apiVersions, kind }: Kind): JsonSchema {
  const { apiVersion, kind: kindOf, metadata, ...properties } = schema.properties ?? {};
  const [first = ''] = apiVersions;
  const version: JsonSchema = apiVersions.length === 1 ? { const: first } : { enum: apiVersions };
  const own: { [name: string]: JsonSchema } = {
    apiVersion: { ...commentOf(apiVersion), ...version },
    kind: { ...commentOf(kindOf), const: kind },
    ...(metadata !== undefined && { metadata }),
  };
  for (const [name, property] of Object.entries(properties)) define(own, name, property);
  const metadataNames = metadata?.$ref?.endsWith('ObjectMeta') === true ? ['metadata'] : [];
  const required = [...new Set(['apiVersion', 'kind', ...metadataNames, ...(schema.required ?? [])])];
  return { ...schema, type: ['object'], properties: own, required };
}

const commentOf = (schema: JsonSchema | undefined): JsonSchema =>
  schema?.description === undefined ? {} : { description: schema.description };

/** Sets a member that may have any name. */
const define = (target: { [name: string]: JsonSchema }, name: string, value: JsonSchema): void =>
  setKey(target as unknown as JsonObject, name, value as unknown as Json);

const textOf = (from: JsonObject, key: string): string => {
  const value = getKey(from, key);
  return typeof value === 'string' ? value : '';
};

/** Whether the schema is that of an object with fields. */
function isFields(schema: JsonObject): boolean {
  const properties = getKey(schema, 'properties');
  return isJsonObject(properties) && Object.keys(properties).length > 0;
}

/** The component that a schema refers to, by itself or, to add a description, as the only one of `allOf`. */
function componentOf(schema: JsonObject): string | undefined {
  const all = getKey(schema, 'allOf');
  const [only] = Array.isArray(all) && all.length === 1 ? all : [];
  const $ref = textOf(schema, '$ref') || (only !== undefined && isJsonObject(only) ? textOf(only, '$ref') : '');
  return $ref === '' ? undefined : $ref.slice($ref.lastIndexOf('/') + 1);
}

/** A reference with what is said of it at its place. It has no types, so that null is another schema. */
function referring(reference: JsonSchema, source: JsonObject): JsonSchema {
  const { description = '', default: byDefault } = copied(source);
  const annotations = {
    ...(description !== '' && { description }),
    ...(byDefault !== undefined && { default: byDefault }),
  };
  const isNullable = getKey(source, 'nullable') === true;
  return isNullable ? { anyOf: [reference, { type: ['null'] }], ...annotations } : { ...reference, ...annotations };
}

const isIntOrString = (source: JsonObject, extension: string): boolean =>
  getKey(source, `${extension}int-or-string`) === true || getKey(source, 'format') === 'int-or-string';

function typeOf(source: JsonObject, extension: string, path: string | undefined): JsonSchema {
  const type = textOf(source, 'type');
  const types: readonly JsonType[] = isIntOrString(source, extension)
    ? ['integer', 'string']
    : type === ''
      ? []
      : [type as JsonType];
  if (types.length === 0) return isFields(source) && path !== undefined ? { type: ['object'] } : {};
  // Null is in no enumeration.
  return getKey(source, 'nullable') === true && getKey(source, 'enum') === undefined
    ? { type: [...types, 'null'] }
    : { type: types };
}

/** The fields that a request must have: what is absent and has a default is set. */
function requiredOf(source: JsonObject): string[] {
  const required = getKey(source, 'required');
  const properties = getKey(source, 'properties');
  const hasDefault = (name: string) => {
    const property = isJsonObject(properties) ? getKey(properties, name) : undefined;
    return isJsonObject(property) && getKey(property, 'default') !== undefined;
  };
  const requiredNames = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
  return requiredNames.filter((name) => !hasDefault(name));
}

const copiedKeywords = [
  ...['title', 'description', 'default', 'enum', 'minLength', 'maxLength', 'multipleOf', 'uniqueItems'],
  ...['minItems', 'maxItems', 'minProperties', 'maxProperties'],
];

/** Keywords that mean the same in JSON Schema. */
function copied(source: JsonObject): JsonSchema {
  const out: JsonObject = {};
  for (const key of copiedKeywords) {
    const value = getKey(source, key);
    if (value !== undefined && value !== '') out[key] = value;
  }
  const format = textOf(source, 'format');
  if (format !== '' && format !== 'int-or-string') out['format'] = format;
  const pattern = javaScriptPattern(textOf(source, 'pattern'));
  if (pattern) out['pattern'] = pattern;
  return out as JsonSchema;
}

/** The bounds of a number: whether one is exclusive is a flag in OpenAPI, and integers are compared with whole ones. */
function limits(source: JsonObject): JsonSchema {
  const out: { [keyword: string]: number } = {};
  for (const [key, exclusive] of [
    ['minimum', 'exclusiveMinimum'],
    ['maximum', 'exclusiveMaximum'],
  ] as const) {
    const limit = getKey(source, key);
    if (typeof limit !== 'number' && typeof limit !== 'bigint') continue;
    const value = getKey(source, 'type') === 'integer' ? Math.trunc(Number(limit)) : Number(limit);
    out[getKey(source, exclusive) === true ? exclusive : key] = value;
  }
  return out;
}
