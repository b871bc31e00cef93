import type { CachedObject } from '../../cache/index.ts';
import { type ApiObject, serverTurns } from '../../meta/index.ts';
import type { Resource } from '../resource/resource.ts';
import { isCorrupt, readObject } from '../stored/read.ts';
import type { FollowOptions, ObjectFollower } from '../types.ts';

/** The object; undefined when it is corrupt. */
function readable(format: Resource['format'], held: CachedObject): ApiObject | undefined {
  if (isCorrupt(held)) return undefined;
  try {
    return readObject(format, held);
  } catch {
    format.report(held.key, held.revision);
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
  const tell = (held: CachedObject, deleted: boolean) => {
    const { namespace, name } = held;
    follower(namespace, name, deleted ? undefined : readable(format, held));
  };
  await cache.ready();
  // A change during the first pass is told at once, and told again when the pass comes to the object.
  cache.listen(tell);
  // After a pause the pass goes on in the state as it then is.
  for (let after = ''; ; await turns.next()) {
    let paused = false;
    for (const held of cache.snapshot().range(keyPrefix, after)) {
      tell(held, false);
      after = held.key;
      paused = turns.over;
      if (paused) break;
    }
    if (!paused) return;
  }
}
