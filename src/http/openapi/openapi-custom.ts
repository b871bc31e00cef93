import { stringifyJsonInSteps } from '../../codec/index.ts';
import type { JsonObject, Names, Steps } from '../../meta/index.ts';
import { openApiName } from '../../schema/index.ts';
import type { ServedResource, ServedVersion } from '../documents/api-groups.ts';
import { hashOf } from '../documents/documents.ts';
import type { Dialect } from './openapi-operations.ts';
import { listTypeOf } from './openapi-paths.ts';
import { listSchema, type SchemaWriter, selectableFields } from './openapi-schemas.ts';

/** The names under which the schemas of a custom resource and of its lists are published. */
export const schemaNamesOf = (served: ServedResource, names: Names) => ({
  own: openApiName(served.version.schema.name, names),
  list: openApiName(listTypeOf(served), names),
});

/** The schemas of a custom resource, with its kind and selectable fields, and of its lists. */
export function* customSchemas(
  served: ServedResource,
  version: ServedVersion,
  writer: SchemaWriter,
  dialect: Dialect,
): Steps<[name: string, schema: JsonObject][]> {
  const { names } = writer;
  const { definition } = served.resource;
  const { own, list } = schemaNamesOf(served, names);
  const published = yield* publishedBy(served, dialect);
  const kind = { group: version.group, kind: definition.kind, version: version.version };
  const schema = {
    ...published,
    [`${names.extension}group-version-kind`]: [kind],
    ...selectableFields(definition, names),
  };
  return [
    [own, schema],
    [list, listSchema(served, version, writer, dialect)],
  ];
}

function* publishedBy({ version }: ServedResource, dialect: Dialect): Steps<JsonObject> {
  return version.openApi === undefined ? {} : yield* version.openApi(dialect);
}

/** The hash of what the documents of a custom resource are made from, in a release of the server. */
export function* resourceHash(served: ServedResource, release: string): Steps<string> {
  const { plural, kind, namespaced, verbs, subresources, selectableFields: fields } = served.resource.definition;
  const below = subresources.map((one) => [one.name, [...one.verbs]]);
  const selectable = fields.map(({ path }) => path);
  const schema = yield* publishedBy(served, 'v3');
  const text = yield* stringifyJsonInSteps([plural, kind, namespaced, [...verbs], below, selectable, schema]);
  yield;
  return hashOf([release, text]);
}
