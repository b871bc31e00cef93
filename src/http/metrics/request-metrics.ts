import { ownMetric } from '../../meta/index.ts';
import type { InFlight } from '../limits.ts';
import { exponentialBuckets, type MetricSet, requestBuckets } from './metric.ts';
import { createSeriesTable, type Place, type RequestCounts, type RequestMetrics } from './series.ts';

/** The connections of the listener. */
export interface ConnectionCounts {
  /** Open connections. */
  readonly open: number;
  /** Connections that were closed at once because their address had too many. */
  readonly refused: number;
  /** Connections that were closed because of too many resets, control frames, stray bytes or small pieces of bodies. */
  readonly flooded: number;
  /** TLS handshakes that failed. */
  readonly failedHandshakes: number;
}

const requestLabels = ['verb', 'group', 'version', 'resource', 'subresource', 'scope', 'component'];
const watchLabels = ['group', 'version', 'resource'];

/** Declares the metrics of requests, of the limits on them, and of connections. */
export function declareRequestMetrics(
  set: MetricSet,
  inFlight: InFlight,
  connections: () => ConnectionCounts,
  isServed: (place: Place) => boolean,
): RequestCounts {
  const total = set.counter({
    name: 'apiserver_request_total',
    stability: 'STABLE',
    help: 'Requests answered, by kind of request and HTTP status code.',
    labels: [...requestLabels, 'dry_run', 'code'],
  });
  const duration = set.histogram({
    name: 'apiserver_request_duration_seconds',
    stability: 'STABLE',
    help: 'Time from the request to the end of its answer.',
    labels: [...requestLabels, 'dry_run'],
    buckets: requestBuckets,
  });
  const ownDuration = set.histogram({
    name: 'apiserver_request_sli_duration_seconds',
    stability: 'ALPHA',
    help: 'Time from the request to the end of its answer, without the waits for a seat and for admission webhooks, and without dry runs.',
    labels: requestLabels,
    buckets: requestBuckets.filter((seconds) => seconds >= 0.05),
  });
  const size = set.histogram({
    name: 'apiserver_response_sizes',
    stability: 'STABLE',
    help: 'Bytes of the answers, before the transport.',
    labels: requestLabels,
    buckets: [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9],
  });
  const bodySize = set.histogram({
    name: 'apiserver_request_body_size_bytes',
    stability: 'ALPHA',
    help: 'Bytes of the bodies of requests for resources.',
    labels: ['group', 'resource', 'verb'],
    buckets: Array.from({ length: 31 }, (_, i) => 50_000 + i * 100_000),
  });
  const outcomes = declareOutcomeMetrics(set);
  set.observable({
    type: 'gauge',
    name: 'apiserver_current_inflight_requests',
    stability: 'STABLE',
    help: 'Requests under way, but for those that last long.',
    labels: ['request_kind'],
    read: () => [
      [{ request_kind: 'readOnly' }, inFlight.limits.readOnly.used],
      [{ request_kind: 'mutating' }, inFlight.limits.mutating.used],
    ],
  });
  const longRunning = set.gauge({
    name: 'apiserver_longrunning_requests',
    stability: 'STABLE',
    help: 'Watches, and requests that go on to nodes, under way.',
    labels: requestLabels,
  });
  declareLimitMetrics(set, inFlight);
  declareConnectionMetrics(set, connections);
  const watches = declareWatchMetrics(set);
  const metrics = { total, duration, ownDuration, size, bodySize, longRunning, ...outcomes, ...watches };
  return createSeriesTable(metrics, isServed);
}

function declareOutcomeMetrics(set: MetricSet): Pick<RequestMetrics, 'terminations' | 'aborts' | 'deprecated'> {
  const terminations = set.counter({
    name: 'apiserver_request_terminations_total',
    stability: 'ALPHA',
    help: 'Requests that were refused (429) or given up (408, 504) to protect the server.',
    labels: [...requestLabels, 'code'],
  });
  const aborts = set.counter({
    name: 'apiserver_request_aborts_total',
    stability: 'ALPHA',
    help: 'Answers that a failure broke off.',
    labels: requestLabels,
  });
  const deprecated = set.gauge({
    name: 'apiserver_requested_deprecated_apis',
    across: 'max',
    stability: 'STABLE',
    help: 'Gauge of deprecated APIs that have been requested, broken out by API group, version, resource, subresource, and removed_release.',
    labels: ['group', 'removed_release', 'resource', 'subresource', 'version'],
  });
  return { terminations, aborts, deprecated };
}

function declareWatchMetrics(set: MetricSet): Pick<RequestMetrics, 'watchEvents' | 'watchEventSizes'> {
  const watchEvents = set.counter({
    name: 'apiserver_watch_events_total',
    stability: 'ALPHA',
    help: 'Events sent to watchers.',
    labels: watchLabels,
  });
  const watchEventSizes = set.histogram({
    name: 'apiserver_watch_events_sizes',
    stability: 'ALPHA',
    help: 'Bytes of the events sent to watchers.',
    labels: watchLabels,
    buckets: exponentialBuckets(1024, 2, 8),
  });
  return { watchEvents, watchEventSizes };
}

function declareLimitMetrics(set: MetricSet, { limits }: InFlight): void {
  const declare = (
    name: string,
    type: 'counter' | 'gauge',
    help: string,
    read: (limit: InFlight['limits'][keyof InFlight['limits']]) => number,
  ) =>
    set.observable({
      type,
      name: ownMetric(name),
      stability: 'ALPHA',
      help,
      labels: ['limit'],
      *read() {
        for (const [name, limit] of Object.entries(limits)) {
          const value = read(limit);
          if (Number.isFinite(value)) yield [{ limit: name }, value];
        }
      },
    });
  declare(
    'limit_used',
    'gauge',
    'How much of each limit of requests is taken: requests of a kind, or bytes (receiving, unread, selectors).',
    ({ used }) => used,
  );
  declare('limit', 'gauge', 'Each limit of requests; absent where there is none.', ({ limit }) => limit);
  declare(
    'limit_refusals_total',
    'counter',
    'Requests refused with 429 because of a limit.',
    ({ refusals }) => refusals,
  );
}

function declareConnectionMetrics(set: MetricSet, connections: () => ConnectionCounts): void {
  const declare = (name: string, type: 'counter' | 'gauge', help: string, part: keyof ConnectionCounts) =>
    set.observable({ type, name, stability: 'ALPHA', help, read: () => [['', connections()[part]]] });
  declare(ownMetric('connections'), 'gauge', 'Open connections of clients.', 'open');
  declare(
    ownMetric('connections_refused_total'),
    'counter',
    'Connections that were closed at once because their address had too many.',
    'refused',
  );
  declare(
    ownMetric('connections_flooded_total'),
    'counter',
    'Connections that were ended because of a flood of resets, control frames, bytes that belong to no request, or small pieces of bodies.',
    'flooded',
  );
  declare(
    'apiserver_tls_handshake_errors_total',
    'counter',
    'TLS handshakes of clients that failed.',
    'failedHandshakes',
  );
}
