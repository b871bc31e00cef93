import { STATUS_CODES } from 'node:http';
import type { Resource } from '../../registry/index.ts';
import { durationBounds, eventBounds, sizeBounds } from '../listener/bounds.ts';
import type { RequestInfo } from '../request-info.ts';
import { type Distribution, distribution, labelText, observe } from './distribution.ts';

/** The counters of one label set of requests. */
export interface Series {
  /** In the text format: `verb="GET",group="",…`. */
  readonly labels: string;
  /** By status code. Unregistered codes are counted by class: 5 for 599. */
  readonly codes: Map<number, number>;
  readonly duration: Distribution;
  /** What dry runs are counted in as well. */
  readonly all: RequestSeries;
  /** Undefined for other requests than watches. */
  readonly watched: WatchSeries | undefined;
}

/** The counters of one label set of requests, whether or not they are dry runs. */
export interface RequestSeries {
  readonly labels: string;
  /** Undefined for watches. */
  readonly size: Distribution | undefined;
  /** Watches and proxied requests last long: how many are under way. */
  readonly lasting: boolean;
  open: number;
  /** Responses that were broken off by a failure. */
  aborted: number;
  /** Requests that were refused or given up to protect the server, by status code. */
  readonly terminated: Map<number, number>;
}

/** What was sent to all watches of a resource. */
export interface WatchSeries {
  readonly labels: string;
  events: number;
  /** Of the events (bytes). */
  readonly sizes: Distribution;
}

/** The series of all requests. */
export interface SeriesTable {
  readonly series: ReadonlyMap<string, Series>;
  readonly requests: ReadonlyMap<string, RequestSeries>;
  readonly watched: ReadonlyMap<string, WatchSeries>;
  /** The labels of deprecated APIs that have been requested. */
  readonly deprecated: ReadonlySet<string>;
  /** The series of a request, looked up once for each request. `resource`: the one that is served at its path. */
  readonly find: (info: RequestInfo, resource: Resource | undefined) => Series;
}

/** Label values come from definitions, so that requests cannot create new series. */
export function createSeriesTable(): SeriesTable {
  const series = new Map<string, Series>();
  const requests = new Map<string, RequestSeries>();
  const watched = new Map<string, WatchSeries>();
  const deprecated = new Set<string>();
  return {
    ...{ series, requests, watched, deprecated },
    find({ verb, path, query, resource: at }, resource) {
      const served = at?.subresource === '' ? resource?.definition : resource?.subresources.get(at?.subresource ?? '');
      let method = methods.get(verb) ?? other;
      let place = nowhere;
      let scope = '';
      if (at === undefined || served === undefined) {
        place = documents.get(path.split('/', 2)[1] ?? '') ?? nowhere;
      } else {
        place = at;
        scope = at.name !== '' ? 'resource' : at.namespace === '' ? 'cluster' : 'namespace';
        if (!(served.verbs as readonly string[]).includes(verb)) method = other;
        else if ('connect' in served) method = 'CONNECT';
      }
      const dryRun = query.size > 0 && query.getAll('dryRun').includes('All') ? 'All' : '';
      const key = `${method} ${place.group}/${place.version}/${place.resource}/${place.subresource} ${scope} ${dryRun}`;
      let found = series.get(key);
      if (found === undefined) {
        const labels = labelsOf(method, place, scope);
        const all = entryOf(requests, labels, () => makeRequestSeries(method, labels));
        const watch = method === 'WATCH' ? watchSeriesAt(watched, place) : undefined;
        found = makeSeries(all, watch, dryRun);
        series.set(key, found);
        if (place === at && resource !== undefined) addDeprecated(deprecated, place, resource);
      }
      return found;
    },
  };
}

/** The labels of a request. */
interface Place {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
}

const labelsOf = (verb: string, { group, version, resource, subresource }: Place, scope: string): string =>
  labelText({ verb, group, version, resource, subresource, scope, component: 'apiserver' });

const makeSeries = (all: RequestSeries, watched: WatchSeries | undefined, dryRun: string): Series => ({
  labels: `${all.labels},dry_run="${dryRun}"`,
  ...{ codes: new Map(), duration: distribution(durationBounds), all, watched },
});

function makeRequestSeries(verb: string, labels: string): RequestSeries {
  return {
    labels,
    size: verb === 'WATCH' ? undefined : distribution(sizeBounds),
    lasting: verb === 'WATCH' || verb === 'CONNECT',
    open: 0,
    aborted: 0,
    terminated: new Map(),
  };
}

const watchSeriesAt = (watched: Map<string, WatchSeries>, { group, version, resource }: Place): WatchSeries => {
  const labels = labelText({ group, version, resource });
  return entryOf(watched, labels, () => ({ labels, events: 0, sizes: distribution(eventBounds) }));
};

function addDeprecated(deprecated: Set<string>, place: Place, { versions }: Resource): void {
  const found = versions.get(place.version)?.declared.deprecated;
  if (found === undefined) return;
  const removed = ('removed' in found ? found.removed : undefined) ?? '';
  const { group, version, resource, subresource } = place;
  deprecated.add(labelText({ group, version, resource, subresource, removed_release: removed }));
}

function entryOf<T>(all: Map<string, T>, key: string, make: () => T): T {
  const found = all.get(key) ?? make();
  all.set(key, found);
  return found;
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

/** Counts a completed request. `size` in bytes; undefined for a watch. */
export function countRequest(series: Series, code: number, seconds: number, size: number | undefined): void {
  increment(series.codes, code);
  observe(series.duration, durationBounds, seconds);
  if (size !== undefined && series.all.size !== undefined) observe(series.all.size, sizeBounds, size);
}

/** Counts an event that is sent to a watch. `size` in bytes. */
export function countEvent(series: WatchSeries, size: number): void {
  series.events++;
  observe(series.sizes, eventBounds, size);
}

/** Counts a request that was refused or given up to protect the server. */
export const countTermination = ({ all }: Series, code: number): void => increment(all.terminated, code);

function increment(codes: Map<number, number>, code: number): void {
  const known = code in STATUS_CODES ? code : Math.trunc(code / 100);
  codes.set(known, (codes.get(known) ?? 0) + 1);
}

/** A status code as a label. */
export const codeText = (code: number): string => (code < 100 ? `${code}xx` : `${code}`);
