import type { AdmissionChain, Awaitable, ResourceAuthorizer } from '../admission/index.ts';
import type { WatchCache } from '../cache/index.ts';
import {
  type Clock,
  type Features,
  type GroupResource,
  type Names,
  type Random,
  type Release,
  type ReviewHandler,
  StatusError,
  serverTurns,
  statusError,
  type Turns,
  type WriteCheck,
} from '../meta/index.ts';
import { type Store, StoreError } from '../store/index.ts';
import type { Catalog } from './resource/catalog.ts';
import type { CachedReads, ReferenceCheck, VirtualList } from './resource/definition.ts';
import type { Resource } from './resource/resource.ts';
import type { Observer } from './types.ts';
import type { OpenAllocations } from './write/allocator.ts';
import type { WriteQueue } from './write/write-queue.ts';

/** The parts of a registry that all verbs share. */
export interface RegistryContext {
  readonly store: Store;
  readonly queue: WriteQueue;
  readonly names: Names;
  readonly clock: Clock;
  readonly random: Random;
  readonly catalog: Catalog;
  readonly cachedReads: CachedReads;
  readonly admission: AdmissionChain;
  readonly authorize: ResourceAuthorizer;
  /** By virtual resource, such as `reviews.example.org`. */
  readonly reviewHandlers: ReadonlyMap<string, ReviewHandler>;
  /** The checks of creates and updates. */
  readonly writeChecks: ReadonlyMap<Resource, WriteCheck>;
  readonly referenceChecks: ReadonlyMap<Resource, ReferenceCheck>;
  /** By virtual resource. */
  readonly virtualLists: ReadonlyMap<string, VirtualList>;
  /** Undefined: kinds allocate nothing. */
  readonly openAllocations: OpenAllocations | undefined;
  /** Signs continue tokens. */
  readonly tokenKey: string;
  /** For how long after its first page a list can be continued consistently (ms); 0: without limit. */
  readonly historyMs: number;
  /** Whether `resourceVersionMatch=Exact` reads former versions of single objects. */
  readonly objectHistory: boolean;
  /** Maximum number of bytes that are buffered for a watch before it ends. */
  readonly watchBufferBytes: number;
  /** Minimum timeout in seconds of a watch without one; up to twice that at random, so that clients do not return together. */
  readonly watchSeconds: number;
  readonly features: Features;
  readonly observer: Observer;
  /** Whether a garbage collector runs. */
  readonly garbageCollector: boolean;
  readonly allowPrivileged: boolean;
  /** The oldest release that must be able to evaluate the expressions that are written. */
  readonly compatible: Release;
  /** The types of node addresses by which a kubelet is reached, the preferred one first. */
  readonly nodeAddresses: readonly string[];
}

/** Maximum time that a read waits for a future resourceVersion (ms). */
const maxWaitMs = 3_000;

/** The cache, once it has reached `revision`. @throws StatusError 504 when that takes too long, and its `failure` */
export async function waitForRevision(resource: Resource, revision: number): Promise<WatchCache> {
  const { cache } = resource.storage;
  if (cache.revision === 0) await cache.loaded();
  if (cache.revision < revision && !(await cache.reach(revision, maxWaitMs))) {
    throw cache.failure ?? tooLargeVersion(revision, cache.revision);
  }
  return cache;
}

/** The cache, once it holds every write that was committed before the call. */
export async function consistentCache(
  registry: Pick<RegistryContext, 'store'>,
  resource: Resource,
): Promise<WatchCache> {
  return waitForRevision(resource, await registry.store.revision());
}

/** The result of `find` on the cache, at once or when the cache is consistent. @throws StatusError 504 */
export const lookUp = <T>(
  registry: Pick<RegistryContext, 'store'>,
  resource: Resource,
  find: () => Awaitable<T> | undefined,
): Awaitable<T | undefined> =>
  (resource.storage.cache.revision === 0 ? undefined : find()) ?? consistentCache(registry, resource).then(find);

function tooLargeVersion(requested: number, current: number): StatusError {
  const message = 'Too large resource version';
  return new StatusError(504, 'Timeout', `Timeout: ${message}: ${requested}, current: ${current}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message }],
    retryAfterSeconds: 1,
  });
}

/** The outcome of `work` on a resource, with every failure as a StatusError. */
export function withStatusErrors<T>({ resource }: { readonly resource: Resource }, work: Promise<T>): Promise<T> {
  return work.catch((error) => {
    throw toStatusError(resource.id, error);
  });
}

/** The StatusError for any error, which is kept as its cause. */
export function toStatusError(id: GroupResource, error: unknown): StatusError {
  if (error instanceof StatusError) return error;
  if (!(error instanceof StoreError)) return statusError.internal('unexpected failure', error);
  switch (error.code) {
    case 'damaged':
      return statusError.damaged(id, error);
    case 'compacted':
      return statusError.expired('The resourceVersion for the provided list is too old.');
    case 'future':
      return tooLargeVersion(error.revision ?? 0, error.revision ?? 0);
    case 'invalid':
      return new StatusError(413, 'RequestEntityTooLarge', `Request entity too large: ${error.message}`, undefined, {
        cause: error,
      });
    case 'full':
      return new StatusError(
        503,
        'ServiceUnavailable',
        `the backing store is not available: ${error.message}`,
        { retryAfterSeconds: 1 },
        { cause: error },
      );
    case 'uncertain':
      // No Retry-After: clients repeat what carries it, and a write that took place must not be repeated unread.
      return new StatusError(504, 'Timeout', 'Timeout: the outcome of the request is not known', undefined, {
        cause: error,
      });
    case 'closed':
      return statusError.unavailable('the server is shutting down');
    default:
      return new StatusError(
        503,
        'ServiceUnavailable',
        'the backing store is not available',
        { retryAfterSeconds: 1 },
        { cause: error },
      );
  }
}

/** From this size on (bytes) a write or an encoding is long work, which runs in turns. */
export const largeBytes = 8 * 1024;

/** From this size on (bytes) the event of a watch is encoded in steps; smaller events share a chunk. */
export const largeEventBytes = 64 * 1024;

/** Options with the turns of a request. */
interface Timed {
  readonly turns?: Turns | undefined;
}

/** The turns of a write whose body and stored object have these sizes (bytes); undefined: it is short. */
export const turnsOf = ({ turns }: Timed, body: number, stored = 0): Turns | undefined =>
  body >= largeBytes || stored >= largeBytes ? (turns ?? serverTurns()) : undefined;
