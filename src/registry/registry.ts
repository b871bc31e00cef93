import { type AdmissionPlugin, createChain, type ResourceAuthorizer } from '../admission/index.ts';
import {
  type Clock,
  defaultFeatures,
  type Features,
  type Names,
  type Random,
  StatusError,
  statusError,
} from '../meta/index.ts';
import type { Store } from '../store/index.ts';
import { cachedReads } from './cached-reads.ts';
import { connect } from './connect.ts';
import { type RegistryContext, withStatusErrors } from './context.ts';
import { encode } from './convert.ts';
import type { OpenAllocations, ResourceDefinition, ReviewHandler, Verb, VirtualList } from './definition.ts';
import { deleteCollection } from './delete-collection.ts';
import { get, list } from './read.ts';
import { makeResources, type Resource } from './resource.ts';
import { newEntry, serverObjects } from './server-objects.ts';
import type { Observer, Registry, Target } from './types.ts';
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
  /** Asked before an update or patch creates an object. */
  readonly authorize: ResourceAuthorizer;
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
  const registry = coreOf(options, { resources, cachedReads: cachedReads({ store, resources }), features, observer });
  const places = placesOf(resources);
  return {
    resources: resources.filter(({ definition }) => definition.versions.length > 0),
    find: (group, version, plural) => places.get(`${group}/${version}/${plural}`),
    get: async (target, read) => {
      allow(target, 'get');
      const { virtual } = target.resource.definition;
      return withStatusErrors(virtual === true ? getVirtual(registry, target) : get(registry, target, read));
    },
    list: async (target, read) => {
      allow(target, 'list');
      const { virtual } = target.resource.definition;
      return withStatusErrors(virtual === true ? listVirtual(registry, target, read) : list(registry, target, read));
    },
    watch: async (target, read) => {
      allow(target, 'watch');
      return withStatusErrors(watch(registry, target, read));
    },
    write: async (target, change, how) => {
      allow(target, change.verb);
      if (change.verb !== 'create') return withStatusErrors(write(registry, target, change, how));
      const action = createHandlerOf(target);
      if (action !== undefined) return withStatusErrors(handleCreate(registry, target, action, change, how));
      const reviewer = reviewHandlerOf(registry, target);
      if (reviewer !== undefined) return withStatusErrors(handleReview(registry, target, reviewer, change, how));
      return withStatusErrors(write(registry, target, change, how));
    },
    deleteCollection: async (target, read, deleteOptions, how) => {
      allow(target, 'deletecollection');
      return withStatusErrors(deleteCollection(registry, target, read, deleteOptions, how));
    },
    connect: async (target, call) => withStatusErrors(connect(registry, target, call)),
    newEntry: (resource, object, fieldManager) => newEntry(registry, resource, object, fieldManager),
    objects: serverObjects(registry),
    features,
    encode,
    close: made.close,
  };
}

function coreOf(
  { store, names, clock, random, admission, authorize, ...given }: RegistryOptions,
  made: Pick<RegistryContext, 'resources' | 'cachedReads' | 'features' | 'observer'>,
): RegistryContext {
  return {
    store,
    names,
    clock,
    random,
    admission: createChain(admission, { clock, timer: made.observer.admission }),
    authorize,
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

/** @throws StatusError 404 for a subresource that the kind does not have, 405 for a verb that is not served there */
function allow({ resource, subresource }: Target, verb: Verb): void {
  const { definition } = resource;
  const below = resource.subresources.get(subresource)?.declared;
  const served = subresource === '' ? definition : below;
  if (served === undefined) throw statusError.noSuchResource();
  if (!served.verbs.includes(verb)) throw statusError.methodNotAllowed();
  if (below !== undefined && ((verb === 'create' && below.onCreate === undefined) || below.connect !== undefined)) {
    throw new StatusError(501, '', `${definition.plural}/${subresource} is not served by this server`);
  }
}
