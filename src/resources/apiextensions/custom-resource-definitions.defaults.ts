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

/**
 * Adds the storage version to `status.storedVersions`, which lists every version in which objects may be stored. Where
 * several versions claim to be it, the first one counts; validation then reports the others.
 */
export function recordStoredVersion(definition: ObjectOf<typeof CustomResourceDefinition>): void {
  const stored = definition.status?.storedVersions ?? [];
  const { name = '' } = definition.spec?.versions?.find(({ storage }) => storage === true) ?? {};
  if (name === '' || stored.includes(name)) return;
  definition.status = { ...definition.status, storedVersions: [...stored, name] };
}
