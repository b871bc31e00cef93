import type { ObjectOf } from '../../schema/index.ts';
import type { CustomResourceDefinition } from '../../types/apiextensions-v1.ts';
import { defaultPort } from '../shared/webhook-client.ts';

export function defaultDefinition(definition: ObjectOf<typeof CustomResourceDefinition>): void {
  const { spec = {}, status } = definition;
  const { names } = spec;
  if (names?.kind) {
    names.singular ??= names.kind.toLowerCase();
    names.listKind ??= `${names.kind}List`;
  }
  spec.conversion ??= { strategy: 'None' };
  defaultPort(spec.conversion.webhook?.clientConfig?.service);
  if ((status?.storedVersions ?? []).length === 0) recordStoredVersion(definition);
}

/** Adds the storage version to `status.storedVersions`, which lists every version in which objects may be stored. */
export function recordStoredVersion(definition: ObjectOf<typeof CustomResourceDefinition>): void {
  const stored = definition.status?.storedVersions ?? [];
  const storedVersions = new Set(stored);
  const added = (definition.spec?.versions ?? [])
    .filter(({ storage, name = '' }) => storage === true && !storedVersions.has(name))
    .map(({ name = '' }) => name);
  if (added.length > 0) definition.status = { ...definition.status, storedVersions: [...stored, ...added] };
}
