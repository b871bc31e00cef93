import type { ByteString, Clock } from '../meta/index.ts';
import type { Observer, Registry, Resource } from '../registry/index.ts';
import {
  type AdmissionSeries,
  admissionBounds,
  type Counted,
  distribution,
  durationBounds,
  labelText,
  observe,
  type Series,
  sizeBounds,
} from './counters.ts';
import type { InFlight } from './in-flight.ts';
import { metricsText } from './metrics-text.ts';
import type { RequestInfo } from './request-info.ts';

type AuthenticationResult = 'success' | 'failure' | 'error';
type AuthorizationResult = 'allowed' | 'denied' | 'error';

/**
 * The metrics of the server. Counting is a few additions; the text format is written on a scrape. Label values come from
 * definitions, so that requests cannot create new series.
 */
export interface Metrics {
  readonly inFlight: InFlight;
  /** The series of a request, looked up once for each request. `resource`: the one that is served at its path. */
  series(info: RequestInfo, resource: Resource | undefined): Series;
  authenticated(result: AuthenticationResult): void;
  authorized(result: AuthorizationResult): void;
  readonly admission: Observer['admission'];
  /** Declarative validation differed from handwritten validation, or failed. */
  mismatched(): void;
  ruleFailed(): void;
  /** The Prometheus text format, in pieces: `pause` is called after each. */
  text(pause: () => Promise<void>): AsyncGenerator<ByteString>;
}

/** Creates empty metrics; `registry` is called on a scrape. */
export function createMetrics(registry: () => Registry, inFlight: InFlight, clock: Clock): Metrics {
  const series = new Map<string, Series>();
  const authentication = new Map<AuthenticationResult, number>();
  const authorization = new Map<AuthorizationResult, number>();
  const admission = new Map<string, AdmissionSeries>();
  const rules = { mismatches: 0, failures: 0 };
  const startTime = clock.now() / 1000;
  const counted: Counted = { series, authentication, authorization, admission, rules, inFlight, registry, startTime };

  return {
    inFlight,
    series({ verb, path, query, resource: at }, resource) {
      const served = at?.subresource === '' ? resource?.definition : resource?.subresources.get(at?.subresource ?? '');
      let place = nowhere;
      let method = methods.get(verb) ?? other;
      let scope = '';
      if (at === undefined || served === undefined) {
        place = documents.get(path.split('/', 2)[1] ?? '') ?? nowhere;
      } else {
        place = at;
        if (!(served.verbs as readonly string[]).includes(verb)) method = other;
        scope = at.name !== '' ? 'resource' : at.namespace === '' ? 'cluster' : 'namespace';
      }
      const dryRun = query.size > 0 && query.getAll('dryRun').includes('All') ? 'All' : '';
      const key = `${method} ${place.group}/${place.version}/${place.resource}/${place.subresource} ${scope} ${dryRun}`;
      let found = series.get(key);
      if (found === undefined) {
        found = makeSeries(method, place, scope, dryRun);
        series.set(key, found);
      }
      return found;
    },
    authenticated: (result) => void authentication.set(result, (authentication.get(result) ?? 0) + 1),
    authorized: (result) => void authorization.set(result, (authorization.get(result) ?? 0) + 1),
    admission({ plugin, type, operation, rejected }) {
      const key = `${plugin}/${type}/${operation}/${rejected}`;
      let found = admission.get(key);
      if (found === undefined) {
        const labels = { ...(plugin === '' ? {} : { name: plugin }), operation, rejected: String(rejected), type };
        found = { labels: labelText(labels), plugin: plugin !== '', seconds: distribution(admissionBounds) };
        admission.set(key, found);
      }
      const { seconds } = found;
      return (value) => observe(seconds, admissionBounds, value);
    },
    mismatched: () => void rules.mismatches++,
    ruleFailed: () => void rules.failures++,
    text: (pause) => metricsText(counted, pause),
  };
}

/** The labels of a request. */
interface Place {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
}

function makeSeries(verb: string, place: Place, scope: string, dryRun: string): Series {
  const { group, version, resource, subresource } = place;
  return {
    labels: labelText({ verb, group, version, resource, subresource, scope, component: 'apiserver', dry_run: dryRun }),
    watched: verb === 'WATCH' ? labelText({ group, version, resource }) : undefined,
    codes: new Map(),
    duration: distribution(durationBounds),
    size: distribution(sizeBounds),
    watchEvents: 0,
  };
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
