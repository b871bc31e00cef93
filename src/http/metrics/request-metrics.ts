import { STATUS_CODES } from 'node:http';
import { ownMetric } from '../../meta/index.ts';
import type { Resource } from '../../registry/index.ts';
import type { InFlight } from '../limits.ts';
import type { RequestInfo } from '../request-info.ts';
import { exponentialBuckets, type Histogram, type MetricSet, requestBuckets, type ValueMetric } from './metric.ts';
import { type Distribution, labelText, type Value } from './series.ts';

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

/** The metrics that a request updates. */
interface RequestMetrics {
  readonly total: ValueMetric;
  readonly duration: Histogram;
  readonly ownDuration: Histogram;
  readonly size: Histogram;
  readonly bodySize: Histogram;
  readonly terminations: ValueMetric;
  readonly aborts: ValueMetric;
  readonly deprecated: ValueMetric;
  readonly longRunning: ValueMetric;
  readonly watchEvents: ValueMetric;
  readonly watchEventSizes: Histogram;
}

/**
 * Finds the series of a request, once for each request. `resource`: the one that is served at its path. `contentType`: of its
 * body.
 */
export type FindSeries = (info: RequestInfo, resource: Resource | undefined, contentType?: string) => RequestSeries;

export interface RequestCounts {
  readonly series: FindSeries;
  /** Forgets the requests so far, those that are in progress aside. */
  readonly reset: () => void;
}

/** Declares the metrics of requests, of the limits on them, and of connections. */
export function declareRequestMetrics(
  set: MetricSet,
  inFlight: InFlight,
  connections: () => ConnectionCounts,
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
  return createSeriesTable({ total, duration, ownDuration, size, bodySize, longRunning, ...outcomes, ...watches });
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

/** The events that are sent to all watches of a resource. */
export class WatchSeries {
  readonly #events: Value;
  readonly #sizes: Distribution;

  constructor({ watchEvents, watchEventSizes }: RequestMetrics, { group, version, resource }: Place) {
    const labels = labelText({ group, version, resource });
    this.#events = watchEvents.series(labels);
    this.#sizes = watchEventSizes.series(labels);
  }

  /** Counts an event. `size` in bytes. */
  countEvent(size: number): void {
    this.#events.value++;
    this.#sizes.observe(size);
  }
}

/** The requests of one label set. */
export class RequestSeries {
  /** In the text format: `verb="GET",group="",…`. */
  readonly labels: string;
  /** Watches and proxied requests in progress; undefined for other requests. */
  readonly longRunning: Value | undefined;
  /** Undefined for other requests than watches. */
  readonly watch: WatchSeries | undefined;
  readonly #metrics: RequestMetrics;
  /** The label set without `dry_run`. */
  readonly #sharedLabels: string;
  readonly #duration: Distribution;
  /** Undefined for dry runs. */
  readonly #ownDuration: Distribution | undefined;
  /** Undefined for watches. */
  readonly #size: Distribution | undefined;
  readonly #place: Place;
  #bodySize: Distribution | undefined;
  readonly #aborts: Value;
  readonly #codes = new Map<number, Value>();
  readonly #terminations = new Map<number, Value>();

  constructor(metrics: RequestMetrics, verb: string, place: Place, scope: string, dryRun: string) {
    const { group, version, resource, subresource } = place;
    // As in the reference server, documents and health checks are of no component.
    const component = resource === '' && subresource !== '' ? '' : 'apiserver';
    const labels = labelText({ verb, group, version, resource, subresource, scope, component });
    const isWatch = verb === 'WATCH';
    this.labels = `${labels},dry_run="${dryRun}"`;
    this.longRunning = isWatch || verb === 'CONNECT' ? metrics.longRunning.series(labels) : undefined;
    this.watch = isWatch ? new WatchSeries(metrics, place) : undefined;
    this.#metrics = metrics;
    this.#sharedLabels = labels;
    this.#place = place;
    this.#duration = metrics.duration.series(this.labels);
    this.#ownDuration = dryRun === '' ? metrics.ownDuration.series(labels) : undefined;
    this.#size = isWatch ? undefined : metrics.size.series(labels);
    this.#aborts = metrics.aborts.series(labels);
  }

  /**
   * Counts a completed request. `waited`: how long it has waited for its seat and for admission webhooks (seconds). `size`: of
   * its response (bytes); undefined for a watch.
   */
  count(code: number, seconds: number, waited: number, size: number | undefined): void {
    const counter = this.#codes.get(code) ?? this.#addCode(this.#metrics.total, this.labels, this.#codes, code);
    counter.value++;
    this.#duration.observe(seconds);
    // They are of two clocks: a step of the time of day must not make a sum decrease.
    this.#ownDuration?.observe(Math.max(0, seconds - waited));
    if (size !== undefined) this.#size?.observe(size);
  }

  /** Counts the body of a request with this verb. `size` in bytes. */
  countBody(verb: string, size: number): void {
    const { group, resource } = this.#place;
    this.#bodySize ??= this.#metrics.bodySize.series({ group, resource, verb });
    this.#bodySize.observe(size);
  }

  /** Counts a request that was rejected or abandoned to protect the server. */
  countTermination(code: number): void {
    const counter =
      this.#terminations.get(code) ??
      this.#addCode(this.#metrics.terminations, this.#sharedLabels, this.#terminations, code);
    counter.value++;
  }

  /** Counts a response that a failure has cut off. */
  countAbort(): void {
    this.#aborts.value++;
  }

  /** Unregistered codes are counted by class: `5xx` for 599. */
  #addCode(metric: ValueMetric, labels: string, codes: Map<number, Value>, code: number): Value {
    const text = code in STATUS_CODES ? String(code) : `${Math.trunc(code / 100)}xx`;
    const counter = metric.series(`${labels},code="${text}"`);
    codes.set(code, counter);
    return counter;
  }
}

/** Label values come from definitions, so that requests cannot create new series. */
function createSeriesTable(metrics: RequestMetrics): RequestCounts {
  const table = new Map<string, RequestSeries>();
  const series: FindSeries = ({ verb, path, query, resource: target }, resource, contentType) => {
    const subresource = target?.subresource ?? '';
    const served = subresource === '' ? resource?.definition : resource?.subresources.get(subresource);
    let method = methods.get(verb) ?? other;
    let place = nowhere;
    let scope = '';
    if (target === undefined || served === undefined) {
      place = documents.get(path.split('/', 2)[1] ?? '') ?? nowhere;
    } else {
      place = target;
      scope = target.name !== '' || verb === 'create' ? 'resource' : target.namespace === '' ? 'cluster' : 'namespace';
      if (!(served.verbs as readonly string[]).includes(verb)) method = other;
      else if ('connect' in served) method = 'CONNECT';
      else if (verb === 'patch' && contentType?.startsWith('application/apply-patch+')) method = 'APPLY';
    }
    const dryRun = query.size > 0 && query.getAll('dryRun').includes('All') ? 'All' : '';
    const key = `${method} ${place.group}/${place.version}/${place.resource}/${place.subresource} ${scope} ${dryRun}`;
    let found = table.get(key);
    if (found === undefined) {
      found = new RequestSeries(metrics, method, place, scope, dryRun);
      table.set(key, found);
      if (place === target && resource !== undefined) addDeprecated(metrics.deprecated, place, resource);
    }
    return found;
  };
  const { longRunning: _, ...resettable } = metrics;
  const reset = () => {
    table.clear();
    for (const metric of Object.values(resettable)) metric.clear();
  };
  return { series, reset };
}

/** The labels of the target of a request. */
interface Place {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
}

function addDeprecated(metric: ValueMetric, place: Place, { versions }: Resource): void {
  const deprecation = versions.get(place.version)?.deprecation;
  if (deprecation === undefined) return;
  const { group, version, resource, subresource } = place;
  const { removedRelease = '' } = deprecation;
  metric.series({ group, removed_release: removedRelease, resource, subresource, version }).value = 1;
}

const other = 'other';
/** Verbs of resources, and methods of non-resource paths. */
const methods = new Map([
  ['get', 'GET'],
  ['head', 'GET'],
  ['list', 'LIST'],
  ['watch', 'WATCH'],
  ['create', 'POST'],
  ['post', 'POST'],
  ['update', 'PUT'],
  ['put', 'PUT'],
  ['patch', 'PATCH'],
  ['delete', 'DELETE'],
  ['deletecollection', 'DELETECOLLECTION'],
]);

const nowhere: Place = { group: '', version: '', resource: '', subresource: '' };
/** Non-resource paths by their first segment. */
const documents = new Map(
  ['api', 'apis', 'openapi', 'healthz', 'livez', 'readyz', 'metrics', 'version'].map((first) => [
    first,
    { ...nowhere, subresource: `/${first}` },
  ]),
);
