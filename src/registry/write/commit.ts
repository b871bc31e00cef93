import type { CachedObject } from '../../cache/index.ts';
import {
  type ApiObject,
  atOnce,
  formatGroupResource,
  inTurns,
  StatusError,
  type Steps,
  type Turns,
} from '../../meta/index.ts';
import type { CommitResult, Write } from '../../store/index.ts';
import type { RegistryContext } from '../context.ts';
import { keyOf, objectKey } from '../read/selection.ts';
import { inStoredVersion } from '../stored/convert.ts';
import { describe, describeDeleted, describeInSteps, describeObject } from '../stored/describe.ts';
import { announced, storedBytes, storedTextInSteps } from '../stored/write.ts';
import type { WriteResult } from '../types.ts';
import type { Allocations } from './allocator.ts';
import { catchUp, comparesOf } from './guards.ts';
import { nameOf, type PendingObject, type WriteRequest } from './write-request.ts';

/** The outcome of one attempt of a write. `revision`: that of the commit, or of the object that is not changed. */
export type Outcome =
  | { readonly kind: 'stored'; readonly result: WriteResult; readonly revision: number }
  | { readonly kind: 'unchanged'; readonly result: WriteResult; readonly revision: number }
  /** Another writer was first; `found` is the object stored now. */
  | { readonly kind: 'conflict'; readonly pending: PendingObject; readonly found: CachedObject | undefined }
  /**
   * What the attempt depends on besides the object has changed: a value that was allocated for it, or what a guard
   * requires. This server has seen the change.
   */
  | { readonly kind: 'outdated'; readonly pending: PendingObject };

/** Commits the pending object or its removal, unless another writer was first. @throws StatusError 413 */
export async function commit(
  request: WriteRequest,
  pending: PendingObject,
  old: ApiObject | undefined,
  held: CachedObject | undefined,
  allocations: Allocations | undefined,
  turns: Turns | undefined,
): Promise<Outcome> {
  const { registry, target, dryRun } = request;
  const { format } = target.resource;
  const key = held?.key ?? objectKey(target.resource, { namespace: target.namespace, name: nameOf(pending) });
  const revision = held?.revision ?? 0;
  const converts = format.custom?.webhook !== undefined && !pending.remove;
  const object = converts ? await inStoredVersion(format, pending.object) : pending.object;
  const run = <T>(steps: Steps<T>) => (turns ? inTurns(steps, turns) : atOnce(steps));
  const text = pending.remove ? '' : await run(storedTextInSteps(format, object));
  if (turns?.over) await turns.next();
  const { ttlSeconds: ttl } = target.resource.definition.strategy;
  const value = pending.remove ? undefined : storedBytes(text);
  if (value !== undefined) checkSize(registry, pending.object, value.length);
  const write = value === undefined ? { key } : ttl === undefined ? { key, value } : { key, value, ttl };
  const { compares, writes } = allocations?.changes() ?? { compares: [], writes: [] };
  const cascaded = pending.remove ? cascadeDeletes(request, pending) : [];
  const guards = [{ key, revision }, ...comparesOf(pending), ...compares];
  const commit = () => registry.store.commit(guards, [write, ...writes, ...cascaded]);
  const answer = await (dryRun
    ? dryRunCommit(registry, key, revision)
    : pending.remove
      ? commit()
      : announced(format, key, pending.object, text, commit));
  if (!answer.ok) {
    const [entry] = answer.found;
    if ((entry?.revision ?? 0) !== revision) {
      return { kind: 'conflict', pending, found: entry && (await run(describeInSteps(format, entry))) };
    }
    await catchUp(pending, answer.revision);
    await allocations?.catchUp(answer.revision);
    return { kind: 'outdated', pending };
  }
  const stored = dryRun ? revision : answer.revision;
  if (!dryRun) {
    const { managedFields } = pending.object.metadata;
    format.shared.managedFields.remember(key, pending.remove ? undefined : managedFields, text.length);
  }
  const described = (at: number, known?: string) => run(describeObject(format, key, pending.object, at, known));
  // What a webhook has converted is cached as it is stored.
  const describeStored = () =>
    value === undefined || stored === 0 || object === pending.object
      ? described(stored, format.custom === undefined ? text : undefined)
      : describe(format, { key, value, revision: stored });
  if (pending.deleteAfterMark === true && !dryRun) return deleteMarked(request, pending, old, await describeStored());
  if (pending.remove) {
    const deletes = request.change.verb === 'delete' && held !== undefined;
    const last = deletes ? held : await described(revision);
    const gone = dryRun ? last : describeDeleted(format, last, stored);
    return { kind: 'stored', result: resultOf(request, pending, old, gone), revision: stored };
  }
  const cached = dryRun ? undefined : target.resource.cache.get(key);
  const written = cached?.revision === stored ? cached : await describeStored();
  return { kind: 'stored', result: resultOf(request, pending, old, written), revision: stored };
}

/** How much a deletion may add to an object, in bytes: other writes leave room for it. */
const deletionRoom = 16 * 1024;

/** @throws StatusError 413 when an object of `size` bytes is too large for the store */
export function checkSize({ store }: RegistryContext, { metadata }: ApiObject, size: number): void {
  const limit = metadata.deletionTimestamp === undefined ? store.maxValueBytes - deletionRoom : store.maxValueBytes;
  if (size <= limit) return;
  const why = `Request entity too large: the object takes ${size} bytes, limit is ${limit}`;
  throw new StatusError(413, 'RequestEntityTooLarge', why);
}

/** Deletes of the objects that are deleted along with the pending one, where they exist. */
function cascadeDeletes({ registry, target }: WriteRequest, pending: PendingObject): Write[] {
  const { cascadeDelete } = target.resource.definition.strategy;
  if (cascadeDelete === undefined) return [];
  const place = { namespace: target.namespace, name: nameOf(pending) };
  return registry.catalog.resources.flatMap((resource) => {
    const key = cascadeDelete.includes(formatGroupResource(resource.id)) ? keyOf(resource, place) : undefined;
    return key === undefined ? [] : { key };
  });
}

/** Removes an object that has just been marked as deleted: watches have seen the update. */
async function deleteMarked(
  request: WriteRequest,
  pending: PendingObject,
  old: ApiObject | undefined,
  marked: CachedObject,
): Promise<Outcome> {
  const { registry, target } = request;
  const { key, revision } = marked;
  const answer = await registry.store.commit([{ key, revision }], [{ key }]);
  const [entry] = answer.ok ? [] : answer.found;
  if (entry !== undefined) return { kind: 'conflict', pending, found: describe(target.resource.format, entry) };
  const object = describeDeleted(target.resource.format, marked, answer.revision);
  return { kind: 'stored', result: resultOf(request, pending, old, object), revision: answer.revision };
}

/** The result that a commit would have. */
async function dryRunCommit(registry: RegistryContext, key: string, revision: number): Promise<CommitResult> {
  const { entry, revision: latest } = await registry.store.get(key);
  return (entry?.revision ?? 0) === revision
    ? { ok: true, revision: latest }
    : { ok: false, revision: latest, found: [entry] };
}

export function resultOf(
  request: WriteRequest,
  pending: PendingObject,
  old: ApiObject | undefined,
  object: CachedObject,
): WriteResult {
  const { change, target } = request;
  const { name = '', uid = '' } = pending.object.metadata;
  const deleted = change.verb === 'delete' && (pending.remove || pending.deleteAfterMark === true);
  return {
    created: change.verb === 'create' || (old === undefined && change.verb !== 'delete'),
    object: deleted && target.resource.definition.strategy.returnsDeleted !== true ? undefined : object,
    deleted: deleted ? { name, uid } : undefined,
  };
}
