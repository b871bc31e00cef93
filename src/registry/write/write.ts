import { runMutating, runValidating } from '../../admission/index.ts';
import type { CachedObject } from '../../cache/index.ts';
import { atOnce, inTurns, StatusError, serverTurns, statusError, type Turns } from '../../meta/index.ts';
import { largeBytes, type RegistryContext, turnsOf } from '../context.ts';
import { changesReported } from '../read/follow.ts';
import { objectKey } from '../resource/target.ts';
import { toOwnVersion } from '../stored/convert.ts';
import { describeInSteps } from '../stored/describe.ts';
import { isCorrupt, readObject } from '../stored/read.ts';
import type { Change, Target, WriteOptions, WriteResult } from '../types.ts';
import { admissionRequest } from './admit.ts';
import { refuseReadable } from './delete-options.ts';
import { attemptWrite } from './stages.ts';
import type { Place } from './write-queue.ts';
import { type Candidate, nameOf, type Outcome, readWriteRequest, type WriteRequest } from './write-request.ts';

/** Maximum number of attempts of a write. */
const maxAttempts = 200;
/** Maximum number of names that are generated for one object. */
const maxNames = 8;
/** How long a write waits for the cache of a resource that the server follows (ms). */
const followMs = 1_000;

/** The result of a write, and the revision from which on the store has it. */
interface Written {
  readonly result: WriteResult;
  readonly revision: number;
}

/**
 * Carries out a change. After a conflict with another writer it is attempted again on the object stored by then, in the
 * order of the {@link WriteQueue}. A change with a resourceVersion fails with a 409 instead.
 */
export async function write(
  registry: RegistryContext,
  target: Target,
  change: Change,
  options: WriteOptions,
): Promise<WriteResult> {
  const request = readWriteRequest(registry, target, change, options);
  const written = request.deletion?.unsafe === true ? removeUnreadable(request) : attemptUntilDone(request);
  const { result, revision } = await written;
  const { storage, definition } = target.resource;
  if (definition.followed === true) {
    await storage.cache.reach(revision, followMs);
    await changesReported(storage.cache);
  }
  return result;
}

async function attemptUntilDone(request: WriteRequest): Promise<Written> {
  const { registry, target, change, options } = request;
  const { storage, definition } = target.resource;
  const preparation = definition.prepare?.();
  if (preparation !== undefined) await inTurns(preparation, options.turns ?? serverTurns());
  // A watch from the resourceVersion of this write on needs the cache to have every later event.
  if (storage.cache.revision === 0) await storage.cache.loaded();
  if (change.verb === 'create') return attemptInOrder(request, undefined);
  const { queue } = registry;
  const place = queue.place(objectKey(target.resource, target));
  try {
    return await attemptInOrder(request, place);
  } finally {
    queue.leave(place);
  }
}

/** `place`: undefined for a create, which conflicts only once. */
async function attemptInOrder(request: WriteRequest, place: Place | undefined): Promise<Written> {
  const { target, registry } = request;
  const { queue } = registry;
  const waits = place !== undefined && queue.has(place.key);
  if (waits) await queue.enter(place);
  // The cached object may be stale: an error or an unchanged object counts only once the store has the same revision.
  let isLatest = place === undefined || waits;
  let current = place === undefined ? undefined : waits ? await storedObject(request) : cachedObject(request);
  for (let attempt = 1; ; attempt++) {
    let outcome: Outcome | Rejected;
    try {
      outcome = await attemptOn(request, current);
    } catch (error) {
      outcome = clientError(error);
    }
    if (outcome.kind === 'stored') return outcome;
    if (outcome.kind === 'rejected' || outcome.kind === 'unchanged') {
      const stored = isLatest ? current : await storedObject(request, current);
      if (stored?.revision === current?.revision) {
        if (outcome.kind === 'rejected') throw outcome.error;
        return outcome;
      }
      current = stored;
    } else {
      const { candidate } = outcome;
      if (place === undefined && outcome.kind === 'conflict') {
        if (!candidate.generated || attempt >= maxNames) throw alreadyExists(target, candidate, outcome.current);
      } else if (attempt >= maxAttempts) throw statusError.modified(target.resource.id, nameOf(candidate));
      if (place !== undefined && outcome.kind === 'conflict') {
        const turn = queue.enter(place);
        await turn;
        current = turn === undefined ? outcome.current : await storedObject(request);
      }
    }
    isLatest = true;
  }
}

function attemptOn(request: WriteRequest, current: CachedObject | undefined): Promise<Outcome> {
  const { conversions, target, options, size } = request;
  const grows = target.resource.definition.defaultsLargely?.() === true;
  const turns = turnsOf(options, grows ? largeBytes : size, current?.bytes.length);
  return conversions === undefined
    ? attemptWrite(request, current, turns)
    : attemptConverted(request, current, turns ?? options.turns ?? serverTurns());
}

/** An attempt on an object, and with a result, that a webhook converts. */
async function attemptConverted(
  request: WriteRequest,
  current: CachedObject | undefined,
  turns: Turns,
): Promise<Outcome> {
  const { format } = request.target.resource;
  const outcome = await attemptWrite(request, current && (await toOwnVersion(format, current)), turns);
  if (outcome.kind !== 'stored' || outcome.result.object === undefined) return outcome;
  return { ...outcome, result: { ...outcome.result, object: await toOwnVersion(format, outcome.result.object) } };
}

/** An attempt that ended with a client error, which is reported unless it was made on a stale object. */
interface Rejected {
  readonly kind: 'rejected';
  readonly error: StatusError;
}

/** @throws the error when it is no client error */
function clientError(error: unknown): Rejected {
  if (error instanceof StatusError && error.code < 500) return { kind: 'rejected', error };
  throw error;
}

/** Removes a corrupt object. */
async function removeUnreadable(request: WriteRequest): Promise<Written> {
  const { registry, target, options } = request;
  const { resource, name } = target;
  const corrupt = await storedObject(request);
  if (corrupt === undefined) throw statusError.notFound(resource.id, name);
  if (!isCorrupt(corrupt)) refuseReadable(resource, name);
  const candidate: Candidate = { object: readObject(resource.format, corrupt), remove: true, generated: false };
  const attributes = admissionRequest(request, candidate, undefined, []);
  await runMutating(registry.admission, attributes);
  await runValidating(registry.admission, attributes);
  const { key, revision } = corrupt;
  const answer = options.dryRun ? { ok: true, revision } : await registry.store.commit([{ key, revision }], [{ key }]);
  if (!answer.ok) throw statusError.modified(resource.id, name);
  return { result: { created: false, object: undefined, deleted: { name, uid: '' } }, revision: answer.revision };
}

/**
 * The 409 for an existing name. Its message differs when the object also has `generateName`, and when the current object of
 * that name is being deleted.
 */
function alreadyExists({ resource }: Target, candidate: Candidate, current: CachedObject | undefined): StatusError {
  const taken = statusError.alreadyExists(resource.id, nameOf(candidate));
  const error = (candidate.object.metadata.generateName ?? '') === '' ? taken : noUniqueName(taken);
  if (current === undefined || isCorrupt(current)) return error;
  if (readObject(resource.format, current).metadata.deletionTimestamp === undefined) return error;
  const { code, reason, message, details } = error;
  return new StatusError(code, reason, `object is being deleted: ${message}`, details);
}

function noUniqueName({ code, reason, message, details }: StatusError): StatusError {
  const why = `${message}, the server was not able to generate a unique name for the object`;
  return new StatusError(code, reason, why, { ...details, retryAfterSeconds: 1 });
}

/** The object as it is cached. */
const cachedObject = ({ target }: WriteRequest): CachedObject | undefined =>
  target.resource.storage.cache.get(objectKey(target.resource, target));

/** The object as it is stored. `cached`: returned when the store has the same revision. */
async function storedObject(
  { registry, target, options }: WriteRequest,
  cached?: CachedObject,
): Promise<CachedObject | undefined> {
  const { entry } = await registry.store.get(objectKey(target.resource, target));
  if (entry === undefined || entry.revision === cached?.revision) return entry && cached;
  const turns = turnsOf(options, entry.value.length);
  const describing = describeInSteps(target.resource.format, entry);
  return turns ? inTurns(describing, turns) : atOnce(describing);
}
