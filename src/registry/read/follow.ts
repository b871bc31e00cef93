import type { CachedObject } from '../../cache/index.ts';
import { type ApiObject, serverTurns } from '../../meta/index.ts';
import type { Resource } from '../resource/resource.ts';
import { isCorrupt, readObject } from '../stored/read.ts';
import type { FollowOptions, ObjectFollower } from '../types.ts';

/** The object; undefined when it is corrupt. */
function readable(format: Resource['format'], cached: CachedObject): ApiObject | undefined {
  if (isCorrupt(cached)) return undefined;
  try {
    return readObject(format, cached);
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
  const { cache, format, keyPrefix } = resource;
  if (!late) checkFollowed(resource);
  const report = (cached: CachedObject, deleted: boolean) => {
    const { namespace, name } = cached;
    follower(namespace, name, deleted ? undefined : readable(format, cached));
  };
  await cache.ready();
  // A change during the first pass is reported at once, and again when the pass reaches the object.
  cache.listen(report);
  // After a pause the pass continues in the latest state.
  for (let after = ''; ; await turns.next()) {
    let paused = false;
    for (const cached of cache.snapshot().range(keyPrefix, after)) {
      report(cached, false);
      after = cached.key;
      paused = turns.over;
      if (paused) break;
    }
    if (!paused) return;
  }
}
