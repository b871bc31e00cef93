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
const memory = 'process_resident_memory_bytes';

/** The metrics that the charts need. */
export const chartMetrics: ReadonlySet<string> = new Set([requests, durations, longRunning, seats, queued, memory]);

/** Requests of these verbs last as long as the client wants. */
const endless: ReadonlySet<string> = new Set(['WATCH', 'WATCHLIST', 'CONNECT']);

export const charts: readonly Chart[] = [
  {
    title: 'requestsPerSecond',
    values: (now, before) => {
      const earlier = sumsBy(before.samples, requests, 'verb');
      const seconds = Math.max(now.time - before.time, 0.001);
      return mapped(
        sumsBy(now.samples, requests, 'verb'),
        (count, verb) => (count - (earlier.get(verb) ?? 0)) / seconds,
      );
    },
  },
  {
    title: 'latency',
    values: (now, before) => {
      const verbs = new Set(now.samples.map(({ labels }) => labels.get('verb') ?? '').filter((verb) => verb !== ''));
      const buckets = ({ samples }: Scrape, verb: string) =>
        sumsBy(
          samples.filter(({ labels }) => labels.get('verb') === verb),
          durations,
          'le',
        );
      const found = [...verbs]
        .filter((verb) => !endless.has(verb))
        .map((verb) => [verb, quantileBetween(buckets(before, verb), buckets(now, verb), 0.99)] as const);
      return new Map(found.flatMap(([verb, seconds]) => (seconds === undefined ? [] : [[verb, seconds * 1000]])));
    },
  },
  {
    title: 'watches',
    values: ({ samples }) => new Map([...sumsBy(samples, longRunning, 'verb')].filter(([verb]) => endless.has(verb))),
  },
  { title: 'seats', values: ({ samples }) => sumsBy(samples, seats, 'priority_level') },
  { title: 'queued', values: ({ samples }) => sumsBy(samples, queued, 'priority_level') },
  {
    title: 'memory',
    values: ({ samples }) => mapped(sumsBy(samples, memory, ''), (bytes) => bytes / 2 ** 20, 'MiB'),
  },
];

const mapped = (values: Values, change: (value: number, name: string) => number, unnamed = ''): Values =>
  new Map([...values].map(([name, value]) => [name === '' ? unnamed : name, change(value, name)]));
