import type { Clock } from '../meta/index.ts';
import type { Observer, Registry } from '../registry/index.ts';
import {
  type AdmissionSeries,
  admissionBounds,
  type Counted,
  distribution,
  durationBounds,
  observe,
  type Series,
  sizeBounds,
} from './counters.ts';
import type { InFlight } from './in-flight.ts';
import { renderMetrics } from './metrics-text.ts';
import type { RequestInfo } from './request-info.ts';

type AuthenticationResult = 'success' | 'failure' | 'error';
type AuthorizationResult = 'allowed' | 'denied' | 'error';

/** What the server counts about itself. Counting is a few additions; texts are made when someone asks. */
export interface Metrics {
  readonly inFlight: InFlight;
  /** The counters of requests like this one: found once for each kind of request. */
  series(info: RequestInfo): Series;
  authenticated(result: AuthenticationResult): void;
  authorized(result: AuthorizationResult): void;
  readonly admission: Observer['admission'];
  /** Declared rules found something else than those written by hand, or failed. */
  mismatched(): void;
  ruleFailed(): void;
  /** In the text format of Prometheus. */
  text(): Promise<string>;
}

// Resources are few; paths and made-up resources are not, and share one series.
const maxSeries = 5_000;

/** Counts from now on; the registry is asked for with the first request. */
export function createMetrics(registry: () => Registry, inFlight: InFlight, clock: Clock): Metrics {
  const series = new Map<string, Series>();
  const authentication = new Map<string, number>();
  const authorization = new Map<string, number>();
  const admission = new Map<string, AdmissionSeries>();
  const rules = { mismatches: 0, failures: 0 };
  const counted: Counted = {
    series: { [Symbol.iterator]: () => series.values() },
    authentication,
    authorization,
    admission: { [Symbol.iterator]: () => admission.values() },
    rules,
    inFlight,
    registry,
    startTime: clock.now() / 1000,
  };
  let render: ReturnType<typeof renderMetrics> | undefined;
  return {
    inFlight,
    series(info) {
      const dryRun = info.query.size > 0 && info.query.has('dryRun');
      const key = seriesKey(registry(), info, dryRun);
      let found = series.get(key);
      if (found === undefined) {
        if (series.size >= maxSeries) return makeSeries({});
        found = makeSeries(labelsOf(registry(), info, dryRun));
        series.set(key, found);
      }
      return found;
    },
    authenticated: (result) => add(authentication, result),
    authorized: (result) => add(authorization, result),
    admission({ plugin, type, operation, rejected }) {
      const key = `${plugin}/${type}/${operation}/${rejected}`;
      let found = admission.get(key);
      if (found === undefined) {
        const labels = { ...(plugin === '' ? {} : { name: plugin }), operation, rejected: String(rejected), type };
        found = { labels, plugin: plugin !== '', seconds: distribution(admissionBounds) };
        admission.set(key, found);
      }
      const { seconds } = found;
      return (value) => observe(seconds, admissionBounds, value);
    },
    mismatched: () => void rules.mismatches++,
    ruleFailed: () => void rules.failures++,
    async text() {
      render ??= renderMetrics(counted);
      return (await render)();
    },
  };
}

const add = (counts: Map<string, number>, key: string) => counts.set(key, (counts.get(key) ?? 0) + 1);

const makeSeries = (labels: Series['labels']): Series => ({
  labels,
  codes: new Map(),
  duration: distribution(durationBounds),
  size: distribution(sizeBounds),
  watchEvents: 0,
});

function seriesKey(registry: Registry, info: RequestInfo, dryRun: boolean): string {
  const { resource } = info;
  if (resource === undefined || registry.find(resource.group, resource.version, resource.resource) === undefined) {
    return `${methods.has(info.verb) ? info.verb : ''} ${documentPath(info.path)}`;
  }
  const { group, version, subresource } = resource;
  return `${info.verb} ${group}/${version}/${resource.resource}/${subresource} ${scopeOf(info)}${dryRun ? ' dry' : ''}`;
}

function labelsOf(registry: Registry, info: RequestInfo, dryRun: boolean): Series['labels'] {
  const { resource } = info;
  const common = { component: 'apiserver', dry_run: dryRun ? 'All' : '' };
  if (resource === undefined || registry.find(resource.group, resource.version, resource.resource) === undefined) {
    const verb = methods.has(info.verb) ? info.verb.toUpperCase() : 'other';
    return { verb, group: '', version: '', resource: '', subresource: documentPath(info.path), scope: '', ...common };
  }
  const { group, version, subresource } = resource;
  const verb = wireVerbs[info.verb] ?? 'other';
  return { verb, group, version, resource: resource.resource, subresource, scope: scopeOf(info), ...common };
}

const methods = new Set(['get', 'head', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection']);
const wireVerbs: { readonly [verb: string]: string } = {
  get: 'GET',
  list: 'LIST',
  watch: 'WATCH',
  create: 'POST',
  update: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
  deletecollection: 'DELETECOLLECTION',
};

/** The first part of a well-known path; everything else is one. */
function documentPath(path: string): string {
  const first = path.split('/', 2)[1] ?? '';
  return wellKnown.has(first) ? `/${first}` : '';
}

const wellKnown = new Set(['api', 'apis', 'openapi', 'healthz', 'livez', 'readyz', 'metrics', 'version']);

function scopeOf({ resource }: RequestInfo): string {
  if (resource === undefined) return '';
  if (resource.name !== '') return 'resource';
  return resource.namespace === '' ? 'cluster' : 'namespace';
}
