import { createHash } from 'node:crypto';
import type { JsonObject, Names } from '../meta/index.ts';
import type { ResourceDefinition } from '../registry/index.ts';
import type { ServedResource, ServedVersion } from './api-groups.ts';
import type { Dialect } from './openapi-operations.ts';

/** The schema of a custom resource, with its kind and selectable fields. */
export function customSchema(
  { resource, version: { openApi } }: ServedResource,
  { group, version }: ServedVersion,
  names: Names,
  dialect: Dialect,
): JsonObject {
  const kind = { group, kind: resource.definition.kind, version };
  return {
    ...openApi?.(dialect),
    [`${names.extension}group-version-kind`]: [kind],
    ...selectableFieldsOf(resource.definition, names),
  };
}

/** The extension that names the selectable fields of a custom resource. */
export function selectableFieldsOf({ custom, selectableFields }: ResourceDefinition, names: Names): JsonObject {
  if (custom === undefined || selectableFields.length === 0) return {};
  return { [`${names.extension}selectable-fields`]: selectableFields.map(({ path }) => ({ fieldPath: path })) };
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
    const { plural, kind, namespaced, verbs, subresources, selectableFields } = served.resource.definition;
    const below = subresources.map((one) => [one.name, one.verbs]);
    const selectable = selectableFields.map(({ path }) => path);
    const schema = served.version.openApi?.('v3');
    hash.update(JSON.stringify([plural, kind, namespaced, verbs, below, selectable, schema]));
  }
  return hash.digest('hex').toUpperCase();
}
