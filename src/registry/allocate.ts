import { type ApiObject, formatGroupResource, statusError } from '../meta/index.ts';
import type { Allocations } from './definition.ts';
import type { PendingObject, WriteRequest } from './write-request.ts';

/**
 * Lets the kind claim what the draft needs. Undefined when it needs nothing, or when the server has no pools.
 * @throws StatusError 422 for what cannot be had
 */
export async function allocate(
  { registry, target, dryRun }: WriteRequest,
  { object, remove }: PendingObject,
  old: ApiObject | undefined,
): Promise<Allocations | undefined> {
  const { definition, id } = target.resource;
  const { allocate: claimFor } = definition.strategy;
  if (claimFor === undefined || registry.openAllocations === undefined) return undefined;
  const { namespace = '', name = '' } = object.metadata;
  const claims = registry.openAllocations({ resource: formatGroupResource(id), namespace, name }, dryRun);
  const errors = await claimFor(remove ? undefined : object, old, claims.allocators);
  // Findings speak of the stored form, and so does the kind that they name.
  const kind = { group: definition.storage.group, kind: definition.kind };
  if (errors.length > 0) throw statusError.invalid(kind, name, errors);
  return claims;
}
