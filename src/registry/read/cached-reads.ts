import type { Awaitable, Derivation, NamespaceState, ResourceKey } from '../../admission/index.ts';
import type { CachedObject, Snapshot, WatchCache } from '../../cache/index.ts';
import { type ApiObject, inTurns, type Steps, serverTurns } from '../../meta/index.ts';
import { consistentCache, lookUp, type RegistryContext } from '../context.ts';
import type { CachedReads } from '../resource/definition.ts';
import type { Resource } from '../resource/resource.ts';
import { keyOf, rangeOf } from '../resource/target.ts';
import { convertAll, toOwnVersion } from '../stored/convert.ts';
import { isUnconverted } from '../stored/format.ts';
import { isCorrupt, readObject, readObjectInSteps, unreadable } from '../stored/read.ts';
import { checkFollowed, usable } from './follow.ts';
import { type ReadCached, versionedReads } from './versioned-reads.ts';

/** The decoded lists of one snapshot of a resource, by namespace. */
interface DecodedLists {
  readonly snapshot: Snapshot;
  readonly byNamespace: Map<string, Awaitable<readonly ApiObject[]>>;
}

/** Maximum number of objects that are kept decoded. */
const maxDecoded = 4096;
/** Longer lists are decoded again for every caller. */
const maxKeptList = 64;
/** Larger objects are decoded in steps, and not kept (bytes). */
const maxKeptBytes = 64 * 1024;
/** Lists of more JSON (bytes) are decoded in steps. */
const maxBytesAtOnce = 256 * 1024;

/** The list of a resource that a webhook converts. @throws StatusError 500 for an object that cannot be read */
async function convertedList(
  registry: Pick<RegistryContext, 'store'>,
  resource: Resource,
  namespace: string,
): Promise<readonly ApiObject[]> {
  const { format } = resource;
  const cache = await consistentCache(registry, resource);
  const stored = cache.snapshot().range(rangeOf(resource, { namespace }));
  const { objects, failure } = await convertAll(format, stored, serverTurns());
  if (failure !== undefined) throw failure.error;
  return objects.map((cached) => {
    if (isCorrupt(cached)) throw unreadable(cached);
    return readObject(format, cached);
  });
}

/** The lists of caches as they are, decoded once for each state of short ones, and in steps if they are large. */
function cachedLists(decode: (resource: Resource, cached: CachedObject) => ApiObject) {
  const lists = new WeakMap<Resource, DecodedLists>();
  const listNow = (resource: Resource, namespace: string): Awaitable<readonly ApiObject[]> => {
    const snapshot = resource.storage.cache.snapshot();
    let decodedLists = lists.get(resource);
    if (decodedLists?.snapshot !== snapshot) {
      decodedLists = { snapshot, byNamespace: new Map() };
      lists.set(resource, decodedLists);
    }
    const { byNamespace } = decodedLists;
    const decodedList = byNamespace.get(namespace);
    if (decodedList !== undefined) return decodedList;
    const objects = [...snapshot.range(rangeOf(resource, { namespace }))];
    const size = objects.reduce((sum, { bytes }) => sum + bytes.length, 0);
    if (size > maxBytesAtOnce) {
      // Those who ask meanwhile wait for the same list, which is not kept.
      const list = inTurns(decodeInSteps(resource, objects), serverTurns());
      byNamespace.set(namespace, list);
      const forget = () => void byNamespace.delete(namespace);
      list.then(forget, forget);
      return list;
    }
    const short = objects.length <= maxKeptList;
    const list = objects.map((one) => (short ? decode(resource, one) : readObject(resource.format, one)));
    if (short) byNamespace.set(namespace, list);
    return list;
  };
  /** @throws StatusError 500 for an object that cannot be read */
  const readableNow = (resource: Resource, namespace: string): Awaitable<readonly ApiObject[]> => {
    for (const cached of resource.storage.cache.snapshot().range(rangeOf(resource, { namespace }))) {
      if (isCorrupt(cached)) throw unreadable(cached);
    }
    return listNow(resource, namespace);
  };
  return { listNow, readableNow };
}

function* decodeInSteps({ format }: Resource, objects: readonly CachedObject[]): Steps<readonly ApiObject[]> {
  const list: ApiObject[] = [];
  for (const cached of objects) {
    yield;
    list.push(yield* readObjectInSteps(format, cached));
  }
  return list;
}

/**
 * Reads from the watch caches. What a cache holds is answered at once, without a promise; what it does not hold is
 * looked up again when it has every write that was answered before the call, or fails with StatusError 504.
 */
export function cachedReads(registry: Pick<RegistryContext, 'store' | 'catalog'>): CachedReads {
  const { findResource } = registry.catalog;
  const decoded = new Map<CachedObject, ApiObject>();
  const decode = ({ format }: Resource, cached: CachedObject): ApiObject => {
    const decodedObject = decoded.get(cached);
    if (decodedObject !== undefined) return decodedObject;
    const object = readObject(format, cached);
    if (cached.bytes.length > maxKeptBytes) return object;
    if (decoded.size >= maxDecoded) decoded.clear();
    decoded.set(cached, object);
    return object;
  };
  /** The object, which is shared unless it is large. @throws StatusError 500 when it cannot be read */
  const read: ReadCached = (resource, cached, turns) => {
    if (cached.bytes.length <= maxKeptBytes || isCorrupt(cached)) return decode(resource, cached);
    return inTurns(readObjectInSteps(resource.format, cached), turns);
  };
  const { listNow, readableNow } = cachedLists(decode);
  const namespaces = findResource('namespaces');
  return {
    get: (id, namespace, name) => {
      const resource = findResource(id);
      const key = resource && keyOf(resource, { namespace, name });
      if (resource === undefined || key === undefined) return undefined;
      return lookUp(registry, resource, () => {
        const cached = resource.storage.cache.snapshot().get(key);
        if (cached === undefined) return undefined;
        if (!isUnconverted(resource.format, cached.bytes)) return read(resource, cached, serverTurns());
        return toOwnVersion(resource.format, cached).then((own) => decode(resource, own));
      });
    },
    list: (id, namespace, latest = false) => {
      const resource = findResource(id);
      if (resource === undefined) return [];
      if (resource.format.custom?.webhook !== undefined) return convertedList(registry, resource, namespace);
      if (resource.storage.cache.revision > 0 && !latest) return listNow(resource, namespace);
      return consistentCache(registry, resource).then(() => readableNow(resource, namespace));
    },
    cached: (id, namespace) => {
      const resource = findResource(id);
      if (resource === undefined) return { objects: [], revision: 0 };
      const { cache } = resource.storage;
      const now = () => {
        const { revision } = cache.snapshot();
        const objects = readableNow(resource, namespace);
        return objects instanceof Promise ? objects.then((all) => ({ objects: all, revision })) : { objects, revision };
      };
      return cache.revision > 0 ? now() : consistentCache(registry, resource).then(now);
    },
    namespace: (name, latest = false) => {
      if (namespaces === undefined) return { terminating: false, revision: 0 };
      const find = (): NamespaceState | undefined => {
        const cached = namespaces.storage.cache.get(namespaces.keyPrefix + name);
        return cached && { terminating: cached.fields['status.phase'] === 'Terminating', revision: cached.revision };
      };
      return latest ? consistentCache(registry, namespaces).then(find) : lookUp(registry, namespaces, find);
    },
    ...versionedReads(registry, read),
    derived: (id: ResourceKey, derivation: Derivation<ApiObject, unknown, unknown>) =>
      derive(() => findResource(id), derivation),
    // Objects were decoded against the schema of their storage version when they were written.
  } as CachedReads;
}

/** See `ObjectLookup`: the resource is declared as `followed`. */
function derive<T, V>(
  find: () => Resource | undefined,
  { compile, join }: Derivation<ApiObject, T, V>,
): () => Awaitable<V> {
  /** The results for the objects of the last computation. */
  let compiled = new Map<CachedObject, { readonly result: T }>();
  let current: { readonly cache: WatchCache; stale: boolean; value: Awaitable<V> } | undefined;
  function* compute(resource: Resource): Steps<V> {
    const next: typeof compiled = new Map();
    for (const cached of resource.storage.cache.snapshot().range(resource.keyPrefix)) {
      yield;
      let known = compiled.get(cached);
      if (known === undefined) {
        const object = yield* usable(resource, cached);
        if (object === undefined) continue;
        known = { result: yield* compile(object) };
      }
      next.set(cached, known);
    }
    compiled = next;
    return join([...next.values()].map(({ result }) => result));
  }
  const start = (resource: Resource): Promise<V> => {
    const computing = inTurns(compute(resource), serverTurns()).then((value) => {
      if (current?.value === computing) current.value = value;
      return value;
    });
    return computing;
  };
  const refreshed = (resource: Resource): Awaitable<V> => {
    const { cache } = resource.storage;
    if (current?.cache !== cache) {
      checkFollowed(resource);
      const next = { cache, stale: false, value: start(resource) };
      cache.listen(() => {
        next.stale = true;
      });
      current = next;
    } else if (current.stale) {
      current.stale = false;
      current.value = start(resource);
    }
    return current.value;
  };
  return () => {
    const resource = find();
    if (resource === undefined) return join([]);
    const { cache } = resource.storage;
    return cache.revision > 0 ? refreshed(resource) : cache.loaded().then(() => refreshed(resource));
  };
}
