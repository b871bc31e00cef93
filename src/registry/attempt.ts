import { runMutating, runValidating } from '../admission/index.ts';
import type { CachedObject } from '../cache/index.ts';
import { stringifyJson } from '../codec/index.ts';
import { type ApiObject, atOnce, type JsonObject, type Steps, statusError } from '../meta/index.ts';
import { maxValueBytes, StoreError } from '../store/index.ts';
import { allocate } from './allocate.ts';
import { isCorrupt, readObject, unreadable } from './bytes.ts';
import { checkSize, commit, type Outcome, resultOf } from './commit.ts';
import { partialWriteOf } from './convert.ts';
import { reconcileValidation } from './declarative-validation.ts';
import { isUnchanged, trackManagedFields } from './field-management.ts';
import { findErrors } from './find-errors.ts';
import { dedupeOwnerReferences } from './owner-references.ts';
import {
  completePendingObject,
  completeProjection,
  preparePendingObject,
  rejectPresetResourceVersion,
} from './prepare.ts';
import { admissionRequest } from './read-request.ts';
import { inTurns, type Pause } from './turns.ts';
import { nameOf, type PendingObject, type Undo, type WriteRequest } from './write-request.ts';

/** Undoes what admission wrote on the side, unless the object was stored or, as far as anyone knows, may have been. */
export async function attemptWrite(
  request: WriteRequest,
  held: CachedObject | undefined,
  pause: Pause,
): Promise<Outcome> {
  const undo: Undo[] = [];
  let stored = false;
  try {
    const outcome = await attempt(request, held, undo, pause);
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
  pause: Pause,
): Promise<Outcome> {
  const { registry, target, change, context } = request;
  const { definition } = target.resource;
  const { strategy } = definition;
  if (held !== undefined && isCorrupt(held)) throw unreadable(held);
  if (pause) await pause();
  const old = held === undefined ? undefined : readObject(held);
  const deletes = change.verb === 'delete';
  if (pause) await pause();
  const drafting = preparePending(request, old);
  const pending = pause ? await inTurns(drafting, pause) : atOnce(drafting);
  if (pause) await pause();
  const attributes = admissionRequest(request, pending, old, undo);
  // A name that was made up is not known before the object is complete.
  const mutated = await runMutating(registry.admission, pending.generated ? { ...attributes, name: '' } : attributes);
  if (!deletes) dedupeOwnerReferences(pending, request.options, 'admission');
  // What plugins change may call for other defaults.
  if (mutated) strategy.defaults?.(pending.object, context);
  if (pause) await pause();
  completeProjection(request, pending);
  completePendingObject(request, pending, old);
  if (pause) await pause();
  const claims =
    pending.remove || (!deletes && partialWriteOf(target) === undefined)
      ? await allocate(request, pending, old)
      : undefined;
  if (!deletes) {
    const judging = findErrors(request, pending.object, old);
    const found = pause ? await inTurns(judging, pause) : atOnce(judging);
    const errors = reconcileValidation(request, pending.object, found);
    // Findings speak of the stored form, and so does the kind that they name.
    const kind = { group: definition.storage.group, kind: definition.kind };
    if (errors.length > 0) throw statusError.invalid(kind, nameOf(pending), errors);
    if (pause) await pause();
    for (const text of adviceOn(request, pending, old)) request.options.warnings.add(text);
    if (pause) await pause();
  }
  if (old === undefined && change.verb !== 'create') await request.options.permitCreate?.();
  await runValidating(registry.admission, attributes);
  // A rehearsal asks only whether the place is taken, as recorded.
  if (old === undefined && !request.dryRun) rejectPresetResourceVersion(pending);
  if (held !== undefined && old !== undefined && !pending.remove && isUnchanged(pending.object, old)) {
    return { kind: 'unchanged', result: resultOf(request, pending, old, held) };
  }
  if (pause) await pause();
  return commit(request, pending, old, held, claims, pause);
}

/** The object that is to be, with its defaults and with who owns what of it. */
function* preparePending(request: WriteRequest, old: ApiObject | undefined): Steps<PendingObject> {
  const { change, target, context, size, options } = request;
  const pending = yield* preparePendingObject(request, old);
  if (change.verb === 'delete') return pending;
  yield;
  target.resource.definition.strategy.defaults?.(pending.object, context);
  if (change.verb !== 'patch') dedupeOwnerReferences(pending, options, 'writer');
  yield;
  // What is too large to be stored is refused before the work that takes longer than its text.
  if (size > maxValueBytes) {
    checkSize(pending.object, Buffer.byteLength(stringifyJson(pending.object as JsonObject)));
    yield;
  }
  yield* trackManagedFields(request, pending, old);
  return pending;
}

function adviceOn(
  { target, context }: WriteRequest,
  { object }: PendingObject,
  old: ApiObject | undefined,
): readonly string[] {
  const { kind, notYet, strategy } = target.resource.definition;
  const partial = partialWriteOf(target);
  if (partial !== undefined) return partial.type === 'status' ? (strategy.statusWarnings?.(object, context) ?? []) : [];
  const warnings = strategy.warnings?.(object, old, context) ?? [];
  return notYet === undefined ? warnings : [...warnings, `${kind}: ${notYet}`];
}
