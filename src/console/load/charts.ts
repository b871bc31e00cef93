/** The curves of the load page, as data: what each shows of two scrapes of the metrics. */
import type { TextKey } from '../texts.ts';
import { quantileBetween, type Sample, sumsBy } from './metrics-text.ts';

export interface Scrape {
  /** When it was read (s since 1970). */
  readonly time: number;
  readonly samples: readonly Sample[];
}

/** The values of the series of a chart, by their names. */
export type Values = ReadonlyMap<string, number>;

export interface Chart {
  readonly title: TextKey;
  readonly values: (now: Scrape, before: Scrape) => Values;
}

const requests = 'apiserver_request_total';
const durations = 'apiserver_request_duration_seconds_bucket';
const longRunning = 'apiserver_longrunning_requests';
const seats = 'apiserver_flowcontrol_current_executing_seats';
const queued = 'apiserver_flowcontrol_current_inqueue_requests';
const dispatched = 'apiserver_flowcontrol_dispatched_requests_total';
const storage = 'apiserver_storage_size_bytes';
const memory = 'process_resident_memory_bytes';

/** The metrics that the charts need. */
export const chartMetrics: ReadonlySet<string> = new Set([
  requests,
  durations,
  longRunning,
  seats,
  queued,
  dispatched,
  storage,
  memory,
]);

/** Requests of these verbs last as long as the client wants. */
const endless: ReadonlySet<string> = new Set(['WATCH', 'WATCHLIST', 'CONNECT']);

export const charts: readonly Chart[] = [
  { title: 'requestsPerSecond', values: (now, before) => ratesBy(now, before, requests, 'verb') },
  { title: 'requestsByFlow', values: (now, before) => ratesBy(now, before, dispatched, 'flow_schema') },
  {
    title: 'latency',
    values: (now, before) =>
      byVerb(now, before, (earlier, later) => {
        const seconds = quantileBetween(earlier, later, 0.99);
        return seconds === undefined ? undefined : seconds * 1000;
      }),
  },
  {
    title: 'slowRequests',
    values: (now, before) =>
      byVerb(now, before, (earlier, later) => (slowIn(later) - slowIn(earlier)) / secondsBetween(now, before)),
  },
  {
    title: 'watches',
    values: ({ samples }) => new Map([...sumsBy(samples, longRunning, 'verb')].filter(([verb]) => endless.has(verb))),
  },
  { title: 'seats', values: ({ samples }) => sumsBy(samples, seats, 'priority_level') },
  { title: 'queued', values: ({ samples }) => sumsBy(samples, queued, 'priority_level') },
  { title: 'storeSize', values: ({ samples }) => mebibytes(sumsBy(samples, storage, '')) },
  { title: 'memory', values: ({ samples }) => mebibytes(sumsBy(samples, memory, '')) },
];

const secondsBetween = (now: Scrape, before: Scrape): number => Math.max(now.time - before.time, 0.001);

/** How much a counter grew per second, by one of its labels. */
function ratesBy(now: Scrape, before: Scrape, name: string, label: string): Values {
  const earlier = sumsBy(before.samples, name, label);
  const seconds = secondsBetween(now, before);
  return new Map(
    [...sumsBy(now.samples, name, label)].map(([key, count]) => [key, (count - (earlier.get(key) ?? 0)) / seconds]),
  );
}

/** The cumulative counts of a histogram by the upper bound of each bucket. */
type Buckets = ReadonlyMap<string, number>;

/** The number of requests that took more than a second. */
const slowIn = (buckets: Buckets): number => (buckets.get('+Inf') ?? 0) - (buckets.get('1') ?? 0);

/** A value computed from the durations of requests at two scrapes, by verb, without endless requests. Undefined: none. */
function byVerb(now: Scrape, before: Scrape, value: (earlier: Buckets, later: Buckets) => number | undefined): Values {
  const verbs = new Set(now.samples.map(({ labels }) => labels.get('verb') ?? ''));
  const buckets = ({ samples }: Scrape, verb: string) =>
    sumsBy(
      samples.filter(({ labels }) => labels.get('verb') === verb),
      durations,
      'le',
    );
  return new Map(
    [...verbs]
      .filter((verb) => verb !== '' && !endless.has(verb))
      .flatMap((verb) => {
        const found = value(buckets(before, verb), buckets(now, verb));
        return found === undefined ? [] : [[verb, found] as const];
      }),
  );
}

/** Bytes as MiB, under that name. */
const mebibytes = (values: Values): Values => new Map([...values.values()].map((bytes) => ['MiB', bytes / 2 ** 20]));
