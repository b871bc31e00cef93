import type { CachedObject } from '../../cache/index.ts';
import { type ApiObject, atOnce, formatGroupResource, inTurns, StatusError, type Steps } from '../../meta/index.ts';
import type { CommitResult, Write } from '../../store/index.ts';
import type { RegistryContext } from '../context.ts';
import { keyOf, objectKey } from '../resource/target.ts';
import { inStoredVersion, wouldStore } from '../stored/convert.ts';
import {
  describeAsRead,
  describeDeleted,
  describeInSteps,
  describeObject,
  isCanonical,
  toCachedObject,
} from '../stored/describe.ts';
import { storedText, storedTextInSteps, withPendingCommit } from '../stored/write.ts';
import type { WriteResult } from '../types.ts';
import { catchUp, comparesOf } from './admit.ts';
import { rejectPresetVersion } from './candidate/metadata.ts';
import { isUnchanged } from './managed-fields.ts';
import { type Attempt, nameOf, type Outcome } from './write-request.ts';

/** Runs the steps in the turns of the attempt, or at once where it has none. */
const run = <T>({ turns }: Attempt, steps: Steps<T>): T | Promise<T> =>
  turns === undefined ? atOnce(steps) : inTurns(steps, turns);

/** Compares the candidate with the current object. @throws StatusError 500 for a new object with a resourceVersion */
export function compareWithStored(attempt: Attempt): Steps<void> | undefined {
  const { request, candidate, old } = attempt;
  // A dry run does not check it, as in the reference server.
  if (old === undefined && !request.dryRun) rejectPresetVersion(candidate.object);
  return old === undefined || candidate.remove ? undefined : compareWith(attempt, old);
}

function* compareWith(attempt: Attempt, old: ApiObject): Steps<void> {
  attempt.unchanged = yield* isUnchanged(attempt.candidate.object, old);
}

/** Ends an attempt that changes nothing. */
export function skipUnchanged(attempt: Attempt): Promise<void> | undefined {
  const { request, current } = attempt;
  if (!attempt.unchanged || current === undefined) return undefined;
  if (!request.dryRun) return skipUnlessRewritten(attempt, current);
  endUnchanged(attempt, current);
  return undefined;
}

/** An unchanged object is stored all the same where that changes its stored form. */
async function skipUnlessRewritten(attempt: Attempt, current: CachedObject): Promise<void> {
  if (!(await rewritesStoredForm(attempt, current))) endUnchanged(attempt, current);
}

function endUnchanged(attempt: Attempt, current: CachedObject): void {
  attempt.outcome = { kind: 'unchanged', result: resultOf(attempt, current), revision: current.revision };
}

/**
 * Whether the write of an unchanged object brings it to the form in which it would be stored now: in the storage version
 * of the custom resource, with the present key, as this server encodes it.
 */
async function rewritesStoredForm(attempt: Attempt, current: CachedObject): Promise<boolean> {
  const { request, candidate, old, turns } = attempt;
  const { registry, target } = request;
  const { format } = target.resource;
  if (format.custom === undefined) {
    if (!(await run(attempt, isCanonical(format, old as ApiObject, current)))) return true;
    if (registry.store.encrypts !== true) return false;
  }
  const { entry } = await registry.store.get(current.key);
  return entry?.revision === current.revision && !(await wouldStore(format, candidate.object, entry, turns));
}

/** Commits the candidate or its removal, unless another writer was first. @throws StatusError 413 */
export async function commit(attempt: Attempt): Promise<void> {
  const { request, candidate, current, allocations, turns } = attempt;
  const { registry, target, dryRun } = request;
  const { format } = target.resource;
  const key = current?.key ?? objectKey(target.resource, { namespace: target.namespace, name: nameOf(candidate) });
  const revision = current?.revision ?? 0;
  const converts = format.custom?.webhook !== undefined && !candidate.remove;
  const object = converts ? await inStoredVersion(format, candidate.object) : candidate.object;
  let text = '';
  if (!candidate.remove && turns === undefined) text = storedText(format, object);
  else if (!candidate.remove) text = await run(attempt, storedTextInSteps(format, object));
  if (turns?.over) await turns.next();
  const { ttlSeconds: ttl } = target.resource.definition.strategy;
  const value = candidate.remove ? undefined : Buffer.from(text);
  if (value !== undefined) checkSize(registry, candidate.object, value.length);
  const write = value === undefined ? { key } : ttl === undefined ? { key, value } : { key, value, ttl };
  const { compares, writes } = allocations?.changes() ?? { compares: [], writes: [] };
  const cascaded = candidate.remove ? cascadeDeletes(attempt) : [];
  const guards = [{ key, revision }, ...comparesOf(candidate), ...compares];
  const commitWrites = () => registry.store.commit(guards, [write, ...writes, ...cascaded]);
  const answer = await (dryRun
    ? dryRunCommit(registry, key, revision)
    : candidate.remove
      ? commitWrites()
      : withPendingCommit(format, key, candidate.object, text, commitWrites));
  if (!answer.ok) {
    attempt.outcome = await rejectedOutcome(attempt, revision, answer);
    return;
  }
  const outcome = storedOutcome(attempt, { key, revision, value, text, object }, answer.revision);
  attempt.outcome = outcome instanceof Promise ? await outcome : outcome;
}

async function rejectedOutcome(
  attempt: Attempt,
  revision: number,
  answer: CommitResult & { readonly ok: false },
): Promise<Outcome> {
  const { request, candidate, allocations } = attempt;
  const [entry] = answer.found;
  if ((entry?.revision ?? 0) !== revision) {
    const { format } = request.target.resource;
    const current = entry && (await run(attempt, describeInSteps(format, entry)));
    return { kind: 'conflict', candidate, current };
  }
  await catchUp(candidate, answer.revision);
  await allocations?.catchUp(answer.revision);
  return { kind: 'outdated', candidate };
}

/** The object and the text of a commit. */
interface Committed {
  readonly key: string;
  /** The revision before. */
  readonly revision: number;
  /** Undefined for a removal. */
  readonly value: Buffer | undefined;
  readonly text: string;
  /** The object as it is stored. */
  readonly object: ApiObject;
}

function storedOutcome(attempt: Attempt, committed: Committed, at: number): Outcome | Promise<Outcome> {
  const { request, candidate } = attempt;
  const { target, dryRun } = request;
  const { key, text } = committed;
  if (!dryRun) {
    const { managedFields } = candidate.object.metadata;
    const { shared } = target.resource.format;
    shared.managedFields.remember(key, candidate.remove ? undefined : managedFields, text.length);
  }
  const cached =
    dryRun || candidate.remove || candidate.deleteAfterMark ? undefined : target.resource.storage.cache.get(key);
  // The watch of the cache has mostly delivered the commit by now.
  if (cached?.revision === at) return { kind: 'stored', result: resultOf(attempt, cached), revision: at };
  return describedOutcome(attempt, committed, dryRun ? committed.revision : at);
}

/** The outcome of a commit that the cache does not have, as `stored`: the revision of the object. */
async function describedOutcome(
  attempt: Attempt,
  { key, revision, value, text, object }: Committed,
  stored: number,
): Promise<Outcome> {
  const { request, candidate, current } = attempt;
  const { target, dryRun, change } = request;
  const { format } = target.resource;
  const described = (at: number) => run(attempt, describeObject(format, key, candidate.object, at));
  const describedAsRead = () => run(attempt, describeAsRead(format, key, candidate.object, stored, text));
  // An object that a webhook has converted is cached as it is stored.
  const describeStored = () =>
    value === undefined || stored === 0 || object === candidate.object
      ? describedAsRead()
      : toCachedObject(format, { key, value, revision: stored });
  if (candidate.deleteAfterMark === true && !dryRun) return deleteMarked(attempt, await describeStored());
  if (candidate.remove) {
    const last = change.verb === 'delete' && current !== undefined ? current : await described(revision);
    const removed = dryRun ? last : describeDeleted(format, last, stored);
    return { kind: 'stored', result: resultOf(attempt, removed), revision: stored };
  }
  return { kind: 'stored', result: resultOf(attempt, await describeStored()), revision: stored };
}

/** Maximum size in bytes that a deletion adds to an object: other writes leave room for it. */
const deletionRoom = 16 * 1024;

/** @throws StatusError 413 when an object of `size` bytes is too large for the store */
export function checkSize({ store }: RegistryContext, { metadata }: ApiObject, size: number): void {
  const limit = metadata.deletionTimestamp === undefined ? store.maxValueBytes - deletionRoom : store.maxValueBytes;
  if (size <= limit) return;
  const why = `Request entity too large: the object takes ${size} bytes, limit is ${limit}`;
  throw new StatusError(413, 'RequestEntityTooLarge', why);
}

/** Deletes of the objects that are deleted along with the candidate, where they exist. */
function cascadeDeletes({ request, candidate }: Attempt): Write[] {
  const { registry, target } = request;
  const { cascadeDelete } = target.resource.definition.strategy;
  if (cascadeDelete === undefined) return [];
  const place = { namespace: target.namespace, name: nameOf(candidate) };
  return registry.catalog.resources.flatMap((resource) => {
    const key = cascadeDelete.includes(formatGroupResource(resource.id)) ? keyOf(resource, place) : undefined;
    return key === undefined ? [] : { key };
  });
}

/** Removes an object that has just been marked as deleted: watches have seen the update. */
async function deleteMarked(attempt: Attempt, marked: CachedObject): Promise<Outcome> {
  const { request, candidate } = attempt;
  const { registry, target } = request;
  const { key, revision } = marked;
  const answer = await registry.store.commit([{ key, revision }], [{ key }]);
  const [entry] = answer.ok ? [] : answer.found;
  if (entry !== undefined) {
    return { kind: 'conflict', candidate, current: toCachedObject(target.resource.format, entry) };
  }
  const object = describeDeleted(target.resource.format, marked, answer.revision);
  return { kind: 'stored', result: resultOf(attempt, object), revision: answer.revision };
}

/** The result that a commit would have. */
async function dryRunCommit(registry: RegistryContext, key: string, revision: number): Promise<CommitResult> {
  const { entry, revision: latest } = await registry.store.get(key);
  return (entry?.revision ?? 0) === revision
    ? { ok: true, revision: latest }
    : { ok: false, revision: latest, found: [entry] };
}

function resultOf({ request, candidate, old }: Attempt, object: CachedObject): WriteResult {
  const { change, target } = request;
  const { name = '', uid = '' } = candidate.object.metadata;
  const deleted = change.verb === 'delete' && (candidate.remove || candidate.deleteAfterMark === true);
  return {
    created: change.verb === 'create' || (old === undefined && change.verb !== 'delete'),
    object: deleted && target.resource.definition.strategy.returnsDeleted !== true ? undefined : object,
    deleted: deleted ? { name, uid } : undefined,
  };
}
