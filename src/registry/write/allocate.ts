import { formatGroupResource, statusError } from '../../meta/index.ts';
import { partialWriteOf } from '../resource/target.ts';
import type { Attempt } from './attempt.ts';

/**
 * Allocates the values that the candidate needs; nothing for a kind that needs none, and without allocators.
 * @throws StatusError 422 when a value cannot be allocated
 */
export function allocateValues(attempt: Attempt): Promise<void> | undefined {
  const { request, candidate, old } = attempt;
  const { registry, target, change, dryRun } = request;
  const { definition, id } = target.resource;
  const isWhole = candidate.remove || (change.verb !== 'delete' && partialWriteOf(target) === undefined);
  const { allocate } = definition.strategy;
  if (!isWhole || allocate === undefined || registry.openAllocations === undefined) return undefined;
  const { namespace = '', name = '' } = candidate.object.metadata;
  const allocations = registry.openAllocations({ resource: formatGroupResource(id), namespace, name }, dryRun);
  attempt.allocations = allocations;
  const object = candidate.remove ? undefined : candidate.object;
  return allocate(object, old, allocations.allocators).then((errors) => {
    // Field errors are about the storage version, and so is the kind in the message.
    const kind = { group: definition.storage.group, kind: definition.kind };
    if (errors.length > 0) throw statusError.invalid(kind, name, errors);
  });
}
