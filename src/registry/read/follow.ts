import type { CachedObject, WatchCache } from '../../cache/index.ts';
import { type ApiObject, atOnce, inTurns, isLarge, type Steps, serverTurns } from '../../meta/index.ts';
import type { Resource } from '../resource/resource.ts';
import { isCorrupt, readObjectInSteps } from '../stored/read.ts';
import type { FollowOptions, ObjectFollower } from '../types.ts';

/** From this length on (bytes) an object is read in turns before it is reported. */
const longBytes = 256 * 1024;

/** The reports for which an object is still being read. */
const unfinished = new WeakMap<WatchCache, Set<Promise<void>>>();

/** Resolves once every change that the cache has now is reported to those who follow the resource. */
export async function changesReported(cache: WatchCache): Promise<void> {
  const running = unfinished.get(cache);
  if (running !== undefined) await Promise.all([...running]);
}

/** The object for code that acts on it; undefined when it is corrupt, which is reported. */
export function* usable(
  { format, storageVersion: { type } }: Resource,
  cached: CachedObject,
): Steps<ApiObject | undefined> {
  if (isCorrupt(cached)) return undefined;
  try {
    const object = yield* readObjectInSteps(format, cached);
    // Another process may have stored values of any type, such as null in a list.
    const { value } = isLarge(object) ? yield* type.decodeInSteps(object) : type.decode(object);
    return value as ApiObject;
  } catch {
    format.report(cached.key, cached.revision);
    return undefined;
  }
}

/** @throws Error when writes of the resource would not wait for those who follow it */
export function checkFollowed({ definition: { plural, followed } }: Resource): void {
  if (followed !== true) throw new Error(`${plural} are not declared as followed`);
}

/** See `Registry.follow`. Starts the cache of the resource, which then runs until the registry is closed. */
export async function follow(
  resource: Resource,
  follower: ObjectFollower,
  { late = false }: FollowOptions = {},
  turns = serverTurns(),
): Promise<void> {
  const { storage, keyPrefix } = resource;
  const { cache } = storage;
  if (!late) checkFollowed(resource);
  // A change is reported at once, unless it, or one before it, is long to read.
  const running = unfinished.get(cache) ?? new Set<Promise<void>>();
  unfinished.set(cache, running);
  let last: Promise<void> | undefined;
  const tell = ({ namespace, name }: CachedObject, object: ApiObject | undefined) => follower(namespace, name, object);
  const reportInTurns = async (before: Promise<void> | undefined, cached: CachedObject, deleted: boolean) => {
    await before;
    tell(cached, deleted ? undefined : await inTurns(usable(resource, cached), turns));
  };
  const report = (cached: CachedObject, deleted: boolean) => {
    if (last === undefined && deleted) return tell(cached, undefined);
    if (last === undefined && cached.bytes.length < longBytes) return tell(cached, atOnce(usable(resource, cached)));
    const next = reportInTurns(last, cached, deleted);
    last = next;
    running.add(next);
    void next.then(() => {
      running.delete(next);
      if (last === next) last = undefined;
    });
  };
  await cache.ready();
  // A change during the first pass is reported in its order, and again when the pass reaches the object.
  cache.listen(report);
  // After a pause the pass continues in the latest state.
  for (let after = ''; ; ) {
    let paused = false;
    for (const cached of cache.snapshot().range(keyPrefix, after)) {
      report(cached, false);
      after = cached.key;
      paused = last !== undefined || turns.over;
      if (paused) break;
    }
    if (!paused) return;
    await last;
    if (turns.over) await turns.next();
  }
}
