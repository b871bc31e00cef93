import { runMutating, runValidating } from '../admission/index.ts';
import type { CachedObject } from '../cache/index.ts';
import { StatusError, statusError } from '../meta/index.ts';
import { attemptWrite } from './attempt.ts';
import { describe, isCorrupt, readObject } from './bytes.ts';
import type { RegistryContext } from './context.ts';
import { refuseReadable } from './delete-options.ts';
import { admissionRequest, readWriteRequest } from './read-request.ts';
import { objectKey } from './selection.ts';
import { pauseFor } from './turns.ts';
import type { Change, Target, WriteOptions, WriteResult } from './types.ts';
import { nameOf, type PendingObject, type WriteRequest } from './write-request.ts';

/** How often a write begins anew because another one was first. */
const maxAttempts = 200;
/** How many of these let others have turns: whoever was overtaken so often is not overtaken in a turn again. */
const patientAttempts = 3;
/** How many names are made up for one object. */
const maxNames = 8;

/**
 * Carries out one change. It begins anew from the object as it is by then whenever another writer was first; a change
 * that names the version it is meant for is refused by that.
 */
export async function write(
  registry: RegistryContext,
  target: Target,
  change: Change,
  options: WriteOptions,
): Promise<WriteResult> {
  const request = readWriteRequest(registry, target, change, options);
  if (request.deletion?.unsafe === true) return removeUnreadable(request);
  const creates = change.verb === 'create';
  const { cache } = target.resource;
  // Whoever watches from the version of this write on shall find what happens after it.
  if (cache.revision === 0) await cache.loaded();
  let held = creates ? undefined : heldInCache(request);
  // What the cache holds may be older than what is stored: by that alone nothing is refused, or taken to be unchanged.
  let current = creates;
  for (let attempt = 1; ; attempt++) {
    const pause = attempt <= patientAttempts ? pauseFor(request.size, held?.bytes.length) : undefined;
    const outcome = await attemptWrite(request, held, pause).catch(refusalOf);
    if (outcome.kind === 'stored') return outcome.result;
    if (outcome.kind === 'refused' || outcome.kind === 'unchanged') {
      const stored = current ? held : await heldInStore(request);
      if (stored?.revision === held?.revision) {
        if (outcome.kind === 'refused') throw outcome.error;
        return outcome.result;
      }
      held = stored;
    } else {
      const { pending } = outcome;
      if (creates && outcome.kind === 'conflict') {
        if (!pending.generated) throw statusError.alreadyExists(target.resource.id, nameOf(pending));
        if (attempt >= maxNames) throw nameTaken(target, nameOf(pending));
      } else if (attempt >= maxAttempts) throw statusError.modified(target.resource.id, nameOf(pending));
      if (outcome.kind === 'conflict' && !creates) held = outcome.found;
    }
    current = true;
  }
}

/** An attempt that the client is to be told of, unless it was made on what is no longer stored. */
function refusalOf(error: unknown): { readonly kind: 'refused'; readonly error: StatusError } {
  if (error instanceof StatusError && error.code < 500) return { kind: 'refused', error };
  throw error;
}

/** Removes an object that cannot be read, without a word on what it says. */
async function removeUnreadable(request: WriteRequest): Promise<WriteResult> {
  const { registry, target, options } = request;
  const { resource, name } = target;
  const held = await heldInStore(request);
  if (held === undefined) throw statusError.notFound(resource.id, name);
  if (!isCorrupt(held)) refuseReadable(resource, name);
  const pending: PendingObject = { object: readObject(held), remove: true, generated: false };
  const attributes = admissionRequest(request, pending, undefined, []);
  await runMutating(registry.admission, attributes);
  await runValidating(registry.admission, attributes);
  const { key, revision } = held;
  const answer = options.dryRun ? { ok: true } : await registry.store.commit([{ key, revision }], [{ key }]);
  if (!answer.ok) throw statusError.modified(resource.id, name);
  return { created: false, object: undefined, deleted: { name, uid: '' } };
}

function nameTaken({ resource }: Target, name: string): StatusError {
  const { code, reason, message, details } = statusError.alreadyExists(resource.id, name);
  const why = `${message}, the server was not able to generate a unique name for the object`;
  return new StatusError(code, reason, why, { ...details, retryAfterSeconds: 1 });
}

const heldInCache = ({ target }: WriteRequest): CachedObject | undefined =>
  target.resource.cache.snapshot().get(objectKey(target.resource, target));

async function heldInStore({ registry, target }: WriteRequest): Promise<CachedObject | undefined> {
  const { entry } = await registry.store.get(objectKey(target.resource, target));
  return entry === undefined ? undefined : describe(target.resource.format, entry);
}
