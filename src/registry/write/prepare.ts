import { stringifyJsonInSteps } from '../../codec/index.ts';
import { admittedManagedFields } from '../../merge/index.ts';
import {
  type ApiObject,
  allErrors,
  atOnce,
  formatGroupResource,
  type Steps,
  statusError,
  type WaitingSteps,
} from '../../meta/index.ts';
import { dropGated } from '../../schema/index.ts';
import { partialWriteOf, projectionOf, requestKind, strategyOf } from '../resource/target.ts';
import { isCorrupt, readObject, readObjectInSteps, unreadable } from '../stored/read.ts';
import { applyCandidate } from './candidate/apply.ts';
import { equalExcept, replaceContent, resetStatus, restoreStatus, setDefaults, withPart } from './candidate/content.ts';
import { createCandidate } from './candidate/create.ts';
import { deleteCandidate } from './candidate/delete.ts';
import {
  checkUid,
  checkVersion,
  dedupeOwnerReferences,
  defaultNamespace,
  mayRepeatOwners,
  storedMetadata,
} from './candidate/metadata.ts';
import { patchCandidate } from './candidate/patch.ts';
import { updateCandidate } from './candidate/update.ts';
import { checkSize } from './commit.ts';
import { trackManagedFields } from './managed-fields.ts';
import type { Attempt, Candidate, WriteRequest } from './write-request.ts';

/** Parses the current object. @throws StatusError 500 when it cannot be read */
export function readCurrentObject(attempt: Attempt): Steps<void> | undefined {
  const { current, request, turns } = attempt;
  if (current === undefined) return undefined;
  if (isCorrupt(current)) throw unreadable(current);
  if (turns !== undefined) return readCurrentInSteps(attempt);
  attempt.old = readObject(request.target.resource.format, current);
  return undefined;
}

function* readCurrentInSteps(attempt: Attempt): Steps<void> {
  const { current, request } = attempt;
  attempt.old = current && (yield* readObjectInSteps(request.target.resource.format, current));
}

/** Applies the change to the current object, before defaults, admission and validation. */
export function* makeCandidate(attempt: Attempt): WaitingSteps<void> {
  attempt.candidate = yield* candidateOf(attempt.request, attempt.old);
}

function candidateOf(request: WriteRequest, old: ApiObject | undefined): WaitingSteps<Candidate> {
  const { change } = request;
  switch (change.verb) {
    case 'create':
      return createCandidate(request, change);
    case 'update':
      return updateCandidate(request, change, old);
    case 'patch':
      return change.format === 'apply' ? applyCandidate(request, change, old) : patchCandidate(request, change, old);
    case 'delete':
      return deleteCandidate(request, old);
  }
}

export function defaultCandidate({ request, candidate: { object } }: Attempt): Steps<void> | undefined {
  const { target, change, context, options } = request;
  const defaults = setDefaults(target.resource, object, context);
  const dedupes = change.verb !== 'patch' && mayRepeatOwners(object);
  return dedupes ? inOrder(defaults, dedupeOwnerReferences(object, options, 'writer')) : defaults;
}

function* inOrder(first: Steps<void> | undefined, second: Steps<void>): Steps<void> {
  if (first !== undefined) yield* first;
  yield* second;
}

/** Rejects an object that is too large before its managed fields are computed, which takes longer than encoding it. */
export function checkCandidateSize({ request, candidate: { object } }: Attempt): Steps<void> | undefined {
  const { registry, size } = request;
  return size > registry.store.maxValueBytes ? checkEncodedSize(request, object) : undefined;
}

function* checkEncodedSize({ registry }: WriteRequest, object: ApiObject): Steps<void> {
  checkSize(registry, object, Buffer.byteLength(yield* stringifyJsonInSteps(object)));
}

export const updateManagers = ({ request, candidate, old }: Attempt): WaitingSteps<void> =>
  trackManagedFields(request, candidate, old);

/** Restores what mutating admission must not change, and completes what it has added. */
export function settleAdmission(attempt: Attempt): Steps<void> | undefined {
  const { request, candidate, mutated } = attempt;
  if (candidate.rewritten !== undefined || mayRepeatOwners(candidate.object)) return settleInSteps(attempt);
  // Plugins may have added fields that need defaults.
  return mutated ? setDefaults(request.target.resource, candidate.object, request.context) : undefined;
}

function* settleInSteps({ request, candidate, old, mutated }: Attempt): Steps<void> {
  const { target, context, options } = request;
  yield* restoreUnwritableFields(request, candidate, old);
  yield* dedupeOwnerReferences(candidate.object, options, 'admission');
  const defaults = mutated ? setDefaults(target.resource, candidate.object, context) : undefined;
  if (defaults !== undefined) yield* defaults;
}

const invalidManagers =
  '.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests';

/**
 * Undoes what mutating admission has written beyond the part of the object that the request writes.
 * @throws StatusError 400 for another namespace
 */
function* restoreUnwritableFields(
  { target, context, options }: WriteRequest,
  { object, rewritten }: Candidate,
  old: ApiObject | undefined,
): Steps<void> {
  if (rewritten === undefined) return;
  defaultNamespace(target, object.metadata);
  const admitted = yield* admittedManagedFields(object.metadata.managedFields, rewritten.managedFields);
  if (admitted === undefined) options.warn(invalidManagers);
  const { entries: managedFields } = admitted ?? { entries: rewritten.managedFields };
  object.metadata = storedMetadata(object.metadata, { managedFields });
  if (old === undefined) {
    resetStatus(target.resource, object);
    return;
  }
  const partial = partialWriteOf(target);
  if (partial === undefined) yield* restoreStatus(target.resource, object, old);
  else replaceContent(object, yield* withPart(partial, old, object, object.metadata, context));
}

/** Writes a projection that was sent into the object. @throws StatusError 409, 422 */
export function writeProjection({ request, candidate: { object, projection: sent } }: Attempt): undefined {
  const { target, context } = request;
  const projection = projectionOf(target);
  if (projection === undefined || sent === undefined) return;
  const errors = atOnce(allErrors(() => projection.validate(sent, context)));
  if (errors.length > 0) throw statusError.invalid(requestKind(target), target.name, errors);
  checkUid(request, sent.metadata, object);
  // Without a resourceVersion the projection is of the current object.
  if ((sent.metadata.resourceVersion ?? '') !== '') checkVersion(target, sent.metadata, object.metadata);
  projection.write(object, sent);
}

/** Runs the preparation of the kind, and increments the generation when the spec has changed. */
export const completeCandidate = ({ request, candidate, old }: Attempt): Steps<void> | undefined =>
  completeObject(request, candidate, old);

export function completeObject(
  request: WriteRequest,
  candidate: Candidate,
  old: ApiObject | undefined,
): Steps<void> | undefined {
  const { target, context } = request;
  const { gated } = target.resource.writeRules;
  const { object } = candidate;
  if (gated !== undefined) dropGated(object, old, gated);
  if (old !== undefined) return completeUpdate(request, candidate, old);
  strategyOf(target).prepareCreate?.(object, context);
  return undefined;
}

function* completeUpdate({ target, context }: WriteRequest, candidate: Candidate, old: ApiObject): Steps<void> {
  const strategy = strategyOf(target);
  const { object } = candidate;
  const partial = partialWriteOf(target);
  if (partial === undefined) strategy.prepareUpdate?.(object, old, context);
  else if (partial.type === 'status') strategy.prepareStatusUpdate?.(object, old, context);
  if (strategy.generation === true && !(yield* equalExcept(object, old, outsideSpec))) {
    object.metadata.generation = (old.metadata.generation ?? 0) + 1;
  }
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = object.metadata;
  candidate.remove =
    old.metadata.deletionTimestamp !== undefined &&
    deletionTimestamp !== undefined &&
    deletionGracePeriodSeconds === 0 &&
    finalizers.length === 0 &&
    strategy.termination?.pending(object) !== true;
}

const outsideSpec = ['kind', 'apiVersion', 'metadata', 'status'];

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
