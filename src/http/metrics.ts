import { STATUS_CODES } from 'node:http';
import { type AuditCounts, emptyAuditCounts } from '../audit/index.ts';
import { emptyTokenCounts, type TokenCounts } from '../auth/index.ts';
import { type EncryptionCounts, emptyEncryptionCounts } from '../encryption/index.ts';
import type { Clock, GroupResource } from '../meta/index.ts';
import type {
  MutationObserver,
  Observer,
  PolicyObserver,
  Registry,
  Resource,
  WebhookObserver,
} from '../registry/index.ts';
import {
  emptyWebhookCounts,
  mutationObserver,
  policyObserver,
  type WebhookCounts,
  webhookObserver,
} from './admission-metrics.ts';
import { type Distribution, distribution, labelText, observe } from './distribution.ts';
import type { InFlight } from './in-flight.ts';
import type { RequestInfo } from './request-info.ts';

/** Upper bounds of the histograms, as in the reference server. */
export const durationBounds = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
];
export const sizeBounds = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];
export const admissionBounds = [0.005, 0.025, 0.1, 0.5, 1, 2.5];

/** Of authentication, and of conversion webhooks. */
export const authenticationBounds = Array.from({ length: 15 }, (_, i) => 2 ** i / 1000);

/** Of work queues. */
export const queueBounds = Array.from({ length: 10 }, (_, i) => Number(`1e${i - 8}`));

/** A work queue of controllers, as it is now. */
export interface QueueState {
  readonly name: string;
  readonly depth: () => number;
  /** For each key that is being reconciled, since when. */
  readonly runningSeconds: () => readonly number[];
}

/** The counters of the work queues of one name. */
export interface QueueSeries {
  readonly labels: string;
  /** The latest of that name. */
  queue: QueueState;
  adds: number;
  retries: number;
  readonly waited: Distribution;
  readonly worked: Distribution;
}

/** The state of a lease: whether it is held, and how many renewals had to read it first. */
type LeaseState = () => { readonly held: boolean; readonly slowpath: number };

/** The counters of one label set of requests. */
export interface Series {
  /** In the text format: `verb="GET",group="",…`. */
  readonly labels: string;
  /** Labels of watch events; undefined for other requests. */
  readonly watched: string | undefined;
  /** By status code. Unregistered codes are counted by class: 5 for 599. */
  readonly codes: Map<number, number>;
  readonly duration: Distribution;
  readonly size: Distribution;
  watchEvents: number;
}

/** The duration of an admission plugin, or of all plugins together. */
export interface AdmissionSeries {
  readonly labels: string;
  readonly plugin: boolean;
  readonly seconds: Distribution;
}

/** The requests to the store of one operation and resource. */
interface StoreSeries {
  readonly labels: string;
  readonly duration: Distribution;
  errors: number;
}

/** All counters, for the text format. */
export interface Counted {
  /** Of the API server; empty: none. */
  readonly identity: string;
  readonly series: ReadonlyMap<string, Series>;
  /** The durations of attempts to authenticate, by result. */
  readonly authentication: ReadonlyMap<string, Distribution>;
  /** Authenticated requests by a class of user names. */
  readonly users: ReadonlyMap<string, number>;
  readonly authorization: ReadonlyMap<string, number>;
  readonly admission: ReadonlyMap<string, AdmissionSeries>;
  /** The durations of conversions by webhooks, by labels. */
  readonly conversions: ReadonlyMap<string, Distribution>;
  readonly webhooks: WebhookCounts;
  /** The durations of checks by validating policies, by labels. */
  readonly policyChecks: ReadonlyMap<string, Distribution>;
  /** The durations of mutations by mutating policies, by labels. */
  readonly mutationChecks: ReadonlyMap<string, Distribution>;
  /** Mismatches and failures of declarative validation. */
  readonly rules: { readonly mismatches: number; readonly failures: number };
  readonly audit: AuditCounts;
  /** Work queues by name, and leases by labels. */
  readonly controllers: {
    readonly queues: ReadonlyMap<string, QueueSeries>;
    readonly leases: ReadonlyMap<string, LeaseState>;
  };
  readonly tokens: TokenCounts;
  readonly encryption: EncryptionCounts;
  readonly storeRequests: ReadonlyMap<string, StoreSeries>;
  /** The bytes that the store takes on disk; undefined of a store in memory. */
  readonly storeSize: () => Promise<number | undefined>;
  readonly inFlight: InFlight;
  readonly registry: () => Registry;
  /** Seconds since 1970. */
  readonly startTime: number;
}

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
  /** `user`: the name, after a success. */
  authenticated(result: AuthenticationResult, seconds: number, user?: string): void;
  authorized(result: AuthorizationResult): void;
  readonly admission: Observer['admission'];
  readonly webhooks: WebhookObserver;
  readonly policyChecked: PolicyObserver;
  readonly mutationChecked: MutationObserver;
  /** `definition`: the name of the custom resource definition. */
  converted(definition: string, from: string, to: string, succeeded: boolean, seconds: number): void;
  /** A request to the store has ended. `resource`: undefined for keys of no object. */
  storeRequest(operation: string, resource: GroupResource | undefined, seconds: number, failed: boolean): void;
  /** Counts what a work queue of controllers does. */
  queue(queue: QueueState): {
    readonly added: () => void;
    readonly started: (waitedSeconds: number) => void;
    readonly ended: (workedSeconds: number) => void;
    readonly retried: () => void;
  };
  /** The lease of a name is shown from now on. */
  lease(name: string, state: LeaseState): void;
  /** Declarative validation differed from handwritten validation, or failed. */
  mismatched(): void;
  ruleFailed(): void;
  /** Everything that is counted, for the text format. */
  readonly counted: Counted;
}

/** The counters that other rooms keep, of a server without an identity, over a store in memory. */
export const emptyCounts = (): Pick<Counted, 'identity' | 'audit' | 'tokens' | 'encryption' | 'storeSize'> => ({
  identity: '',
  audit: emptyAuditCounts(),
  tokens: emptyTokenCounts(),
  encryption: emptyEncryptionCounts(),
  storeSize: async () => undefined,
});

/** Creates empty metrics; `registry` is called on a scrape. */
export function createMetrics(
  registry: () => Registry,
  inFlight: InFlight,
  clock: Clock,
  counts = emptyCounts(),
): Metrics {
  const series = new Map<string, Series>();
  const authentication = new Map<AuthenticationResult, Distribution>();
  const users = new Map<string, number>();
  const authorization = new Map<AuthorizationResult, number>();
  const admission = new Map<string, AdmissionSeries>();
  const conversions = new Map<string, Distribution>();
  const webhooks = emptyWebhookCounts();
  const policyChecks = new Map<string, Distribution>();
  const mutationChecks = new Map<string, Distribution>();
  const storeRequests = new Map<string, StoreSeries>();
  const rules = { mismatches: 0, failures: 0 };
  const controllers = { queues: new Map<string, QueueSeries>(), leases: new Map<string, LeaseState>() };
  const startTime = clock.now() / 1000;
  const counted: Counted = {
    ...{ series, authentication, users, authorization, admission, conversions, webhooks, rules, ...counts },
    ...{ policyChecks, mutationChecks, inFlight, registry, startTime, controllers, storeRequests },
  };

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
    authenticated: authenticationCounter(authentication, users),
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
    webhooks: webhookObserver(webhooks),
    policyChecked: policyObserver(policyChecks),
    mutationChecked: mutationObserver(mutationChecks),
    converted: conversionCounter(conversions),
    storeRequest: storeCounter(storeRequests),
    ...controllerCounters(controllers),
    mismatched: () => void rules.mismatches++,
    ruleFailed: () => void rules.failures++,
    counted,
  };
}

const authenticationCounter =
  (authentication: Map<AuthenticationResult, Distribution>, users: Map<string, number>): Metrics['authenticated'] =>
  (result, seconds, user) => {
    const found = authentication.get(result) ?? distribution(authenticationBounds);
    authentication.set(result, found);
    observe(found, authenticationBounds, seconds);
    if (user === undefined) return;
    const name = userClass(user);
    users.set(name, (users.get(name) ?? 0) + 1);
  };

const conversionCounter =
  (conversions: Map<string, Distribution>): Metrics['converted'] =>
  (definition, from, to, succeeded, seconds) => {
    const by = { crd_name: definition, from_version: from, to_version: to, succeeded: String(succeeded) };
    const labels = labelText(by);
    const found = conversions.get(labels) ?? distribution(authenticationBounds);
    conversions.set(labels, found);
    observe(found, authenticationBounds, seconds);
  };

const storeCounter =
  (requests: Map<string, StoreSeries>): Metrics['storeRequest'] =>
  (operation, { group, resource } = { group: '', resource: '' }, seconds, failed) => {
    const key = `${operation} ${group}/${resource}`;
    let found = requests.get(key);
    if (found === undefined) {
      const labels = labelText({ operation, group, resource });
      found = { labels, duration: distribution(durationBounds), errors: 0 };
      requests.set(key, found);
    }
    observe(found.duration, durationBounds, seconds);
    if (failed) found.errors++;
  };

const controllerCounters = ({
  queues,
  leases,
}: {
  readonly queues: Map<string, QueueSeries>;
  readonly leases: Map<string, LeaseState>;
}): Pick<Metrics, 'queue' | 'lease'> => ({
  queue: (queue) => queueCounter(queues, queue),
  lease: (name, state) => void leases.set(labelText({ name }), state),
});

function queueCounter(queues: Map<string, QueueSeries>, queue: QueueState): ReturnType<Metrics['queue']> {
  const found = queues.get(queue.name);
  const series = found ?? {
    ...{ labels: labelText({ name: queue.name }), queue, adds: 0, retries: 0 },
    ...{ waited: distribution(queueBounds), worked: distribution(queueBounds) },
  };
  series.queue = queue;
  queues.set(queue.name, series);
  return {
    added: () => void series.adds++,
    started: (seconds) => observe(series.waited, queueBounds, seconds),
    ended: (seconds) => observe(series.worked, queueBounds, seconds),
    retried: () => void series.retries++,
  };
}

const knownUsers = new Set(['admin', 'client', 'kube_proxy', 'kubelet', 'system:serviceaccount:kube-system:default']);

/** The few labels that stand for all user names. */
const userClass = (name: string): string => (knownUsers.has(name) ? name : name.includes('@') ? 'email_id' : 'other');

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

/** Counts a completed request. `size` in bytes; undefined for a watch. */
export function countRequest(series: Series, code: number, seconds: number, size: number | undefined): void {
  const known = code in STATUS_CODES ? code : Math.trunc(code / 100);
  series.codes.set(known, (series.codes.get(known) ?? 0) + 1);
  observe(series.duration, durationBounds, seconds);
  if (size !== undefined) observe(series.size, sizeBounds, size);
}
