import { type AdmissionPlugin, createChain, type ResourceAuthorizer } from '../admission/index.ts';
import { WindowMemory } from '../cache/index.ts';
import {
  apiRelease,
  type Clock,
  compatibleRelease,
  defaultFeatures,
  type Features,
  formatGroupResource,
  type Names,
  type Random,
  type Release,
  type ReviewHandler,
  statusError,
  type WriteCheck,
} from '../meta/index.ts';
import type { Store } from '../store/index.ts';
import { type RegistryContext, withStatusErrors } from './context.ts';
import { cachedReads } from './read/cached-reads.ts';
import { follow } from './read/follow.ts';
import { createGet, list } from './read/read.ts';
import { listVirtual } from './read/virtual-list.ts';
import { createWatch } from './read/watch.ts';
import { createCatalog } from './resource/catalog.ts';
import { connect } from './resource/connect.ts';
import type { CachedReads, ReferenceCheck, ResourceDefinition, VirtualList } from './resource/definition.ts';
import type { Resource } from './resource/resource.ts';
import type { Change, Observer, Registry, Target, WriteOptions, WriteResult } from './types.ts';
import type { OpenAllocations } from './write/allocator.ts';
import { deleteCollection } from './write/delete-collection.ts';
import { newEntry, serverObjects } from './write/server-objects.ts';
import { createHandlerOf, handleCreate, handleReview, reviewHandlerOf } from './write/virtual-create.ts';
import { write } from './write/write.ts';
import { WriteQueue } from './write/write-queue.ts';

export interface RegistryOptions {
  readonly store: Store;
  readonly names: Names;
  readonly clock: Clock;
  readonly random: Random;
  readonly definitions: readonly ResourceDefinition[];
  /** Asked before an update or patch creates an object. */
  readonly authorize: ResourceAuthorizer;
  /** The plugins in the order in which they run. They read the objects of the registry. */
  readonly admission: (objects: CachedReads) => readonly AdmissionPlugin[];
  /**
   * Review handlers by virtual resource or subresource, such as `reviews.example.org` or `things.example.org/review`. A
   * create that has neither one nor a create handler fails with 501.
   */
  readonly reviewHandlers?: ReadonlyMap<string, ReviewHandler>;
  /** Checks of creates and updates by resource, such as `roles.rbac.authorization.example.org`. Dry runs are checked too. */
  readonly writeChecks?: ReadonlyMap<string, WriteCheck>;
  /** Checks after validation, in the same way. */
  readonly referenceChecks?: ReadonlyMap<string, ReferenceCheck>;
  /** The objects of virtual resources that can be read, by resource. */
  readonly virtualLists?: ReadonlyMap<string, VirtualList>;
  /** Opens the allocators of addresses and ports. Default: none, and nothing is allocated. */
  readonly openAllocations?: OpenAllocations;
  /** Signs continue tokens: one secret for all servers of a store. Default: a random one. */
  readonly tokenKey?: string;
  /**
   * How long the store keeps history (ms); 0: without limit. A list can be continued consistently for as long after
   * its first page. Default: 5 minutes.
   */
  readonly historyMs?: number;
  /** Whether `resourceVersionMatch=Exact` reads former versions of single objects. Default: it is ignored there. */
  readonly objectHistory?: boolean;
  /** How long events are kept for watches that start in the past (ms). Default: 5 minutes. */
  readonly windowMs?: number;
  /** Maximum size in bytes of the events that are kept for each resource. Default: 32 MiB. */
  readonly windowBytes?: number;
  /** Maximum number of bytes that are buffered for a watch before it ends. Default: 8 MiB. */
  readonly watchBufferBytes?: number;
  /** Minimum timeout in seconds of a watch without one; up to twice that at random. Default: 1800. */
  readonly watchSeconds?: number;
  /** Feature gates that are not at their default. */
  readonly features?: Partial<Features>;
  /** The release to serve: versions that it does not have are not served. Default: the latest one. */
  readonly release?: Release;
  /** The oldest release to which the control plane can be rolled back. Default: the one before the latest one. */
  readonly compatible?: Release;
  /** Whether a resource is served in a version. Default: in stable versions. Others may still be storage versions. */
  readonly serves?: (group: string, version: string, plural: string) => boolean;
  readonly observer?: Observer;
  /** Whether a garbage collector runs, which removes its finalizers. Default: false. */
  readonly garbageCollector?: boolean;
  /** Containers may be privileged. Default: they may not. */
  readonly allowPrivileged?: boolean;
  /** The types of node addresses by which a kubelet is reached, the preferred one first. Default: internal before external. */
  readonly nodeAddresses?: readonly string[];
}

/** Maximum size of the events that are kept for all resources (bytes). */
const maxWindowMemory = 256 * 1024 * 1024;

const nothing = () => {};
const noObserver: Observer = { admission: () => nothing, mismatch: nothing, ruleFailure: nothing, corrupt: nothing };

/** Every verb of every resource of the definitions, over one store. Nothing is read before the first request. */
export function createRegistry(options: RegistryOptions): Registry {
  const { store, names, clock, observer = noObserver } = options;
  const features = { ...defaultFeatures, ...options.features };
  const catalog = createCatalog(options.definitions, {
    store,
    names,
    clock,
    features,
    release: options.release ?? apiRelease,
    report: observer.corrupt,
    onRead: observer.read,
    onDamage: observer.damaged,
    serves: options.serves ?? ((_, version) => !/alpha|beta/.test(version)),
    windowMs: options.windowMs ?? 5 * 60_000,
    windowBytes: options.windowBytes ?? 32 * 1024 * 1024,
    windowMemory: new WindowMemory(maxWindowMemory),
  });
  const registry = contextOf(options, { catalog, cachedReads: cachedReads({ store, catalog }), features, observer });
  return {
    get resources() {
      return catalog.served;
    },
    onChange: catalog.onChange,
    damages: () => catalog.damages(),
    rowBytes: () => catalog.rowBytes(),
    find: catalog.find,
    resourceOf: catalog.findResource,
    install: catalog.install,
    remove: catalog.remove,
    get: createGet(registry),
    list: (target, read) => {
      const isVirtual = target.resource.definition.virtual === true;
      return withStatusErrors(target, isVirtual ? listVirtual(registry, target, read) : list(registry, target, read));
    },
    watch: createWatch(registry),
    write: (target, change, how) =>
      withStatusErrors(
        target,
        change.verb === 'create' ? create(registry, target, change, how) : write(registry, target, change, how),
      ),
    deleteCollection: (target, read, deleteOptions, how) =>
      withStatusErrors(target, deleteCollection(registry, target, read, deleteOptions, how)),
    connect: (target, call) => withStatusErrors(target, connect(registry, target, call)),
    newEntry: (resource, object, fieldManager) => newEntry(registry, resource, object, fieldManager),
    objects: serverObjects(registry),
    features,
    follow: async (id, follower, options) => {
      const resource = catalog.findResource(id);
      if (resource === undefined) throw statusError.noSuchResource();
      return withStatusErrors({ resource }, follow(resource, follower, options));
    },
    forget: async (revision) => {
      const storages = new Set(catalog.resources.map(({ storage }) => storage));
      await Promise.all([...storages].map((storage) => storage.forget(revision)));
    },
    close: catalog.close,
  };
}

/** A create may be carried out by a handler, which stores nothing or something else. */
async function create(
  registry: RegistryContext,
  target: Target,
  change: Change & { readonly verb: 'create' },
  how: WriteOptions,
): Promise<WriteResult> {
  const createHandler = createHandlerOf(target);
  if (createHandler !== undefined) return handleCreate(registry, target, createHandler, change, how);
  const reviewHandler = reviewHandlerOf(registry, target);
  if (reviewHandler !== undefined) return handleReview(registry, target, reviewHandler, change, how);
  return write(registry, target, change, how);
}

function contextOf(
  { store, names, clock, random, admission, authorize, ...options }: RegistryOptions,
  parts: Pick<RegistryContext, 'catalog' | 'cachedReads' | 'features' | 'observer'>,
): RegistryContext {
  return {
    store,
    queue: new WriteQueue(clock),
    names,
    clock,
    random,
    admission: createChain(admission(parts.cachedReads), { clock, timer: parts.observer.admission }),
    authorize,
    reviewHandlers: options.reviewHandlers ?? new Map(),
    writeChecks: byResource(parts.catalog.resources, options.writeChecks),
    referenceChecks: byResource(parts.catalog.resources, options.referenceChecks),
    virtualLists: options.virtualLists ?? new Map(),
    openAllocations: options.openAllocations,
    tokenKey: options.tokenKey ?? random.uuid() + random.uuid(),
    historyMs: options.historyMs ?? 5 * 60_000,
    objectHistory: options.objectHistory ?? false,
    watchBufferBytes: options.watchBufferBytes ?? 8 * 1024 * 1024,
    watchSeconds: options.watchSeconds ?? 1_800,
    garbageCollector: options.garbageCollector ?? false,
    allowPrivileged: options.allowPrivileged ?? false,
    compatible: options.compatible ?? compatibleRelease,
    nodeAddresses: options.nodeAddresses ?? ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP'],
    ...parts,
  };
}

function byResource<T>(
  resources: readonly Resource[],
  checks: ReadonlyMap<string, T> = new Map(),
): ReadonlyMap<Resource, T> {
  const found = new Map<Resource, T>();
  for (const resource of resources) {
    const check = checks.get(formatGroupResource(resource.id));
    if (check !== undefined) found.set(resource, check);
  }
  return found;
}
