import {
  atOnce,
  expandNames,
  type GroupVersionKind,
  type JsonObject,
  type Names,
  type Steps,
  setKey,
} from '../meta/index.ts';
import { fieldName, resolve } from './access.ts';
import type { Field, ScalarName, ScalarSchema, Schema, StructSchema, Union } from './declare.ts';
import { scalars } from './scalars.ts';

/** v2: definitions of an OpenAPI 2.0 document. v3: component schemas of an OpenAPI 3.0 document. */
type Dialect = 'v2' | 'v3';

/** The kinds under which a struct is served. */
type KindsOf = (schema: StructSchema) => readonly GroupVersionKind[];

/** Describes a type or one of its fields, with placeholders of `expandNames`; undefined without a description. */
export type Describe = (typeName: string, field?: string) => string | undefined;

export interface OpenApiSchemaOptions {
  readonly names: Names;
  readonly dialect: Dialect;
  /** Default: none of them is served. */
  readonly kindsOf?: KindsOf;
  /** Whether fields list their supported values; by default they do. */
  readonly enums?: boolean;
  /** Default: no descriptions. */
  readonly describe?: Describe;
}

/**
 * The schemas of the given structs and of all referenced types, sorted by name. A struct that is served as a kind has
 * the extension `group-version-kind`.
 */
export const openApiSchemas = (
  roots: Iterable<StructSchema>,
  options: OpenApiSchemaOptions,
): { [name: string]: JsonObject } => atOnce(openApiSchemasInSteps(roots, options));

/** The same in steps, one for each of the given structs. */
export function* openApiSchemasInSteps(
  roots: Iterable<StructSchema>,
  { names, dialect, kindsOf = () => [], enums = true, describe = () => undefined }: OpenApiSchemaOptions,
): Steps<{ [name: string]: JsonObject }> {
  const writer: Writer = { names, dialect, kindsOf, enums, describe, written: new Map() };
  for (const root of roots) {
    schemaOf(root, writer);
    yield;
  }
  const out: { [name: string]: JsonObject } = {};
  for (const name of [...writer.written.keys()].sort()) setKey(out, name, writer.written.get(name) as JsonObject);
  return out;
}

/** The name of a type in OpenAPI documents: `io.k8s.api.core.v1.Pod` for `core/v1.Pod`. */
export function openApiName(typeName: string, names: Names): string {
  const slash = typeName.indexOf('/');
  const home = typeName.slice(0, slash);
  const rest = typeName.slice(slash + 1);
  // A custom group is written as a reversed domain.
  if (home.includes('.')) return `${home.split('.').reverse().join('.')}.${rest}`;
  return `${names.openApi}.${homes.get(home) ?? `api.${home}`}.${rest}`;
}

/** Go packages outside the API module. */
const homes: ReadonlyMap<string, string> = new Map([
  ['meta', 'apimachinery.pkg.apis.meta'],
  ['apiextensions', 'apiextensions-apiserver.pkg.apis.apiextensions'],
  ['apiregistration', 'kube-aggregator.pkg.apis.apiregistration'],
]);

interface Writer {
  readonly names: Names;
  readonly dialect: Dialect;
  readonly kindsOf: KindsOf;
  readonly enums: boolean;
  readonly describe: Describe;
  readonly written: Map<string, JsonObject>;
}

/** A reference to a named schema, which is written on first use. */
function refer(name: string, make: () => JsonObject, writer: Writer): JsonObject {
  if (!writer.written.has(name)) {
    writer.written.set(name, {});
    writer.written.set(name, make());
  }
  return { $ref: `#/${writer.dialect === 'v2' ? 'definitions' : 'components/schemas'}/${name}` };
}

function structSchema(schema: StructSchema, writer: Writer): JsonObject {
  const properties: JsonObject = {};
  const required: string[] = [];
  for (const [declared, field] of Object.entries(schema.fields)) {
    const name = fieldName(schema, declared, writer.names);
    setKey(properties, name, fieldSchema(field, writer, descriptionOf(writer, schema.name, declared)));
    if (field.required === true) required.push(name);
  }
  const { extension } = writer.names;
  const kinds = writer.kindsOf(schema);
  return {
    ...descriptionOf(writer, schema.name),
    type: 'object',
    ...(required.length === 0 ? {} : { required }),
    ...(Object.keys(properties).length === 0 ? {} : { properties }),
    ...(schema.structType === 'atomic' ? { [`${extension}map-type`]: 'atomic' } : {}),
    ...(kinds.length === 0
      ? {}
      : { [`${extension}group-version-kind`]: kinds.map(({ group, version, kind }) => ({ group, version, kind })) }),
    ...(schema.union === undefined ? {} : { [`${extension}unions`]: [unionOf(schema.union)] }),
  };
}

const unionOf = ({ discriminator, members }: Union): JsonObject => ({
  discriminator,
  'fields-to-discriminateBy': Object.fromEntries(
    members.map((name) => [name, name.charAt(0).toUpperCase() + name.slice(1)]),
  ),
});

function descriptionOf({ describe, names }: Writer, typeName: string, field?: string): JsonObject {
  const text = describe(typeName, field);
  return text === undefined ? {} : { description: expandNames(text, names) };
}

/** `description`: the keyword, or nothing. */
function fieldSchema(field: Field, writer: Writer, description: JsonObject): JsonObject {
  const { names, dialect, enums } = writer;
  const schema = resolve(field.schema);
  const base = schemaOf(schema, writer);
  const extras: JsonObject = {
    ...description,
    ...(dialect === 'v3' ? defaultOf(field, schema, names) : {}),
    ...extensionsOf(field, names),
  };
  const known = enums && (field.enum ?? field.open !== true) ? field.known : undefined;
  const values = known && knownValues(known, names);
  if (values !== undefined && schema.type === 'list')
    base['items'] = { ...partSchema(schema.element, writer), enum: values };
  else if (values !== undefined && schema.type === 'map')
    base['additionalProperties'] = { ...partSchema(schema.value, writer), enum: values };
  else if (values !== undefined) extras['enum'] = values;
  if (base['$ref'] === undefined || Object.keys(extras).length === 0) return { ...base, ...extras };
  return dialect === 'v3' ? { allOf: [base], ...extras } : { ...base, ...extras };
}

/** The schema of the items of a list or the values of a map. In v3 a plain one has its zero value. */
function partSchema(declared: Schema, writer: Writer): JsonObject {
  const schema = resolve(declared);
  const base = schemaOf(schema, writer);
  return writer.dialect === 'v3' && isPlain(schema.type) ? { ...base, ...zeroOf(schema) } : base;
}

const knownValues = (known: readonly string[], names: Names) => known.map((value) => expandNames(value, names)).sort();

/** The `default` of a field. One that is always encoded has its zero value. */
function defaultOf(field: Field, schema: Schema, names: Names): JsonObject {
  if (field.default !== undefined) {
    return { default: typeof field.default === 'string' ? expandNames(field.default, names) : field.default };
  }
  if (field.nullable === true) return {};
  return schema.type === 'struct' || field.always === true ? zeroOf(schema) : {};
}

function zeroOf(schema: Schema): JsonObject {
  if (schema.type === 'struct') return { default: {} };
  return isPlain(schema.type) ? { default: scalars[schema.type].zero } : {};
}

const isPlain = (type: Schema['type']): type is 'string' | 'bool' | 'int32' | 'int64' | 'double' =>
  type === 'string' || type === 'bool' || type === 'int32' || type === 'int64' || type === 'double';

function extensionsOf(field: Field, { extension }: Names): JsonObject {
  const out: JsonObject = {};
  if (field.listMapKeys !== undefined) out[`${extension}list-map-keys`] = [...field.listMapKeys];
  if (field.listType !== undefined) out[`${extension}list-type`] = field.listType;
  if (field.mapType !== undefined) out[`${extension}map-type`] = field.mapType;
  if (field.patchMergeKey !== undefined) out[`${extension}patch-merge-key`] = field.patchMergeKey;
  if (field.patchStrategy !== undefined) out[`${extension}patch-strategy`] = field.patchStrategy;
  return out;
}

function schemaOf(schema: Schema, writer: Writer): JsonObject {
  switch (schema.type) {
    case 'struct':
      return refer(openApiName(schema.name, writer.names), () => structSchema(schema, writer), writer);
    case 'list':
      return { type: 'array', items: partSchema(schema.element, writer) };
    case 'map':
      return { type: 'object', additionalProperties: partSchema(schema.value, writer) };
    case 'either':
      return refer(openApiName(schema.name, writer.names), () => descriptionOf(writer, schema.name), writer);
    case 'lazy':
      return schemaOf(resolve(schema), writer);
    default:
      return scalarSchema(schema, writer);
  }
}

function scalarSchema({ type, name }: ScalarSchema, writer: Writer): JsonObject {
  if (name !== undefined) {
    const make = () => ({ ...plainScalars[type], ...descriptionOf(writer, name) });
    return refer(openApiName(name, writer.names), make, writer);
  }
  const namedScalar = namedScalars[type];
  if (namedScalar === undefined) return { ...plainScalars[type] };
  return refer(`${writer.names.openApi}.${namedScalar.name}`, () => ({ ...namedScalar[writer.dialect] }), writer);
}

const plainScalars: { readonly [type in ScalarName]?: JsonObject } = {
  string: { type: 'string' },
  bool: { type: 'boolean' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  double: { type: 'number', format: 'double' },
  bytes: { type: 'string', format: 'byte' },
  // Some clients do not accept an empty schema.
  any: { description: 'Any value.' },
  object: { type: 'object' },
};

const META = 'apimachinery.pkg.apis.meta.v1';

/** Scalars with a named schema. */
const namedScalars: {
  readonly [type in ScalarName]?: { readonly name: string; readonly v2: JsonObject; readonly v3: JsonObject };
} = {
  time: sameInBothVersions(`${META}.Time`, {
    description: 'A time in RFC 3339, in UTC.',
    type: 'string',
    format: 'date-time',
  }),
  microTime: sameInBothVersions(`${META}.MicroTime`, {
    description: 'A time in RFC 3339, in UTC, with microseconds.',
    type: 'string',
    format: 'date-time',
  }),
  duration: sameInBothVersions(`${META}.Duration`, { description: 'A span of time such as 1m30s.', type: 'string' }),
  quantity: {
    name: 'apimachinery.pkg.api.resource.Quantity',
    v2: { description: 'An amount such as 500m or 1Gi.', type: 'string' },
    v3: { description: 'An amount such as 500m or 1Gi.', oneOf: [{ type: 'string' }, { type: 'number' }] },
  },
  object: sameInBothVersions('apimachinery.pkg.runtime.RawExtension', {
    description: 'An object of any kind.',
    type: 'object',
  }),
  intOrString: {
    name: 'apimachinery.pkg.util.intstr.IntOrString',
    v2: { description: 'A whole number or text.', type: 'string', format: 'int-or-string' },
    v3: {
      description: 'A whole number or text.',
      format: 'int-or-string',
      oneOf: [{ type: 'integer' }, { type: 'string' }],
    },
  },
};

function sameInBothVersions(name: string, schema: JsonObject): { name: string; v2: JsonObject; v3: JsonObject } {
  return { name, v2: schema, v3: schema };
}
