import { type AuditCounts, emptyAuditCounts } from '../audit/index.ts';
import type { ByteString, Clock } from '../meta/index.ts';
import type { Observer, Registry } from '../registry/index.ts';
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
import type { RequestInfo, ResourcePath } from './request-info.ts';

type AuthenticationResult = 'success' | 'failure' | 'error';
type AuthorizationResult = 'allowed' | 'denied' | 'error';

/**
 * The metrics of the server. Counting is a few additions; the text format is written on a scrape. Label values come from
 * definitions, so that requests cannot create new series.
 */
export interface Metrics {
  readonly inFlight: InFlight;
  /** The series of a request, looked up once for each request. */
  series(info: RequestInfo): Series;
  authenticated(result: AuthenticationResult): void;
  authorized(result: AuthorizationResult): void;
  readonly admission: Observer['admission'];
  /** Declarative validation differed from handwritten validation, or failed. */
  mismatched(): void;
  ruleFailed(): void;
  /** The Prometheus text format, in pieces: `pause` is called after each. */
  text(pause: () => Promise<void>): AsyncGenerator<ByteString>;
}

/** Creates empty metrics; `registry` is called with the first request. */
export function createMetrics(
  registry: () => Registry,
  inFlight: InFlight,
  clock: Clock,
  audit: AuditCounts = emptyAuditCounts(),
): Metrics {
  const series = new Map<string, Series>();
  const authentication = new Map<AuthenticationResult, number>();
  const authorization = new Map<AuthorizationResult, number>();
  const admission = new Map<string, AdmissionSeries>();
  const rules = { mismatches: 0, failures: 0 };
  const startTime = clock.now() / 1000;
  const counted: Counted = {
    ...{ series, authentication, authorization, admission, rules, audit },
    ...{ inFlight, registry, startTime },
  };

  const seriesOf = (verb: string, place: Place, scope: string, dryRun: string): Series => {
    const { group, version, resource, subresource } = place;
    const key = `${verb} ${group}/${version}/${resource}/${subresource} ${scope} ${dryRun}`;
    let found = series.get(key);
    if (found === undefined) {
      found = makeSeries(verb, place, scope, dryRun);
      series.set(key, found);
    }
    return found;
  };
  return {
    inFlight,
    series({ verb, path, query, resource }) {
      const dryRun = query.size > 0 && query.getAll('dryRun').includes('All') ? 'All' : '';
      const declared = resource === undefined ? undefined : declaredAt(registry(), resource);
      if (resource === undefined || declared === undefined) {
        const place = documents.get(path.split('/', 2)[1] ?? '') ?? nowhere;
        return seriesOf(methodOf(verb), place, '', dryRun);
      }
      const { place, verbs } = declared;
      return seriesOf(verbs.includes(verb) ? methodOf(verb) : other, place, scopeOf(resource), dryRun);
    },
    authenticated: (result) => add(authentication, result),
    authorized: (result) => add(authorization, result),
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

function add<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** The labels of a request. */
interface Place {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
}

function makeSeries(verb: string, { subresource, ...place }: Place, scope: string, dryRun: string): Series {
  return {
    labels: labelText({ verb, ...place, subresource, scope, component: 'apiserver', dry_run: dryRun }),
    watched: verb === 'WATCH' ? labelText(place) : undefined,
    codes: new Map(),
    duration: distribution(durationBounds),
    size: distribution(sizeBounds),
    watchEvents: 0,
  };
}

/** The definition's names of a served path, and its verbs; undefined when nothing is served there. */
function declaredAt(
  registry: Registry,
  { group, version, resource, subresource: name }: ResourcePath,
): { readonly place: Place; readonly verbs: readonly string[] } | undefined {
  const definition = registry.find(group, version, resource)?.definition;
  if (definition === undefined) return undefined;
  const subresource = name === '' ? undefined : definition.subresources.find((one) => one.name === name);
  if (name !== '' && subresource === undefined) return undefined;
  const place = { group: definition.group, version, resource: definition.plural, subresource: subresource?.name ?? '' };
  return { place, verbs: (subresource ?? definition).verbs };
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
const methodOf = (verb: string): string => methods.get(verb) ?? other;

const nowhere: Place = { group: '', version: '', resource: '', subresource: '' };
/** Non-resource paths by their first segment. */
const documents = new Map(
  ['api', 'apis', 'openapi', 'healthz', 'livez', 'readyz', 'metrics', 'version'].map((first) => [
    first,
    { ...nowhere, subresource: `/${first}` },
  ]),
);

function scopeOf({ name, namespace }: ResourcePath): string {
  if (name !== '') return 'resource';
  return namespace === '' ? 'cluster' : 'namespace';
}
