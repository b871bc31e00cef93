import type { Awaitable, ObjectLookup } from '../admission/index.ts';
import type { CachedObject, Snapshot, WatchCache } from '../cache/index.ts';
import { parseJson } from '../codec/index.ts';
import { type ApiObject, bufferOf, formatGroupResource, statusError } from '../meta/index.ts';
import type { Registry, Resource } from '../registry/index.ts';
import type { Store } from '../store/index.ts';

/** How long a lookup waits for what the store has but the cache has not seen (ms). */
const patienceMs = 3_000;

/** What is known of one state of a resource; forgotten with the state. */
interface Known {
  readonly snapshot: Snapshot;
  readonly lists: Map<string, readonly ApiObject[]>;
}

/** So many objects are kept decoded, and no list that is longer than the second number: the rest is read anew. */
const maxDecoded = 4096;
const maxKeptList = 64;

/** Objects of a registry as plugins see them, from the caches. It may be used before the registry is there. */
export function objectLookup(registry: () => Registry, store: Store): ObjectLookup {
  const decoded = new Map<CachedObject, ApiObject>();
  const known = new Map<string, Known>();
  let places: Map<string, Resource> | undefined;
  const find = (resource: string): Resource | undefined => {
    places ??= new Map(registry().resources.map((found) => [formatGroupResource(found.id), found]));
    return places.get(resource);
  };
  const decode = (object: CachedObject): ApiObject => {
    const kept = decoded.get(object);
    if (kept !== undefined) return kept;
    const found = decodeObject(object);
    if (decoded.size >= maxDecoded) decoded.clear();
    decoded.set(object, found);
    return found;
  };
  const listIn = (resource: string, { cache, keyPrefix }: Resource, namespace: string): readonly ApiObject[] => {
    const snapshot = cache.snapshot();
    let memory = known.get(resource);
    if (memory?.snapshot !== snapshot) {
      memory = { snapshot, lists: new Map() };
      known.set(resource, memory);
    }
    const kept = memory.lists.get(namespace);
    if (kept !== undefined) return kept;
    const prefix = namespace === '' ? keyPrefix : `${keyPrefix}${namespace}/`;
    const objects = [...snapshot.range(prefix)];
    const short = objects.length <= maxKeptList;
    const list = objects.map(short ? decode : decodeObject);
    if (short) memory.lists.set(namespace, list);
    return list;
  };
  return {
    get: (resource, namespace, name) => {
      const place = find(resource);
      if (place === undefined) return undefined;
      const key = `${place.keyPrefix}${place.definition.namespaced ? `${namespace}/` : ''}${name}`;
      const read = () => {
        const found = place.cache.snapshot().get(key);
        return found === undefined ? undefined : decode(found);
      };
      const { cache } = place;
      return (cache.revision === 0 ? undefined : read()) ?? upToDate(cache, store).then(read);
    },
    list: (resource, namespace, latest = false): Awaitable<readonly ApiObject[]> => {
      const place = find(resource);
      if (place === undefined) return [];
      const { cache } = place;
      if (cache.revision > 0 && !latest) return listIn(resource, place, namespace);
      return upToDate(cache, store).then(() => listIn(resource, place, namespace));
    },
  };
}

/** A cached object, fresh. @throws StatusError 500 when it cannot be read */
export function decodeObject(object: CachedObject): ApiObject {
  try {
    return parseJson(bufferOf(object.bytes)).value as ApiObject;
  } catch (error) {
    throw statusError.internal(`the stored object ${object.key} cannot be read`, error);
  }
}

async function upToDate(cache: WatchCache, store: Store): Promise<void> {
  await cache.loaded();
  await cache.reach(await store.revision(), patienceMs);
}
