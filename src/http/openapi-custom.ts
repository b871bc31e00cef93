import { createHash } from 'node:crypto';
import type { JsonObject, Names } from '../meta/index.ts';
import type { ServedResource, ServedVersion } from './api-groups.ts';
import type { Dialect } from './openapi-operations.ts';

/** The schema of a custom resource, with its kind. */
export function customSchema(
  { resource, version: { openApi } }: ServedResource,
  { group, version }: ServedVersion,
  names: Names,
  dialect: Dialect,
): JsonObject {
  const kind = { group, kind: resource.definition.kind, version };
  return { ...openApi?.(dialect), [`${names.extension}group-version-kind`]: [kind] };
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
