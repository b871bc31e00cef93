import { type ApiObject, formatGroupResource, statusError } from '../../meta/index.ts';
import type { Allocations } from './allocator.ts';

import type { PendingObject, WriteRequest } from './write-request.ts';

/**
 * Allocates what the pending object needs; undefined for a kind that needs nothing, and without allocators.
 * @throws StatusError 422 when a value cannot be allocated
 */
export async function allocate(
  { registry, target, dryRun }: WriteRequest,
  { object, remove }: PendingObject,
  old: ApiObject | undefined,
): Promise<Allocations | undefined> {
  const { definition, id } = target.resource;
  const { allocate: allocateFor } = definition.strategy;
  if (allocateFor === undefined || registry.openAllocations === undefined) return undefined;
  const { namespace = '', name = '' } = object.metadata;
  const allocations = registry.openAllocations({ resource: formatGroupResource(id), namespace, name }, dryRun);
  const errors = await allocateFor(remove ? undefined : object, old, allocations.allocators);
  // Field errors are about the storage version, and so is the kind in the message.
  const kind = { group: definition.storage.group, kind: definition.kind };
  if (errors.length > 0) throw statusError.invalid(kind, name, errors);
  return allocations;
}
