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
    // Components that are referred to meanwhile are behind.
    for (const component of this.#queue) {
      const name = this.#names.get(component) as string;
      const kind = this.#kinds.get(component);
      if (kind !== undefined) kinds.push(name);
      this.#define(name, this.#sources.components.get(component) as JsonObject, kind);
    }
    return kinds;
  }

  /** A reference to the type of a component; the schema itself where that is no object with fields. */
  refer(component: string): JsonSchema {
    const name = this.#names.get(component);
    if (name === undefined) return this.#schema(this.#sources.components.get(component) ?? {}, undefined);
    this.#queue.add(component);
    return { $ref: referenceTo(name), ...(this.#kinds.has(component) && { embedded: true as const }) };
  }

  #define(name: string, given: JsonObject, kind?: Kind): void {
    // Types stand before those of their fields.
    this.types.set(name, {});
    const object = this.#object(given, name);
    this.types.set(name, kind === undefined ? object : ofKind(object, kind));
  }

  /** `path` names the type of an object at this place; undefined: the object stays in its place. */
  #schema(given: JsonObject, path: string | undefined): JsonSchema {
    const component = componentOf(given);
    if (component !== undefined) return referring(this.refer(component), given);
    if (path === undefined || !isFields(given)) return this.#object(given, path);
    const name = freeName(path, (one) => this.types.has(one) || this.#reserved.has(one));
    const { default: _, ...type } = given;
    this.#define(name, type);
    return referring({ $ref: referenceTo(name) }, given);
  }

  /** The schema in its place. */
  #object(given: JsonObject, path: string | undefined): JsonSchema {
    const { extension } = this.#sources.names;
    const out: Mutable = { ...copied(given), ...limits(given), ...typeOf(given, extension, path) };
    const below = (key: string) => {
      const value = getKey(given, key);
      return isJsonObject(value) ? this.#schema(value, path) : undefined;
    };
    const items = below('items');
    if (items !== undefined) out.items = items;
    const properties = getKey(given, 'properties');
    if (isJsonObject(properties)) {
      const written: { [name: string]: JsonSchema } = {};
      for (const [name, property] of Object.entries(properties)) {
        if (!isJsonObject(property)) continue;
        define(written, name, this.#schema(property, path && path + pascal(name)));
      }
      out.properties = written;
    }
    const required = requiredOf(given);
    if (required.length > 0) out.required = required;
    const keeps = getKey(given, `${extension}preserve-unknown-fields`) === true;
    const values = keeps || getKey(given, 'additionalProperties') === true || below('additionalProperties');
    if (values !== undefined && (path !== undefined || values !== true)) out.additionalProperties = values;
    if (getKey(given, `${extension}list-type`) === 'set') out.uniqueItems = true;
    return { ...out, ...this.#combined(given, extension) };
  }

  /** Schemas that a value fulfils beside its own. */
  #combined(given: JsonObject, extension: string): JsonSchema {
    const out: Mutable = {};
    for (const key of ['allOf', 'anyOf', 'oneOf'] as const) {
      const all = getKey(given, key);
      // The types of such a value are said already.
      if (!Array.isArray(all) || (key === 'anyOf' && isIntOrString(given, extension))) continue;
      out[key] = all.filter(isJsonObject).map((one) => this.#schema(one, undefined));
    }
    const not = getKey(given, 'not');
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
  const named = metadata?.$ref?.endsWith('ObjectMeta') === true ? ['metadata'] : [];
  const required = [...new Set(['apiVersion', 'kind', ...named, ...(schema.required ?? [])])];
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
function referring(reference: JsonSchema, given: JsonObject): JsonSchema {
  const { description = '', default: byDefault } = copied(given);
  const beside = {
    ...(description !== '' && { description }),
    ...(byDefault !== undefined && { default: byDefault }),
  };
  const isNullable = getKey(given, 'nullable') === true;
  return isNullable ? { anyOf: [reference, { type: ['null'] }], ...beside } : { ...reference, ...beside };
}

const isIntOrString = (given: JsonObject, extension: string): boolean =>
  getKey(given, `${extension}int-or-string`) === true || getKey(given, 'format') === 'int-or-string';

function typeOf(given: JsonObject, extension: string, path: string | undefined): JsonSchema {
  const type = textOf(given, 'type');
  const types: readonly JsonType[] = isIntOrString(given, extension)
    ? ['integer', 'string']
    : type === ''
      ? []
      : [type as JsonType];
  if (types.length === 0) return isFields(given) && path !== undefined ? { type: ['object'] } : {};
  // Null is in no enumeration.
  return getKey(given, 'nullable') === true && getKey(given, 'enum') === undefined
    ? { type: [...types, 'null'] }
    : { type: types };
}

/** The fields that a request must have: what is absent and has a default is set. */
function requiredOf(given: JsonObject): string[] {
  const required = getKey(given, 'required');
  const properties = getKey(given, 'properties');
  const hasDefault = (name: string) => {
    const property = isJsonObject(properties) ? getKey(properties, name) : undefined;
    return isJsonObject(property) && getKey(property, 'default') !== undefined;
  };
  const named = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
  return named.filter((name) => !hasDefault(name));
}

const copiedKeywords = [
  ...['title', 'description', 'default', 'enum', 'minLength', 'maxLength', 'multipleOf', 'uniqueItems'],
  ...['minItems', 'maxItems', 'minProperties', 'maxProperties'],
];

/** Keywords that mean the same in JSON Schema. */
function copied(given: JsonObject): JsonSchema {
  const out: JsonObject = {};
  for (const key of copiedKeywords) {
    const value = getKey(given, key);
    if (value !== undefined && value !== '') out[key] = value;
  }
  const format = textOf(given, 'format');
  if (format !== '' && format !== 'int-or-string') out['format'] = format;
  const pattern = javaScriptPattern(textOf(given, 'pattern'));
  if (pattern) out['pattern'] = pattern;
  return out as JsonSchema;
}

/** The bounds of a number: whether one is exclusive is a flag in OpenAPI, and integers are compared with whole ones. */
function limits(given: JsonObject): JsonSchema {
  const out: { [keyword: string]: number } = {};
  for (const [key, exclusive] of [
    ['minimum', 'exclusiveMinimum'],
    ['maximum', 'exclusiveMaximum'],
  ] as const) {
    const limit = getKey(given, key);
    if (typeof limit !== 'number' && typeof limit !== 'bigint') continue;
    const value = getKey(given, 'type') === 'integer' ? Math.trunc(Number(limit)) : Number(limit);
    out[getKey(given, exclusive) === true ? exclusive : key] = value;
  }
  return out;
}
