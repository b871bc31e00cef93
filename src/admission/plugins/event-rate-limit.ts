import { aggregateMessages, StatusError } from '../../meta/index.ts';
import { Event } from '../../types/core-v1.ts';
import type { EventLimit } from '../configuration/kinds.ts';
import { on, typedRequest } from '../request.ts';
import type { AdmissionPlugin, AdmissionRequest, PluginInitializer } from '../types.ts';

type Initializer = Pick<PluginInitializer, 'clock' | 'configurations'>;

/** The tokens of a bucket when it was used last. */
interface Bucket {
  tokens: number;
  last: number;
}

/** How many buckets a limit keeps when it does not say so itself. */
const defaultCacheSize = 4096;

/** Limits the writes of events, those of a dry run aside: a request that exceeds any limit is answered with 429. */
export function eventRateLimit({ clock, configurations }: Initializer): AdmissionPlugin {
  const limits = (configurations.EventRateLimit?.limits ?? []).map((limit) => limiter(limit, clock));
  return {
    name: 'EventRateLimit',
    handles: on(['CREATE', 'UPDATE'], 'events'),
    validate: (request) => {
      if (request.dryRun) return;
      const refusals = limits.flatMap((limit) => limit(request) ?? []);
      if (refusals.length === 0) return;
      // Without a time to try again: event recorders would wait for it and hold back all other events.
      throw new StatusError(429, 'TooManyRequests', `Too many requests: ${aggregateMessages(refusals)}`);
    },
  };
}

/** Takes a token for each request, or returns why there is none. */
function limiter(
  { type = '', qps = 0, burst = 0, cacheSize }: EventLimit,
  clock: Initializer['clock'],
): (request: AdmissionRequest) => string | undefined {
  const keyOf = keys.get(type) ?? serverKey;
  const size = cacheSize || defaultCacheSize;
  // The bucket that was used last is the last one.
  const buckets = new Map<string, Bucket>();
  return (request) => {
    const key = keyOf(request);
    const now = clock.monotonic();
    const bucket = buckets.get(key) ?? { tokens: burst, last: now };
    buckets.delete(key);
    buckets.set(key, bucket);
    const [oldest] = buckets.keys();
    if (buckets.size > size && oldest !== undefined) buckets.delete(oldest);
    bucket.tokens = Math.min(burst, bucket.tokens + ((now - bucket.last) / 1_000) * qps);
    bucket.last = now;
    if (bucket.tokens >= 1) {
      bucket.tokens -= 1;
      return undefined;
    }
    return `limit reached on type ${type} for key ${key}`;
  };
}

const serverKey = () => '';

/** The key by which each type of limit counts. */
const keys = new Map<string, (request: AdmissionRequest) => string>([
  ['Server', serverKey],
  ['Namespace', ({ namespace }) => namespace],
  ['User', ({ user }) => user.name],
  ['SourceAndObject', sourceAndObject],
]);

function sourceAndObject(request: AdmissionRequest): string {
  const { source = {}, involvedObject: object = {} } = typedRequest(Event, request).object ?? {};
  const { kind, namespace, name, uid, apiVersion } = object;
  return [source.component, source.host, kind, namespace, name, uid, apiVersion].join('');
}
