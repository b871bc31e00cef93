import type { Awaitable, SelectedObjects, ServedResource, VersionedLookup } from '../../admission/index.ts';
import type { CachedObject, Snapshot } from '../../cache/index.ts';
import { type ApiObject, inTurns, type LabelSelector, type Steps, serverTurns, type Turns } from '../../meta/index.ts';
import { consistentCache, lookUp, type RegistryContext } from '../context.ts';
import type { Resource } from '../resource/resource.ts';
import { fromStorage, fromStorageInSteps, keyOf, rangeOf } from '../resource/target.ts';
import { convertAll, toOwnVersion } from '../stored/convert.ts';
import { isUnconverted, type ObjectFormat } from '../stored/format.ts';
import { isCorrupt, unreadable } from '../stored/read.ts';

/** The objects of one snapshot of a resource that selectors match, by namespace and selector. */
interface Selections {
  readonly snapshot: Snapshot;
  readonly bySelector: Map<string, readonly CachedObject[]>;
}

const nothing: SelectedObjects = {
  length: 0,
  read: () => {
    throw new RangeError('nothing is selected');
  },
};

/** Decodes an object, which may be shared: a large one in these turns. */
export type ReadCached = (resource: Resource, cached: CachedObject, turns: Turns) => Awaitable<ApiObject>;

/** See `VersionedLookup`. Every version of a custom resource has a cache of its own. */
export function versionedReads(
  registry: Pick<RegistryContext, 'store' | 'catalog'>,
  readCached: ReadCached,
): VersionedLookup {
  const find = ({ group, version, resource }: ServedResource) => registry.catalog.find(group, version, resource);
  const selections = new WeakMap<Resource, Selections>();
  const read = (resource: Resource, version: string, cached: CachedObject, turns: Turns): Awaitable<ApiObject> => {
    if (isCorrupt(cached)) throw unreadable(cached);
    const target = { resource, version, namespace: '', name: '', subresource: '' };
    const found = readCached(resource, cached, turns);
    if (!(found instanceof Promise)) return fromStorage(target, found);
    return found.then((object) => inTurns(fromStorageInSteps(target, object), turns));
  };
  function* matching(resource: Resource, namespace: string, selector: LabelSelector): Steps<readonly CachedObject[]> {
    const snapshot = resource.storage.cache.snapshot();
    let recent = selections.get(resource);
    if (recent?.snapshot !== snapshot) {
      recent = { snapshot, bySelector: new Map() };
      selections.set(resource, recent);
    }
    const id = `${namespace} ${selector.text}`;
    const retained = recent.bySelector.get(id);
    if (retained !== undefined) return retained;
    const selected: CachedObject[] = [];
    for (const cached of snapshot.range(rangeOf(resource, { namespace }))) {
      yield;
      // An object that cannot be read may have any labels.
      if (isCorrupt(cached)) throw unreadable(cached);
      if (selector.matches(cached.labels)) selected.push(cached);
    }
    recent.bySelector.set(id, selected);
    return selected;
  }
  return {
    getAs: (as, namespace, name) => {
      const resource = find(as);
      const key = resource && keyOf(resource, { namespace, name });
      if (resource === undefined || key === undefined) return undefined;
      const { cache, format } = resource.storage;
      return lookUp(registry, resource, () => {
        const cached = cache.snapshot().get(key);
        if (cached === undefined) return undefined;
        const own = inVersion(format, cached);
        if (own !== undefined) return read(resource, as.version, own, serverTurns());
        return toOwnVersion(format, cached).then((object) => read(resource, as.version, object, serverTurns()));
      });
    },
    selectAs: async (as, namespace, selector, turns) => {
      const resource = find(as);
      if (resource === undefined) return nothing;
      const { cache, format } = resource.storage;
      if (cache.revision === 0) await consistentCache(registry, resource);
      const selected = await inTurns(matching(resource, namespace, selector), turns);
      const readFrom = (objects: readonly CachedObject[]) => ({
        length: objects.length,
        read: (index: number) => {
          const cached = objects[index] as CachedObject;
          return read(resource, as.version, inVersion(format, cached) ?? cached, turns);
        },
      });
      if (selected.every((cached) => inVersion(format, cached) !== undefined)) return readFrom(selected);
      const { objects, failure } = await convertAll(format, selected, turns);
      if (failure !== undefined) throw failure.error;
      return readFrom(objects);
    },
  };
}

/** The object in the version of its resource; undefined: a webhook is yet to convert it. */
const inVersion = (format: ObjectFormat, cached: CachedObject): CachedObject | undefined =>
  isUnconverted(format, cached.bytes) ? cached.converted : cached;
