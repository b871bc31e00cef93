/** The series of metrics, one label set each, and what requests count in them. */
import { STATUS_CODES } from 'node:http';
import type { Resource } from '../../registry/index.ts';
import type { RequestInfo } from '../request-info.ts';

export type Labels = { readonly [label: string]: string };

/** Labels in the text format. */
export const labelText = (labels: Labels): string =>
  Object.entries(labels)
    .map(
      ([label, value]) => `${label}="${value.replace(/["\\\n]/g, (found) => (found === '\n' ? '\\n' : `\\${found}`))}"`,
    )
    .join(',');

/** The labels of a sample in the text format. */
export const parseLabels = (text: string): Labels =>
  Object.fromEntries(
    [...text.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label = '', value = '']) => [
      label,
      value.replace(/\\(.)/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped)),
    ]),
  );

/** A sample in the text format. */
export const sampleLine = (name: string, labels: string, value: number): string =>
  labels === '' ? `${name} ${value}\n` : `${name}{${labels}} ${value}\n`;

/** A bound as the label `le` shows it, which queries compare as text: with an exponent below 0.0001 and from 1000000 on. */
export function boundText(bound: number): string {
  const size = Math.abs(bound);
  if (size === 0 || (size >= 0.0001 && size < 1_000_000)) return String(bound);
  const [digits = '', sign = '', exponent = ''] = bound.toExponential().split(/e([+-])/);
  return `${digits}e${sign}${exponent.padStart(2, '0')}`;
}

/** One label set of a counter or gauge. */
export class Value {
  value = 0;
  readonly labels: string;

  constructor(labels: string) {
    this.labels = labels;
  }
}

/** One label set of a histogram. */
export class Distribution {
  readonly labels: string;
  readonly #buckets: readonly number[];
  /** One more than the buckets, for `+Inf`; not cumulative. */
  readonly #counts: number[];
  #sum = 0;

  constructor(labels: string, buckets: readonly number[]) {
    this.labels = labels;
    this.#buckets = buckets;
    // A typed array of this size would be an allocation of its own outside of the heap.
    this.#counts = Array<number>(buckets.length + 1).fill(0);
  }

  /** Counts a value, `times` times. */
  observe(value: number, times = 1): void {
    const buckets = this.#buckets;
    let i = 0;
    while (i < buckets.length && value > (buckets[i] as number)) i++;
    this.#counts[i] = (this.#counts[i] as number) + times;
    this.#sum += value * times;
  }

  /** The number of observed values. */
  get count(): number {
    return this.#counts.reduce((total, count) => total + count, 0);
  }

  /** Cumulative buckets, sum and count. */
  lines(name: string): string {
    const start = `${name}_bucket{${this.labels === '' ? '' : `${this.labels},`}le="`;
    let text = '';
    let total = 0;
    this.#counts.forEach((count, i) => {
      total += count;
      const bound = this.#buckets[i];
      text += `${start}${bound === undefined ? '+Inf' : boundText(bound)}"} ${total}\n`;
    });
    return text + sampleLine(`${name}_sum`, this.labels, this.#sum) + sampleLine(`${name}_count`, this.labels, total);
  }
}

/** The series of a metric by their labels, which may be in the text format. One is created when it is first asked for. */
interface SeriesOf<T> {
  series(labels?: Labels | string): T;
  /** Forgets one series. */
  forget(series: T): void;
  /** Forgets all series. */
  clear(): void;
}

// Requests

/** The metrics that a request updates. */
export interface RequestMetrics {
  readonly total: SeriesOf<Value>;
  readonly duration: SeriesOf<Distribution>;
  readonly ownDuration: SeriesOf<Distribution>;
  readonly size: SeriesOf<Distribution>;
  readonly bodySize: SeriesOf<Distribution>;
  readonly terminations: SeriesOf<Value>;
  readonly aborts: SeriesOf<Value>;
  readonly deprecated: SeriesOf<Value>;
  readonly longRunning: SeriesOf<Value>;
  readonly watchEvents: SeriesOf<Value>;
  readonly watchEventSizes: SeriesOf<Distribution>;
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

  /** Removes the series from the metrics. */
  forget({ watchEvents, watchEventSizes }: RequestMetrics): void {
    watchEvents.forget(this.#events);
    watchEventSizes.forget(this.#sizes);
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
  /** Its names are empty for documents. */
  readonly place: Place;
  #bodySize: Distribution | undefined;
  #deprecated: Value | undefined;
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
    this.place = place;
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
    const { group, resource } = this.place;
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

  /** Shows that the resource has been requested, if it is deprecated. */
  showDeprecation({ versions }: Resource): void {
    const { group, version, resource, subresource } = this.place;
    const deprecation = versions.get(version)?.deprecation;
    if (deprecation === undefined) return;
    const { removedRelease = '' } = deprecation;
    const labels = { group, removed_release: removedRelease, resource, subresource, version };
    this.#deprecated = this.#metrics.deprecated.series(labels);
    this.#deprecated.value = 1;
  }

  /** Removes the series from the metrics. */
  forget(): void {
    const { total, duration, ownDuration, size, bodySize, terminations, aborts, deprecated, longRunning } =
      this.#metrics;
    for (const value of this.#codes.values()) total.forget(value);
    for (const value of this.#terminations.values()) terminations.forget(value);
    duration.forget(this.#duration);
    aborts.forget(this.#aborts);
    if (this.#ownDuration !== undefined) ownDuration.forget(this.#ownDuration);
    if (this.#size !== undefined) size.forget(this.#size);
    if (this.#bodySize !== undefined) bodySize.forget(this.#bodySize);
    if (this.#deprecated !== undefined) deprecated.forget(this.#deprecated);
    if (this.longRunning !== undefined) longRunning.forget(this.longRunning);
    this.watch?.forget(this.#metrics);
  }

  /** Unregistered codes are counted by class: `5xx` for 599. */
  #addCode(metric: SeriesOf<Value>, labels: string, codes: Map<number, Value>, code: number): Value {
    const text = code in STATUS_CODES ? String(code) : `${Math.trunc(code / 100)}xx`;
    const counter = metric.series(`${labels},code="${text}"`);
    codes.set(code, counter);
    return counter;
  }
}

/** The table of series is searched for those of former resources when it has more than these, and twice what remained. */
const minSearched = 4_096;

/**
 * Label values come from definitions, so that requests cannot create new series. Those of resources that are not served any more
 * are forgotten from time to time: definitions come and go.
 */
export function createSeriesTable(metrics: RequestMetrics, isServed: (place: Place) => boolean): RequestCounts {
  const table = new Map<string, RequestSeries>();
  let most = minSearched;
  const forgetFormer = () => {
    for (const [key, series] of table) {
      if (series.place.resource === '' || isServed(series.place)) continue;
      series.forget();
      table.delete(key);
    }
    most = Math.max(minSearched, 2 * table.size);
  };
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
      if (table.size >= most) forgetFormer();
      found = new RequestSeries(metrics, method, place, scope, dryRun);
      table.set(key, found);
      if (place === target && resource !== undefined) found.showDeprecation(resource);
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
export interface Place {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
}

const other = 'other';
/** Verbs of resources, and methods of non-resource paths. The scope tells whether a collection is deleted. */
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
  ['deletecollection', 'DELETE'],
]);

const nowhere: Place = { group: '', version: '', resource: '', subresource: '' };
/** Non-resource paths by their first segment. */
const documents = new Map(
  ['api', 'apis', 'openapi', 'healthz', 'livez', 'readyz', 'metrics', 'version'].map((first) => [
    first,
    { ...nowhere, subresource: `/${first}` },
  ]),
);

// Access

/** Counts the authentication of a request. `user`: the name, after a success. */
export type CountAuthentication = (result: 'success' | 'failure' | 'error', seconds: number, user?: string) => void;

/** Counts the authorization of a request. */
export type CountAuthorization = (result: 'allowed' | 'denied' | 'no-opinion' | 'error') => void;

/** The users whose names are labels; `email_id` and `other` stand for all others. */
const knownUsers = new Set(['admin', 'client', 'kube_proxy', 'kubelet', 'system:serviceaccount:kube-system:default']);

export function countAuthentications(metrics: {
  readonly attempts: SeriesOf<Value>;
  readonly duration: SeriesOf<Distribution>;
  readonly requests: SeriesOf<Value>;
}): CountAuthentication {
  const results = new Map<string, { readonly attempts: Value; readonly duration: Distribution }>();
  const users = new Map<string, Value>();
  return (result, seconds, user) => {
    let series = results.get(result);
    if (series === undefined) {
      series = { attempts: metrics.attempts.series({ result }), duration: metrics.duration.series({ result }) };
      results.set(result, series);
    }
    series.attempts.value++;
    series.duration.observe(seconds);
    if (user === undefined) return;
    const username = knownUsers.has(user) ? user : user.includes('@') ? 'email_id' : 'other';
    let ofUser = users.get(username);
    if (ofUser === undefined) {
      ofUser = metrics.requests.series({ username });
      users.set(username, ofUser);
    }
    ofUser.value++;
  };
}

export function countAuthorizations(attempts: SeriesOf<Value>): CountAuthorization {
  const results = new Map<string, Value>();
  return (result) => {
    let series = results.get(result);
    if (series === undefined) {
      series = attempts.series({ result });
      results.set(result, series);
    }
    series.value++;
  };
}
