import { runMutating, runValidating } from '../../admission/index.ts';
import type { CachedObject } from '../../cache/index.ts';
import { stringifyJsonInSteps } from '../../codec/index.ts';
import {
  type ApiObject,
  accessDenied,
  atOnce,
  type CheckedWrite,
  inTurns,
  Stage,
  type Steps,
  serverTurns,
  statusError,
  type Turns,
  type WriteCheck,
} from '../../meta/index.ts';
import { StoreError } from '../../store/index.ts';
import { partialWriteOf } from '../resource/convert.ts';
import { wouldStore } from '../stored/convert.ts';
import { isCanonical } from '../stored/describe.ts';
import { isCorrupt, readObject, readObjectInSteps, unreadable } from '../stored/read.ts';
import { allocate } from './allocate.ts';
import { checkSize, commit, type Outcome, resultOf } from './commit.ts';
import { reconcileValidation } from './declarative-validation.ts';
import { setDefaults } from './defaults.ts';
import { isUnchanged, trackManagedFields } from './field-management.ts';
import { findErrors } from './find-errors.ts';
import { dedupeOwnerReferences } from './owner-references.ts';
import {
  completePendingObject,
  completeProjection,
  keepToPart,
  preparePendingObject,
  rejectPresetResourceVersion,
} from './prepare.ts';
import { admissionRequest } from './read-request.ts';
import { nameOf, type PendingObject, type Undo, type WriteRequest } from './write-request.ts';

/** One attempt of a write. Undoes the side effects of admission unless the object was, or may have been, stored. */
export async function attemptWrite(
  request: WriteRequest,
  held: CachedObject | undefined,
  turns: Turns | undefined,
): Promise<Outcome> {
  const undo: Undo[] = [];
  let stored = false;
  try {
    const outcome = await attempt(request, held, undo, turns);
    stored = outcome.kind === 'stored' && !request.dryRun;
    return outcome;
  } catch (error) {
    stored = error instanceof StoreError && error.code === 'uncertain';
    throw error;
  } finally {
    if (!stored) for (const step of undo) await step();
  }
}

async function attempt(
  request: WriteRequest,
  held: CachedObject | undefined,
  undo: Undo[],
  turns: Turns | undefined,
): Promise<Outcome> {
  const { registry, target, change } = request;
  const { stages } = request.options;
  stages?.enter(Stage.preparation);
  const { strategy } = target.resource.definition;
  if (held !== undefined && isCorrupt(held)) throw unreadable(held);
  if (turns?.over) await turns.next();
  const { format } = target.resource;
  const run = <T>(steps: Steps<T>) => (turns ? inTurns(steps, turns) : atOnce(steps));
  const old = held && (turns ? await run(readObjectInSteps(format, held)) : readObject(format, held));
  const deletes = change.verb === 'delete';
  if (turns?.over) await turns.next();
  const pending = await run(preparePending(request, old));
  if (turns?.over) await turns.next();
  const attributes = admissionRequest(request, pending, old, undo);
  stages?.enter(Stage.mutatingAdmission);
  // A generated name is not shown to mutating admission.
  const mutated = await runMutating(registry.admission, pending.generated ? { ...attributes, name: '' } : attributes);
  stages?.enter(Stage.validation);
  pending.admitted = true;
  await run(settleAdmitted(request, pending, old, mutated));
  const check = deletes ? undefined : writeCheckOf(request);
  if (check !== undefined) await check(checkedWrite(request, pending, old));
  if (turns?.over) await turns.next();
  completeProjection(request, pending);
  await run(completePendingObject(request, pending, old));
  if (turns?.over) await turns.next();
  const isWhole = pending.remove || (!deletes && partialWriteOf(target) === undefined);
  const allocates = isWhole && strategy.allocate !== undefined;
  const allocations = allocates ? await allocate(request, pending, old) : undefined;
  if (!deletes) {
    await validate(request, pending, old, turns);
    if (turns?.over) await turns.next();
    for (const text of warningsFor(request, pending, old)) request.options.warnings.add(text);
    if (turns?.over) await turns.next();
  }
  if (old === undefined && change.verb !== 'create') await authorizeCreate(request);
  stages?.enter(Stage.validatingAdmission);
  await runValidating(registry.admission, attributes);
  stages?.enter(Stage.store);
  // A dry run does not check it, as the reference server does not.
  if (old === undefined && !request.dryRun) rejectPresetResourceVersion(pending);
  if (held !== undefined && old !== undefined && !pending.remove) {
    const unchanged = await run(isUnchanged(pending.object, old));
    const rewrites =
      unchanged && !request.dryRun && (await isStoredOtherwise(request, pending.object, { old, held, turns }));
    if (unchanged && !rewrites)
      return { kind: 'unchanged', result: resultOf(request, pending, old, held), revision: held.revision };
  }
  if (turns?.over) await turns.next();
  return commit(request, pending, old, held, allocations, turns);
}

/** @throws StatusError 422 */
async function validate(
  request: WriteRequest,
  pending: PendingObject,
  old: ApiObject | undefined,
  turns: Turns | undefined,
): Promise<void> {
  const { registry, target, context } = request;
  const { storage, kind, strategy } = target.resource.definition;
  const { object } = pending;
  const validating = findErrors(request, object, old);
  const first = turns ? await inTurns(validating, turns) : atOnce(validating);
  const part = partialWriteOf(target)?.type === 'status' ? 'status' : 'whole';
  const lengthy = strategy.validateInSteps?.(object, old, context, { found: first, part });
  const found =
    lengthy === undefined
      ? first
      : [...first, ...(await inTurns(lengthy, turns ?? request.options.turns ?? serverTurns()))];
  let errors = reconcileValidation(request, object, found);
  const check = target.subresource === '' ? registry.referenceChecks.get(target.resource) : undefined;
  if (check !== undefined && errors.length === 0) errors = await check(checkedWrite(request, pending, old));
  // Field errors are about the storage version, and so is the kind in the message.
  if (errors.length > 0) throw statusError.invalid({ group: storage.group, kind }, nameOf(pending), errors);
}

/**
 * Whether the write of an unchanged object brings it to the form in which it would be stored now: in the storage version
 * of the custom resource, with the present key, as this server encodes it.
 */
async function isStoredOtherwise(
  { registry, target }: WriteRequest,
  object: ApiObject,
  { old, held, turns }: { readonly old: ApiObject; readonly held: CachedObject; readonly turns: Turns | undefined },
): Promise<boolean> {
  const { format } = target.resource;
  if (format.custom === undefined) {
    const comparing = isCanonical(format, old, held);
    if (!(turns ? await inTurns(comparing, turns) : atOnce(comparing))) return true;
    if (registry.store.encrypts !== true) return false;
  }
  const { entry } = await registry.store.get(held.key);
  return entry?.revision === held.revision && !(await wouldStore(format, object, entry, turns));
}

const writeCheckOf = ({ registry, target }: WriteRequest): WriteCheck | undefined =>
  target.subresource === '' ? registry.writeChecks.get(target.resource) : undefined;

/** A generated name is not shown. */
const checkedWrite = (
  { target, options: { requester } }: WriteRequest,
  { object, generated }: PendingObject,
  oldObject: ApiObject | undefined,
): CheckedWrite => ({
  requester,
  namespace: target.namespace,
  requestName: target.name,
  object: generated ? { ...object, metadata: { ...object.metadata, name: '' } } : object,
  oldObject,
});

/** @throws StatusError 403 when the requester may not create the object that its update or patch would make */
async function authorizeCreate({ registry, options: { requester: user, attributes } }: WriteRequest): Promise<void> {
  if (attributes === undefined) return;
  const verb = 'create';
  const { allowed, reason } = await registry.authorize(user, { ...attributes, verb });
  if (!allowed) throw accessDenied({ user, verb, resource: attributes, path: '' }, reason);
}

/** Takes back what admission may not change, and completes what it has added. */
function* settleAdmitted(
  request: WriteRequest,
  pending: PendingObject,
  old: ApiObject | undefined,
  mutated: boolean,
): Steps<void> {
  yield* keepToPart(request, pending, old);
  if (request.change.verb === 'delete') return;
  yield* dedupeOwnerReferences(pending, request.options, 'admission');
  // Plugins may have added what needs defaults.
  if (mutated) yield* setDefaults(request.target.resource, pending.object, request.context);
}

/** The pending object before admission, with its defaults and managed fields. */
function* preparePending(request: WriteRequest, old: ApiObject | undefined): Steps<PendingObject> {
  const { registry, change, target, context, size, options } = request;
  const pending = yield* preparePendingObject(request, old);
  if (change.verb === 'delete') return pending;
  yield;
  yield* setDefaults(target.resource, pending.object, context);
  if (change.verb !== 'patch') yield* dedupeOwnerReferences(pending, options, 'writer');
  yield;
  // An object that is too large is refused before managed fields are computed, which takes longer than its encoding.
  if (size > registry.store.maxValueBytes) {
    checkSize(registry, pending.object, Buffer.byteLength(yield* stringifyJsonInSteps(pending.object)));
    yield;
  }
  yield* trackManagedFields(request, pending, old);
  return pending;
}

function warningsFor(
  { target, context }: WriteRequest,
  { object }: PendingObject,
  old: ApiObject | undefined,
): readonly string[] {
  const { kind, unimplemented, strategy } = target.resource.definition;
  const partial = partialWriteOf(target);
  if (partial !== undefined) return partial.type === 'status' ? (strategy.statusWarnings?.(object, context) ?? []) : [];
  const warnings = strategy.warnings?.(object, old, context) ?? [];
  return unimplemented === undefined ? warnings : [...warnings, `${kind}: ${unimplemented}`];
}
