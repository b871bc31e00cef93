import { runMutating, runValidating } from '../../admission/index.ts';
import type { CachedObject } from '../../cache/index.ts';
import { prepareShapes } from '../../merge/index.ts';
import { atOnce, inTurns, StatusError, serverTurns, statusError, type Turns } from '../../meta/index.ts';
import type { RegistryContext } from '../context.ts';
import { objectKey } from '../read/selection.ts';
import { versionOf } from '../resource/convert.ts';
import { converted } from '../stored/convert.ts';
import { describeInSteps } from '../stored/describe.ts';
import { isCorrupt, readObject } from '../stored/read.ts';
import { largeBytes, turnsOf } from '../turns.ts';
import type { Change, Target, WriteOptions, WriteResult } from '../types.ts';
import { attemptWrite } from './attempt.ts';
import type { Outcome } from './commit.ts';
import { refuseReadable } from './delete-options.ts';
import { admissionRequest, readWriteRequest } from './read-request.ts';
import type { Place } from './write-queue.ts';
import { nameOf, type PendingObject, type WriteRequest } from './write-request.ts';

/** How often a write is attempted again after a conflict. */
const maxAttempts = 200;
/** How many names are generated for one object. */
const maxNames = 8;
/** How long a write waits for the cache of a resource that the server follows (ms). */
const followMs = 1_000;

/** What a write has led to, and the revision from which on the store has it. */
interface Written {
  readonly result: WriteResult;
  readonly revision: number;
}

/**
 * Carries out a change. After a conflict with another writer it is attempted again on the object as stored by then, in the
 * order of the {@link WriteQueue}; a change with a resourceVersion fails with a 409 instead.
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
  const { cache, definition } = target.resource;
  if (definition.followed === true) await cache.reach(revision, followMs);
  return result;
}

async function attemptUntilDone(request: WriteRequest): Promise<Written> {
  const { registry, target, change, options } = request;
  const { cache, definition } = target.resource;
  const preparing = definition.prepare?.();
  if (preparing !== undefined) {
    const turns = options.turns ?? serverTurns();
    await inTurns(preparing, turns);
    const { schema, names } = versionOf(target).type;
    await inTurns(prepareShapes(schema, names), turns);
  }
  // A watch from the resourceVersion of this write on needs the cache to have every later event.
  if (cache.revision === 0) await cache.loaded();
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
  let current = place === undefined || waits;
  let held = place === undefined ? undefined : waits ? await heldInStore(request) : heldInCache(request);
  for (let attempt = 1; ; attempt++) {
    const outcome = await attemptOn(request, held).catch(refusalOf);
    if (outcome.kind === 'stored') return outcome;
    if (outcome.kind === 'refused' || outcome.kind === 'unchanged') {
      const stored = current ? held : await heldInStore(request, held);
      if (stored?.revision === held?.revision) {
        if (outcome.kind === 'refused') throw outcome.error;
        return outcome;
      }
      held = stored;
    } else {
      const { pending } = outcome;
      if (place === undefined && outcome.kind === 'conflict') {
        if (!pending.generated) throw alreadyExists(target, nameOf(pending), outcome.found);
        if (attempt >= maxNames) throw nameTaken(target, nameOf(pending));
      } else if (attempt >= maxAttempts) throw statusError.modified(target.resource.id, nameOf(pending));
      if (place !== undefined && outcome.kind === 'conflict') {
        const turn = queue.enter(place);
        await turn;
        held = turn === undefined ? outcome.found : await heldInStore(request);
      }
    }
    current = true;
  }
}

/** An attempt, which a webhook converts the object for where it has to. */
function attemptOn(request: WriteRequest, held: CachedObject | undefined): Promise<Outcome> {
  const { conversions, target, options, size } = request;
  const grows = target.resource.definition.defaultsLargely?.() === true;
  const turns = turnsOf(options, grows ? largeBytes : size, held?.bytes.length);
  return conversions === undefined
    ? attemptWrite(request, held, turns)
    : conversions.during(() => attemptInOwnVersion(request, held, turns));
}

/** An attempt on an object, and with a result, that a webhook converts. */
async function attemptInOwnVersion(
  request: WriteRequest,
  held: CachedObject | undefined,
  turns: Turns | undefined,
): Promise<Outcome> {
  const { format } = request.target.resource;
  const outcome = await attemptWrite(request, held && (await converted(format, held)), turns);
  if (outcome.kind !== 'stored' || outcome.result.object === undefined) return outcome;
  return { ...outcome, result: { ...outcome.result, object: await converted(format, outcome.result.object) } };
}

/** A client error, which is reported unless the attempt was made on a stale object. */
function refusalOf(error: unknown): { readonly kind: 'refused'; readonly error: StatusError } {
  if (error instanceof StatusError && error.code < 500) return { kind: 'refused', error };
  throw error;
}

/** Removes a corrupt object. */
async function removeUnreadable(request: WriteRequest): Promise<Written> {
  const { registry, target, options } = request;
  const { resource, name } = target;
  const held = await heldInStore(request);
  if (held === undefined) throw statusError.notFound(resource.id, name);
  if (!isCorrupt(held)) refuseReadable(resource, name);
  const pending: PendingObject = { object: readObject(resource.format, held), remove: true, generated: false };
  const attributes = admissionRequest(request, pending, undefined, []);
  await runMutating(registry.admission, attributes);
  await runValidating(registry.admission, attributes);
  const { key, revision } = held;
  const answer = options.dryRun ? { ok: true, revision } : await registry.store.commit([{ key, revision }], [{ key }]);
  if (!answer.ok) throw statusError.modified(resource.id, name);
  return { result: { created: false, object: undefined, deleted: { name, uid: '' } }, revision: answer.revision };
}

/** The 409 for a name that is taken; it says so when `found`, which has the name, is being deleted. */
function alreadyExists({ resource }: Target, name: string, found: CachedObject | undefined): StatusError {
  const error = statusError.alreadyExists(resource.id, name);
  if (found === undefined || isCorrupt(found)) return error;
  if (readObject(resource.format, found).metadata.deletionTimestamp === undefined) return error;
  const { code, reason, message, details } = error;
  return new StatusError(code, reason, `object is being deleted: ${message}`, details);
}

function nameTaken({ resource }: Target, name: string): StatusError {
  const { code, reason, message, details } = statusError.alreadyExists(resource.id, name);
  const why = `${message}, the server was not able to generate a unique name for the object`;
  return new StatusError(code, reason, why, { ...details, retryAfterSeconds: 1 });
}

const heldInCache = ({ target }: WriteRequest): CachedObject | undefined =>
  target.resource.cache.get(objectKey(target.resource, target));

/** `known`: the object as it may be stored. */
async function heldInStore(
  { registry, target, options }: WriteRequest,
  known?: CachedObject,
): Promise<CachedObject | undefined> {
  const { entry } = await registry.store.get(objectKey(target.resource, target));
  if (entry === undefined || entry.revision === known?.revision) return entry && known;
  const turns = turnsOf(options, entry.value.length);
  const describing = describeInSteps(target.resource.format, entry);
  return turns ? inTurns(describing, turns) : atOnce(describing);
}
