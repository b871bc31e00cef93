import { type GroupVersionKind, type JsonObject, type Names, setKey } from '../meta/index.ts';
import { type Describe, openApiName, openApiSchemas, type StructSchema } from '../schema/index.ts';
import type { ServedResource, ServedVersion } from './api-groups.ts';
import type { FindType } from './built-in-types.ts';
import { customSchema, selectableFieldsOf } from './openapi-custom.ts';
import type { Dialect } from './openapi-operations.ts';
import { listTypeOf, metaTypes, subresourceType } from './openapi-paths.ts';

/** What schemas are made with. */
export interface SchemaWriter {
  readonly names: Names;
  readonly findType: FindType;
  /** Includes the enums of fields. */
  readonly enums: boolean;
  readonly describe: Describe;
  /** The kinds of a built-in type, by the name of the type. */
  readonly kinds: ReadonlyMap<string, readonly GroupVersionKind[]>;
}

/** Whether a type is in the document of a version. */
export function isKnown(writer: SchemaWriter, version: ServedVersion): (typeName: string) => boolean {
  const own = new Set(version.resources.map((served) => served.version.schema.name));
  return (name) => own.has(name) || writer.findType(name) !== undefined;
}

export function schemasOf(
  writer: SchemaWriter,
  version: ServedVersion,
  dialect: Dialect,
): { [name: string]: JsonObject } {
  const { names, findType, kinds } = writer;
  const roots = new Map<string, StructSchema>();
  const want = (schema: StructSchema | undefined) => {
    if (schema !== undefined) roots.set(schema.name, schema);
  };
  const custom = version.resources.filter((served) => served.version.openApi !== undefined);
  if (custom.length > 0) want(findType(metaTypes.objectMeta));
  for (const served of version.resources) {
    if (served.version.openApi === undefined) want(served.version.schema);
    for (const sub of served.resource.definition.subresources) want(findType(subresourceType(sub, version)));
  }
  for (const name of Object.values(metaTypes)) want(findType(name));
  const kindsOf = (schema: StructSchema) => kinds.get(schema.name) ?? [];
  const { enums, describe } = writer;
  const schemas = openApiSchemas(roots.values(), { names, dialect, kindsOf, enums, describe });
  const prefix = dialect === 'v2' ? '#/definitions/' : '#/components/schemas/';
  for (const served of custom) {
    setKey(schemas, openApiName(served.version.schema.name, names), customSchema(served, version, names, dialect));
  }
  for (const served of version.resources) {
    if (!served.resource.definition.verbs.includes('list')) continue;
    setKey(schemas, openApiName(listTypeOf(served), names), listSchema(served, version, writer, prefix));
  }
  for (const [name, schema] of Object.entries(freeSchemas)) schemas[openApiName(name, names)] ??= schema;
  return schemas;
}

/** Types without a declaration: they contain fields of the kind at hand. */
const freeSchemas: { readonly [type: string]: JsonObject } = {
  [metaTypes.patch]: { description: 'A change to an object.', type: 'object' },
  [metaTypes.watchEvent]: {
    description: 'One event of a watch.',
    type: 'object',
    required: ['type', 'object'],
    properties: { type: { type: 'string' }, object: { type: 'object' } },
  },
};

function listSchema(
  served: ServedResource,
  { group, version }: ServedVersion,
  { names, describe }: SchemaWriter,
  prefix: string,
): JsonObject {
  const { kind } = served.resource.definition;
  const listMeta = { $ref: prefix + openApiName(metaTypes.listMeta, names) };
  const text = (field: string) => ({ type: 'string', description: describe('meta/v1.TypeMeta', field) ?? '' });
  return {
    description: `A list of objects of the kind ${kind}.`,
    type: 'object',
    required: ['items'],
    properties: {
      apiVersion: text('apiVersion'),
      items: { type: 'array', items: { $ref: prefix + openApiName(served.version.schema.name, names) } },
      kind: text('kind'),
      metadata: listMeta,
    },
    [`${names.extension}group-version-kind`]: [{ group, kind: `${kind}List`, version }],
    ...selectableFieldsOf(served.resource.definition, names),
  };
}

export function kindsOf(versions: readonly ServedVersion[], findType: FindType): Map<string, GroupVersionKind[]> {
  const kinds = new Map<string, GroupVersionKind[]>();
  const put = (name: string, kind: GroupVersionKind) => {
    const all = kinds.get(name) ?? [];
    kinds.set(name, all);
    const same = all.some((k) => k.group === kind.group && k.version === kind.version && k.kind === kind.kind);
    if (!same) all.push(kind);
  };
  for (const served of versions) {
    const { group, version } = served;
    for (const { resource, version: declared } of served.resources) {
      const { definition } = resource;
      put(declared.schema.name, { group, version, kind: definition.kind });
      for (const sub of definition.subresources) {
        const name = subresourceType(sub, served);
        if (findType(name) === undefined) continue;
        put(name, { group: sub.group ?? group, version: sub.version ?? version, kind: sub.kind });
      }
    }
    put(metaTypes.deleteOptions, { group, version, kind: 'DeleteOptions' });
  }
  put(metaTypes.status, { group: '', version: 'v1', kind: 'Status' });
  return kinds;
}
