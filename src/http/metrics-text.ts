import type { Metric } from 'prom-client';
import { featureList, featureMetric } from '../meta/index.ts';
import {
  admissionBounds,
  type Counted,
  type Distribution,
  distribution,
  durationBounds,
  sizeBounds,
} from './counters.ts';

interface Value {
  readonly labels: { readonly [label: string]: string | number };
  readonly value: number;
  readonly metricName?: string;
}

/** A metric as data: its values are read when someone asks. */
interface Reading {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly values: (counted: Counted) => Value[];
}

/** Loads the metrics library and hands it every reading; the result makes the text of the moment. */
export async function renderMetrics(counted: Counted): Promise<() => Promise<string>> {
  const { Registry } = await import('prom-client');
  const collection = new Registry();
  for (const { name, help, type, values } of readings) {
    const metric = {
      name,
      get: () => Promise.resolve({ name, help, type, values: values(counted), aggregator: 'sum' }),
    };
    // The library takes whatever has a name and can be got.
    collection.registerMetric(metric as unknown as Metric);
  }
  return () => collection.metrics();
}

const readings: readonly Reading[] = [
  {
    name: 'apiserver_request_total',
    help: 'Requests answered, by kind of request and HTTP status code.',
    type: 'counter',
    values: ({ series }) =>
      [...series].flatMap(({ labels, codes }) =>
        [...codes].map(([code, value]) => ({ labels: { ...labels, code }, value })),
      ),
  },
  {
    name: 'apiserver_request_duration_seconds',
    help: 'Time from the request to the end of its answer.',
    type: 'histogram',
    values: ({ series }) =>
      [...series].flatMap((one) =>
        histogram('apiserver_request_duration_seconds', one.labels, one.duration, durationBounds),
      ),
  },
  {
    name: 'apiserver_response_sizes',
    help: 'Bytes of the answers, before the transport.',
    type: 'histogram',
    values: ({ series }) =>
      [...series]
        .filter(({ labels }) => labels['verb'] !== 'WATCH')
        .flatMap((one) => histogram('apiserver_response_sizes', one.labels, one.size, sizeBounds)),
  },
  {
    name: 'apiserver_watch_events_total',
    help: 'Events sent to watchers.',
    type: 'counter',
    values: ({ series }) =>
      [...series]
        .filter(({ labels }) => labels['verb'] === 'WATCH')
        .map(({ labels, watchEvents }) => ({ labels: resourceLabels(labels), value: watchEvents })),
  },
  {
    name: 'apiserver_current_inflight_requests',
    help: 'Requests under way, but for those that last long.',
    type: 'gauge',
    values: ({ inFlight: { counts } }) => [
      { labels: { request_kind: 'readOnly' }, value: counts.readOnly },
      { labels: { request_kind: 'mutating' }, value: counts.mutating },
    ],
  },
  {
    name: 'apiserver_longrunning_requests',
    help: 'Watches, and requests that go on to nodes, under way.',
    type: 'gauge',
    values: ({ inFlight }) => [
      { labels: { verb: 'WATCH', component: 'apiserver' }, value: inFlight.counts.longRunning },
      { labels: { verb: 'CONNECT', component: 'apiserver' }, value: inFlight.counts.relayed },
    ],
  },
  {
    name: 'apiserver_storage_objects',
    help: 'Objects stored, by resource.',
    type: 'gauge',
    values: ({ registry }) =>
      registry()
        .resources.filter(({ definition }) => definition.verbs.includes('watch'))
        .map(({ definition, keyPrefix, cache }) => ({
          labels: {
            resource: definition.group === '' ? definition.plural : `${definition.plural}.${definition.group}`,
          },
          value: cache.snapshot().count(keyPrefix),
        })),
  },
  {
    name: 'authentication_attempts',
    help: 'Attempts to authenticate, by result.',
    type: 'counter',
    values: ({ authentication }) => [...authentication].map(([result, value]) => ({ labels: { result }, value })),
  },
  {
    name: 'apiserver_authorization_decisions_total',
    help: 'Decisions on what a requester may do.',
    type: 'counter',
    values: ({ authorization }) => [...authorization].map(([decision, value]) => ({ labels: { decision }, value })),
  },
  {
    name: 'apiserver_admission_controller_admission_duration_seconds',
    help: 'Time that admission plugins took.',
    type: 'histogram',
    values: ({ admission }) =>
      admissionTimes('apiserver_admission_controller_admission_duration_seconds', admission, true),
  },
  {
    name: 'apiserver_admission_step_admission_duration_seconds',
    help: 'Time that all admission plugins of a step took together.',
    type: 'histogram',
    values: ({ admission }) => admissionTimes('apiserver_admission_step_admission_duration_seconds', admission, false),
  },
  {
    name: 'apiserver_validation_declarative_validation_mismatch_total',
    help: 'Differences between what declared rules find and those written by hand.',
    type: 'counter',
    values: ({ rules }) => plain(rules.mismatches),
  },
  {
    name: 'apiserver_validation_declarative_validation_panic_total',
    help: 'Failures of declared rules.',
    type: 'counter',
    values: ({ rules }) => plain(rules.failures),
  },
  {
    name: featureMetric,
    help: 'Features by stage: 1 for those that are on, 0 for the others.',
    type: 'gauge',
    values: ({ registry }) => {
      const { features } = registry();
      return featureList.map(([name, { stage }]) => ({
        labels: { name, stage: stage === 'stable' ? '' : stage.toUpperCase() },
        value: features[name] ? 1 : 0,
      }));
    },
  },
  {
    name: 'workqueue_depth',
    help: 'Work that waits in the queues of controllers.',
    type: 'gauge',
    values: () => [],
  },
  {
    name: 'process_cpu_seconds_total',
    help: 'Processor time spent, user and system.',
    type: 'counter',
    values: () => {
      const { user, system } = process.cpuUsage();
      return plain((user + system) / 1e6);
    },
  },
  {
    name: 'process_resident_memory_bytes',
    help: 'Resident memory.',
    type: 'gauge',
    values: () => plain(process.memoryUsage.rss()),
  },
  {
    name: 'process_start_time_seconds',
    help: 'When the server began, in seconds since 1970.',
    type: 'gauge',
    values: ({ startTime }) => plain(startTime),
  },
];

/** What was seen at least once; before that there is one without labels, as for every histogram. */
function admissionTimes(name: string, admission: Counted['admission'], ofPlugins: boolean): Value[] {
  const seen = [...admission].filter(
    ({ plugin, seconds }) => plugin === ofPlugins && seconds.counts.some((count) => count > 0),
  );
  const none = { labels: {}, seconds: distribution(admissionBounds) };
  return (seen.length === 0 ? [none] : seen).flatMap(({ labels, seconds }) =>
    histogram(name, labels, seconds, admissionBounds),
  );
}

const plain = (value: number): Value[] => [{ labels: {}, value }];

function resourceLabels(labels: Value['labels']): Value['labels'] {
  return { group: labels['group'] ?? '', version: labels['version'] ?? '', resource: labels['resource'] ?? '' };
}

/** The cumulative buckets, the sum and the count. */
function histogram(
  name: string,
  labels: Value['labels'],
  distribution: Distribution,
  bounds: readonly number[],
): Value[] {
  const values: Value[] = [];
  let total = 0;
  distribution.counts.forEach((count, i) => {
    total += count;
    values.push({ metricName: `${name}_bucket`, labels: { ...labels, le: bounds[i] ?? '+Inf' }, value: total });
  });
  values.push({ metricName: `${name}_sum`, labels, value: distribution.sum });
  values.push({ metricName: `${name}_count`, labels, value: total });
  return values;
}
