import type { AdmissionChain, ResourceAuthorizer } from '../admission/index.ts';
import type { WatchCache } from '../cache/index.ts';
import { type Clock, type Features, type Names, type Random, StatusError, statusError } from '../meta/index.ts';
import { type Store, StoreError } from '../store/index.ts';
import type { CachedReads, OpenAllocations, ReviewHandler, VirtualList } from './definition.ts';
import type { Resource } from './resource.ts';
import type { Observer } from './types.ts';

/** What every verb works with. */
export interface RegistryContext {
  readonly store: Store;
  readonly names: Names;
  readonly clock: Clock;
  readonly random: Random;
  readonly resources: readonly Resource[];
  readonly cachedReads: CachedReads;
  readonly admission: AdmissionChain;
  readonly authorize: ResourceAuthorizer;
  /** By the resource to which something is posted. */
  readonly reviewHandlers: ReadonlyMap<string, ReviewHandler>;
  /** By the resource that is read. */
  readonly virtualLists: ReadonlyMap<string, VirtualList>;
  /** Undefined: kinds claim nothing. */
  readonly openAllocations: OpenAllocations | undefined;
  /** Signs the tokens that continue lists. */
  readonly tokenKey: string;
  /** For how long after it began a list can be continued consistently (ms); for ever when 0. */
  readonly historyMs: number;
  /** How much may pile up before a watcher until it is cut off. */
  readonly watchBufferBytes: number;
  /** A watch that sets no end of its own ends after so many seconds, and up to twice that: clients shall not all come back at once. */
  readonly watchSeconds: number;
  readonly features: Features;
  readonly observer: Observer;
  /** A garbage collector follows the objects. */
  readonly garbageCollector: boolean;
  readonly allowPrivileged: boolean;
  /** The types of a node's addresses, by how well they serve to reach its agent. */
  readonly nodeAddresses: readonly string[];
}

/** How long a read waits for a version that is not there yet (ms). */
const patienceMs = 3_000;

/** The cache, once it holds everything up to `revision`. @throws StatusError 504 when that takes too long */
export async function waitForRevision(resource: Resource, revision: number): Promise<WatchCache> {
  const { cache } = resource;
  if (cache.revision === 0) await cache.loaded();
  if (cache.revision < revision && !(await cache.reach(revision, patienceMs))) {
    throw tooLargeVersion(revision, cache.revision);
  }
  return cache;
}

/** The cache, once it holds every write that was answered before the call. */
export async function consistentCache(
  registry: Pick<RegistryContext, 'store'>,
  resource: Resource,
): Promise<WatchCache> {
  return waitForRevision(resource, await registry.store.revision());
}

function tooLargeVersion(wanted: number, current: number): StatusError {
  const message = 'Too large resource version';
  return new StatusError(504, 'Timeout', `Timeout: ${message}: ${wanted}, current: ${current}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message }],
    retryAfterSeconds: 1,
  });
}

/** The outcome of `work`, with every failure as a StatusError. */
export async function withStatusErrors<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw toStatusError(error);
  }
}

/** What a client is told of any failure. The store's own words are kept as the cause. */
export function toStatusError(error: unknown): StatusError {
  if (error instanceof StatusError) return error;
  if (!(error instanceof StoreError)) return statusError.internal('unexpected failure', error);
  switch (error.code) {
    case 'compacted':
      return statusError.expired('The resourceVersion for the provided list is too old.');
    case 'future':
      return tooLargeVersion(error.revision ?? 0, error.revision ?? 0);
    case 'invalid':
      return new StatusError(413, 'RequestEntityTooLarge', `Request entity too large: ${error.message}`, undefined, {
        cause: error,
      });
    case 'uncertain':
      return new StatusError(
        504,
        'Timeout',
        'Timeout: the outcome of the request is not known',
        { retryAfterSeconds: 1 },
        { cause: error },
      );
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
