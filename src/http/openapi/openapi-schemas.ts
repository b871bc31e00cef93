import { type GroupVersionKind, type JsonObject, type Names, type Steps, setKey } from '../../meta/index.ts';
import { listKindOf, type ResourceDefinition, type Subresource } from '../../registry/index.ts';
import { type Describe, openApiName, openApiSchemasInSteps, type StructSchema } from '../../schema/index.ts';
import type { ServedResource, ServedVersion } from '../documents/api-groups.ts';
import type { FindType } from './built-in-types.ts';
import type { Dialect } from './openapi-operations.ts';
import { listTypeOf, metaTypes, subresourceType } from './openapi-paths.ts';

/** The dependencies of schemas. */
export interface SchemaWriter {
  readonly names: Names;
  readonly findType: FindType;
  /** Includes the enums of fields. */
  readonly enums: boolean;
  readonly describe: Describe;
  /** The kinds of a built-in type, by the name of the type. */
  readonly kinds: ReadonlyMap<string, readonly GroupVersionKind[]>;
}

type Schemas = { [name: string]: JsonObject };

/** The schemas that every document has, those of these types, and those of all kinds and lists of built-in versions. */
export function* declaredSchemas(
  writer: SchemaWriter,
  versions: readonly ServedVersion[],
  types: readonly string[],
  dialect: Dialect,
): Steps<Schemas> {
  const { names, findType, kinds, enums, describe } = writer;
  const named = [...Object.values(metaTypes), ...types, ...versions.flatMap((one) => subresourceTypes(writer, one))];
  const served = versions.flatMap(({ resources }) => resources.map(({ version }) => version.schema));
  const roots = [...named.flatMap((name) => findType(name) ?? []), ...served];
  const kindsOf = (schema: StructSchema) => kinds.get(schema.name) ?? [];
  const schemas = yield* openApiSchemasInSteps(new Set(roots), { names, dialect, kindsOf, enums, describe });
  for (const version of versions) {
    for (const served of version.resources) {
      if (!served.resource.definition.verbs.includes('list')) continue;
      setKey(schemas, openApiName(listTypeOf(served), names), listSchema(served, version, writer, dialect));
    }
  }
  for (const [name, schema] of Object.entries(freeSchemas)) schemas[openApiName(name, names)] ??= schema;
  return schemas;
}

/** The built-in types of the subresources of a version. */
export function subresourceTypes({ findType }: SchemaWriter, version: ServedVersion): string[] {
  const names = version.resources.flatMap(({ resource }) =>
    resource.definition.subresources.filter(hasObjects).map((sub) => subresourceType(sub, version)),
  );
  return [...new Set(names)].filter((name) => findType(name) !== undefined).sort();
}

/** Whether it has objects: the options of a connection are query parameters. */
const hasObjects = ({ type }: Subresource) => type !== 'connect';

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

export function listSchema(
  served: ServedResource,
  { group, version }: ServedVersion,
  { names, describe }: SchemaWriter,
  dialect: Dialect,
): JsonObject {
  const { definition } = served.resource;
  const prefix = dialect === 'v2' ? '#/definitions/' : '#/components/schemas/';
  // In version 3 a built-in type has the zero values of its fields as defaults.
  const part = (name: string) => {
    const $ref = prefix + openApiName(name, names);
    return dialect === 'v2' || definition.custom !== undefined ? { $ref } : { default: {}, allOf: [{ $ref }] };
  };
  const text = (field: string) => ({ type: 'string', description: describe('meta/v1.TypeMeta', field) ?? '' });
  return {
    description: `A list of objects of the kind ${definition.kind}.`,
    type: 'object',
    required: ['items'],
    properties: {
      apiVersion: text('apiVersion'),
      items: { type: 'array', items: part(served.version.schema.name) },
      kind: text('kind'),
      metadata: part(metaTypes.listMeta),
    },
    [`${names.extension}group-version-kind`]: [{ group, kind: listKindOf(definition), version }],
    ...selectableFields(definition, names),
  };
}

/** The extension that names the selectable fields of a custom resource. */
export function selectableFields({ custom, selectableFields: fields }: ResourceDefinition, names: Names): JsonObject {
  if (custom === undefined || fields.length === 0) return {};
  return { [`${names.extension}selectable-fields`]: fields.map(({ path }) => ({ fieldPath: path })) };
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
      for (const sub of definition.subresources.filter(hasObjects)) {
        const name = subresourceType(sub, served);
        if (findType(name) === undefined) continue;
        put(name, { group: sub.group ?? group, version: sub.version ?? version, kind: sub.kind });
      }
    }
    put(metaTypes.deleteOptions, { group, version, kind: 'DeleteOptions' });
  }
  put(metaTypes.resourceList, { group: '', version: 'v1', kind: 'APIResourceList' });
  put(metaTypes.status, { group: '', version: 'v1', kind: 'Status' });
  return kinds;
}
