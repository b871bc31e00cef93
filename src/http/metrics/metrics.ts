import { type AuditCounts, emptyAuditCounts } from '../../audit/index.ts';
import { emptyTokenCounts, type TokenCounts } from '../../auth/index.ts';
import { type EncryptionCounts, emptyEncryptionCounts } from '../../encryption/index.ts';
import type { Clock, GroupResource } from '../../meta/index.ts';
import type { MutationObserver, Observer, PolicyObserver, Registry, WebhookObserver } from '../../registry/index.ts';
import type { InFlight } from '../in-flight.ts';
import {
  admissionBounds,
  authenticationBounds,
  durationBounds,
  expiryBounds,
  flushBounds,
  queueBounds,
} from '../listener/bounds.ts';
import {
  emptyWebhookCounts,
  mutationObserver,
  policyObserver,
  type WebhookCounts,
  webhookObserver,
} from './admission-counts.ts';
import { type AuthorizationCounts, emptyAuthorizationCounts } from './authorization-counts.ts';
import { type Distribution, distribution, labelText, observe } from './distribution.ts';
import { type BuildInfo, noUsage, type ProcessUsage } from './process-usage.ts';
import type { ReloadCounts } from './reload-counts.ts';
import { createSeriesTable, type SeriesTable } from './request-series.ts';

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
export interface Counted extends Omit<SeriesTable, 'find'> {
  /** Of the API server; empty: none. */
  readonly identity: string;
  /** The durations of attempts to authenticate, by result. */
  readonly authentication: ReadonlyMap<string, Distribution>;
  /** Authenticated requests by a class of user names. */
  readonly users: ReadonlyMap<string, number>;
  /** Requests by the result of their authorization. */
  readonly authorization: ReadonlyMap<string, number>;
  readonly authorizers: AuthorizationCounts;
  /** Of the authentication configuration. */
  readonly authenticationReloads: ReloadCounts;
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
  /** Rejects when the store cannot be written. */
  readonly checkWritable: () => Promise<void>;
  readonly inFlight: InFlight;
  readonly registry: () => Registry;
  /** Seconds since 1970. */
  readonly startTime: number;
  /** Undefined: it is not told. */
  readonly build: BuildInfo | undefined;
  /** Reads what the process uses. */
  readonly readUsage: () => Promise<ProcessUsage>;
  /** How long the certificates of clients were still valid when they authenticated a request. */
  readonly clientCertificates: Distribution;
  /** When the certificates in use expire (seconds since 1970), by what they are used for. */
  readonly certificates: () => ReadonlyMap<string, number>;
  readonly connections: () => ConnectionCounts;
  readonly commits: CommitTimes;
}

/** What the listener has counted. */
export interface ConnectionCounts {
  /** Open connections. */
  readonly open: number;
  /** Connections that were closed at once because their address had too many. */
  readonly refused: number;
  /** Connections that were ended because they sent more resets, control frames, bytes that belong to no request, or small pieces than they may. */
  readonly flooded: number;
  /** TLS handshakes that failed. */
  readonly failedHandshakes: number;
}

/** The times of the embedded store. */
export interface CommitTimes {
  /** Of commits, from the call to the answer. */
  readonly commits: Distribution;
  /** Of transactions: their write and flush. */
  readonly flushes: Distribution;
}

/** Counts the times of the embedded store (seconds). */
export const commitObserver = ({ commits, flushes }: CommitTimes) => ({
  committed: (seconds: number): void => observe(commits, flushBounds, seconds),
  flushed: (seconds: number): void => observe(flushes, flushBounds, seconds),
});

type AuthenticationResult = 'success' | 'failure' | 'error';
type AuthorizationResult = 'allowed' | 'denied' | 'no-opinion' | 'error';

/**
 * The metrics of the server. Counting is a few additions; the text format is written on a scrape. Label values come from
 * definitions, so that requests cannot create new series.
 */
export interface Metrics {
  readonly inFlight: InFlight;
  /** The series of a request, looked up once for each request. */
  readonly series: SeriesTable['find'];
  /** A client certificate that is still valid for so long has authenticated a request. */
  certificateUsed(secondsLeft: number): void;
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

/** What is counted or known elsewhere. */
type Given =
  | 'identity'
  | 'audit'
  | 'tokens'
  | 'authorizers'
  | 'authenticationReloads'
  | 'encryption'
  | 'build'
  | 'readUsage'
  | 'certificates'
  | 'connections'
  | 'commits'
  | 'storeSize'
  | 'checkWritable';

/** The counters that other rooms keep, of a server without an identity or a listener, over a store in memory. */
export const emptyCounts = (): Pick<Counted, Given> => ({
  identity: '',
  build: undefined,
  readUsage: async () => noUsage,
  certificates: () => new Map(),
  connections: () => ({ open: 0, refused: 0, flooded: 0, failedHandshakes: 0 }),
  commits: { commits: distribution(flushBounds), flushes: distribution(flushBounds) },
  audit: emptyAuditCounts(),
  tokens: emptyTokenCounts(),
  authorizers: emptyAuthorizationCounts(),
  authenticationReloads: new Map(),
  encryption: emptyEncryptionCounts(),
  storeSize: async () => undefined,
  checkWritable: async () => undefined,
});

/** Creates empty metrics; `registry` is called on a scrape. */
export function createMetrics(
  registry: () => Registry,
  inFlight: InFlight,
  clock: Clock,
  counts = emptyCounts(),
): Metrics {
  const { find, ...requests } = createSeriesTable();
  const clientCertificates = distribution(expiryBounds);
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
    ...{ ...requests, clientCertificates, authentication, users, authorization, admission, conversions, ...counts },
    ...{ webhooks, rules, policyChecks, mutationChecks, inFlight, registry, startTime, controllers, storeRequests },
  };

  return {
    inFlight,
    series: find,
    certificateUsed: (secondsLeft) => observe(clientCertificates, expiryBounds, secondsLeft),
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
