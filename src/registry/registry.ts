import { type AdmissionPlugin, createChain, type NamespaceLookup } from '../admission/index.ts';
import { type Clock, defaultFeatures, type Features, type Names, type Random } from '../meta/index.ts';
import type { Store } from '../store/index.ts';
import { connect } from './connect.ts';
import { consistentCache, type RegistryContext, toStatusError } from './context.ts';
import { encode } from './convert.ts';
import type { OpenAllocations, ResourceDefinition, ReviewHandler, VirtualList } from './definition.ts';
import { deleteCollection } from './delete-collection.ts';
import { newEntry } from './objects.ts';
import { get, list } from './read.ts';
import { makeResources, type Resource } from './resource.ts';
import type { Observer, Registry } from './types.ts';
import { checkServed } from './verbs.ts';
import { createHandlerOf, handleCreate, handleReview, reviewHandlerOf } from './virtual-create.ts';
import { getVirtual, listVirtual } from './virtual-list.ts';
import { watch } from './watch.ts';
import { write } from './write.ts';

export interface RegistryOptions {
  readonly store: Store;
  readonly names: Names;
  readonly clock: Clock;
  readonly random: Random;
  readonly definitions: readonly ResourceDefinition[];
  /** In the order in which they see a write. */
  readonly admission: readonly AdmissionPlugin[];
  /**
   * What is answered to what is posted to a virtual resource, by the resource, such as `reviews.example.org`: a virtual
   * resource that neither acts nor is in here is not served.
   */
  readonly reviewHandlers?: ReadonlyMap<string, ReviewHandler>;
  /** The objects of the virtual resources that can be read, named likewise. */
  readonly virtualLists?: ReadonlyMap<string, VirtualList>;
  /** Where kinds take what there is once only, such as addresses. Default: nowhere, and they do without. */
  readonly openAllocations?: OpenAllocations;
  /** Signs the tokens that continue lists: one secret for all servers over a store. Default: one of its own. */
  readonly tokenKey?: string;
  /**
   * For how long the store keeps history (ms), for ever when 0: a list can be continued consistently for as long after it
   * began. Default: 5 minutes.
   */
  readonly historyMs?: number;
  /** How long changes are kept for watches that start in the past (ms). Default: 5 minutes. */
  readonly windowMs?: number;
  /** At most so many bytes of them for each resource. Default: 32 MiB. */
  readonly windowBytes?: number;
  /** How much may pile up before a watcher until it is cut off. Default: 8 MiB. */
  readonly watchBufferBytes?: number;
  /** A watch that sets no end of its own ends after so many seconds, and up to twice that. Default: 1800. */
  readonly watchSeconds?: number;
  /** Default: every feature as it is when nobody switches it. */
  readonly features?: Partial<Features>;
  /** Whether a resource is served in a version. Default: in released versions. What is not served may still be what is stored. */
  readonly serves?: (group: string, version: string, plural: string) => boolean;
  readonly observer?: Observer;
  /** A garbage collector follows the objects, and takes away the finalizers that it is to see. Default: none does. */
  readonly garbageCollector?: boolean;
  /** Containers may be privileged. Default: they may not. */
  readonly allowPrivileged?: boolean;
  /** The types of a node's addresses, by how well they serve to reach its agent. Default: inside ones before outside ones. */
  readonly nodeAddresses?: readonly string[];
}

const nothing = () => {};
const blind: Observer = { admission: () => nothing, mismatch: nothing, ruleFailure: nothing, corrupt: nothing };

/** Every verb on every resource of the definitions, over one store. Nothing is read before it is asked for. */
export function createRegistry(options: RegistryOptions): Registry {
  const { store, names, clock, observer = blind } = options;
  const features = { ...defaultFeatures, ...options.features };
  const made = makeResources(options.definitions, {
    store,
    names,
    clock,
    features,
    report: observer.corrupt,
    serves: options.serves ?? ((_, version) => !/alpha|beta/.test(version)),
    windowMs: options.windowMs ?? 5 * 60_000,
    windowBytes: options.windowBytes ?? 32 * 1024 * 1024,
  });
  const { resources } = made;
  const registry = coreOf(options, { resources, features, observer });
  const places = placesOf(resources);
  return {
    resources: resources.filter(({ definition }) => definition.versions.length > 0),
    find: (group, version, plural) => places.get(`${group}/${version}/${plural}`),
    get: async (target, read) => {
      checkServed(target, 'get');
      const { virtual } = target.resource.definition;
      return answer(virtual === true ? getVirtual(registry, target) : get(registry, target, read));
    },
    list: async (target, read) => {
      checkServed(target, 'list');
      const { virtual } = target.resource.definition;
      return answer(virtual === true ? listVirtual(registry, target, read) : list(registry, target, read));
    },
    watch: async (target, read) => {
      checkServed(target, 'watch');
      return answer(watch(registry, target, read));
    },
    write: async (target, change, how) => {
      checkServed(target, change.verb);
      if (change.verb !== 'create') return answer(write(registry, target, change, how));
      const action = createHandlerOf(target);
      if (action !== undefined) return answer(handleCreate(registry, target, action, change, how));
      const reviewer = reviewHandlerOf(registry, target);
      if (reviewer !== undefined) return answer(handleReview(registry, target, reviewer, change, how));
      return answer(write(registry, target, change, how));
    },
    deleteCollection: async (target, read, deleteOptions, how) => {
      checkServed(target, 'deletecollection');
      return answer(deleteCollection(registry, target, read, deleteOptions, how));
    },
    connect: async (target, call) => answer(connect(registry, target, call)),
    newEntry: (resource, object, fieldManager) => newEntry(registry, resource, object, fieldManager),
    features,
    encode,
    close: made.close,
  };
}

function coreOf(
  { store, names, clock, random, admission, ...given }: RegistryOptions,
  made: Pick<RegistryContext, 'resources' | 'features' | 'observer'>,
): RegistryContext {
  return {
    store,
    names,
    clock,
    random,
    admission: createChain(admission, { clock, timer: made.observer.admission }),
    reviewHandlers: given.reviewHandlers ?? new Map(),
    virtualLists: given.virtualLists ?? new Map(),
    openAllocations: given.openAllocations,
    tokenKey: given.tokenKey ?? random.uuid() + random.uuid(),
    historyMs: given.historyMs ?? 5 * 60_000,
    watchBufferBytes: given.watchBufferBytes ?? 8 * 1024 * 1024,
    watchSeconds: given.watchSeconds ?? 1_800,
    garbageCollector: given.garbageCollector ?? false,
    allowPrivileged: given.allowPrivileged ?? false,
    nodeAddresses: given.nodeAddresses ?? ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP'],
    ...made,
  };
}

/** Resources by group, version and plural name, as they are served. */
function placesOf(resources: readonly Resource[]): ReadonlyMap<string, Resource> {
  const places = new Map<string, Resource>();
  for (const resource of resources) {
    const { group, plural, versions } = resource.definition;
    for (const { version } of versions) places.set(`${group}/${version}/${plural}`, resource);
  }
  return places;
}

/** The one place where failures of the store, and those that should not be, become what a client is told. */
async function answer<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw toStatusError(error);
  }
}

/** What the registry's own namespaces say of a name, for the plugin that asks. It may be used before the registry is there. */
export function namespaceLookup(registry: () => Registry, store: Store): NamespaceLookup {
  return (name) => {
    const resource = registry().find('', 'v1', 'namespaces');
    if (resource === undefined) return { terminating: false };
    const { cache, keyPrefix } = resource;
    const state = () => {
      const found = cache.snapshot().get(keyPrefix + name);
      return found === undefined ? undefined : { terminating: found.fields['status.phase'] === 'Terminating' };
    };
    // One that was seen is there, or was a moment ago; of one that was not the store may know more.
    return (cache.revision === 0 ? undefined : state()) ?? consistentCache({ store }, resource).then(state);
  };
}
