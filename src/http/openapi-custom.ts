import { createHash } from 'node:crypto';
import { isJsonObject, type JsonObject, type Names } from '../meta/index.ts';
import { openApiName } from '../schema/index.ts';
import type { ServedResource, ServedVersion } from './api-groups.ts';
import type { Dialect } from './openapi-operations.ts';
import { metaTypes } from './openapi-paths.ts';

/** The schema of a custom resource, with its kind and the types of the fields that all objects have. */
export function customSchema(
  { resource, version: { openApi } }: ServedResource,
  { group, version }: ServedVersion,
  names: Names,
  dialect: Dialect,
): JsonObject {
  const given = openApi?.(dialect) ?? {};
  const properties = isJsonObject(given['properties']) ? given['properties'] : {};
  const prefix = dialect === 'v2' ? '#/definitions/' : '#/components/schemas/';
  const meta = { $ref: prefix + openApiName(metaTypes.objectMeta, names) };
  const description = 'Name, labels and other metadata of the object.';
  return {
    type: 'object',
    ...given,
    properties: {
      ...properties,
      apiVersion: { type: 'string', description: 'Group and version of the object.' },
      kind: { type: 'string', description: 'Name of the kind of the object.' },
      metadata: dialect === 'v2' ? { ...meta, description } : { allOf: [meta], description },
    },
    [`${names.extension}group-version-kind`]: [{ group, kind: resource.definition.kind, version }],
  };
}

/**
 * The hash of what the document of a version of custom resources is made from, which is less work than the document.
 * It is the same on every server of the same release.
 */
export function contentHash(
  { group, version, resources }: ServedVersion,
  { version: release }: { readonly version: JsonObject },
): string {
  const hash = createHash('sha512').update(JSON.stringify([release['gitVersion'], group, version]));
  for (const served of resources) {
    const { plural, kind, namespaced, verbs, subresources } = served.resource.definition;
    const below = subresources.map((one) => [one.name, one.verbs]);
    hash.update(JSON.stringify([plural, kind, namespaced, verbs, below, served.version.openApi?.('v3')]));
  }
  return hash.digest('hex').toUpperCase();
}
