import type { Awaitable } from '../../admission/index.ts';
import type { WatchCache } from '../../cache/index.ts';
import type { ApiObject } from '../../meta/index.ts';
import { checkFollowed } from '../read/follow.ts';
import { isCorrupt, readObject } from '../stored/read.ts';
import type { Resource } from './resource.ts';

interface Derived<T> {
  readonly cache: WatchCache;
  value: T;
  stale: boolean;
}

/** See `ObjectLookup`: the resource is declared as `followed`. */
export function derive<T>(
  find: () => Resource | undefined,
  compute: (objects: readonly ApiObject[]) => T,
): () => Awaitable<T> {
  let known: Derived<T> | undefined;
  const current = (resource: Resource): T => {
    const { cache } = resource;
    if (known?.cache !== cache) {
      checkFollowed(resource);
      const next: Derived<T> = { cache, value: compute(readAll(resource)), stale: false };
      cache.listen(() => {
        next.stale = true;
      });
      known = next;
    } else if (known.stale) {
      known.stale = false;
      known.value = compute(readAll(resource));
    }
    return known.value;
  };
  return () => {
    const resource = find();
    if (resource === undefined) return compute([]);
    const { cache } = resource;
    return cache.revision > 0 ? current(resource) : cache.loaded().then(() => current(resource));
  };
}

/** In the order of their names. */
const readAll = ({ cache, format, keyPrefix }: Resource): readonly ApiObject[] =>
  [...cache.snapshot().range(keyPrefix)].filter((held) => !isCorrupt(held)).map((held) => readObject(format, held));
