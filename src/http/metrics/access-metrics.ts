import type { AuditCounts } from '../../audit/index.ts';
import type { TokenCounts } from '../../auth/index.ts';
import { ownMetric } from '../../meta/index.ts';
import type { AuthorizerMetrics } from './authorization-metrics.ts';
import { type MetricSet, millisecondBuckets } from './metric.ts';
import { declareReloadMetrics, type ReloadCounts } from './reload-metrics.ts';
import {
  type CountAuthentication,
  type CountAuthorization,
  countAuthentications,
  countAuthorizations,
} from './series.ts';

export interface AccessMetrics {
  /** Observes the time for which a client certificate is still valid when it authenticates a request. */
  certificateUsed(secondsLeft: number): void;
  readonly authenticated: CountAuthentication;
  readonly authorized: CountAuthorization;
}

/** The counters that other parts of the server keep. */
export interface AccessCounts {
  /** The identity of the API server; empty: none. */
  readonly identity: string;
  readonly tokens: TokenCounts;
  /** When each certificate in use expires (seconds since 1970), by its purpose. */
  readonly certificates: () => ReadonlyMap<string, number>;
  /** Of the authentication configuration. */
  readonly authenticationReloads: ReloadCounts;
  readonly authorizers: AuthorizerMetrics;
  readonly audit: AuditCounts;
}

/** Declares the metrics of authentication, certificates, authorization and audit. */
export function declareAccessMetrics(set: MetricSet, counts: AccessCounts): AccessMetrics {
  const { identity, authorizers } = counts;
  const authenticated = declareAuthenticationMetrics(set);
  declareTokenMetrics(set, counts.tokens);
  const certificateUsed = declareCertificateMetrics(set, counts.certificates);
  declareReloadMetrics(set, 'authentication', counts.authenticationReloads, identity);
  const authorizations = set.counter({
    name: 'authorization_attempts_total',
    stability: 'ALPHA',
    help: 'Requests that were authorized, by result.',
    labels: ['result'],
  });
  set.include(authorizers.set);
  declareReloadMetrics(set, 'authorization', authorizers.reloads, identity);
  declareAuditMetrics(set, counts.audit);
  return { certificateUsed, authenticated, authorized: countAuthorizations(authorizations) };
}

function declareAuthenticationMetrics(set: MetricSet): CountAuthentication {
  const attempts = set.counter({
    name: 'authentication_attempts',
    stability: 'ALPHA',
    help: 'Attempts to authenticate, by result.',
    labels: ['result'],
  });
  const duration = set.histogram({
    name: 'authentication_duration_seconds',
    stability: 'ALPHA',
    help: 'Time to authenticate, by result.',
    labels: ['result'],
    buckets: millisecondBuckets,
  });
  const requests = set.counter({
    name: 'authenticated_user_requests',
    stability: 'ALPHA',
    help: 'Authenticated requests, by user name: names that are not well known are email_id or other.',
    labels: ['username'],
  });
  return countAuthentications({ attempts, duration, requests });
}

function declareTokenMetrics(set: MetricSet, { cache, serviceAccount }: TokenCounts): void {
  set.observable({
    type: 'counter',
    name: 'authentication_token_cache_request_total',
    stability: 'ALPHA',
    help: 'Tokens that the cache of valid tokens was asked for.',
    labels: ['status'],
    read: () => [
      [{ status: 'hit' }, cache.hits],
      [{ status: 'miss' }, cache.misses],
    ],
  });
  set.observable({
    type: 'counter',
    name: 'authentication_token_cache_fetch_total',
    stability: 'ALPHA',
    help: 'Lookups of tokens, by outcome.',
    labels: ['status'],
    read: () => [
      [{ status: 'ok' }, cache.fetched],
      [{ status: 'error' }, cache.failed],
    ],
  });
  set.observable({
    type: 'gauge',
    name: 'authentication_token_cache_active_fetch_count',
    stability: 'ALPHA',
    help: 'Lookups of tokens under way, and requests that wait for one.',
    labels: ['status'],
    read: () => [
      [{ status: 'in_flight' }, cache.inFlight],
      [{ status: 'blocked' }, cache.blocked],
    ],
  });
  const declare = (name: string, help: string, count: keyof TokenCounts['serviceAccount']) =>
    set.observable({
      type: 'counter',
      name: `serviceaccount_${name}_total`,
      stability: 'ALPHA',
      help,
      read: () => [['', serviceAccount[count]]],
    });
  declare('legacy_tokens', 'Uses of tokens without an audience.', 'legacy');
  declare('legacy_auto_token_uses', 'Uses of tokens in generated secrets.', 'legacyAuto');
  declare('legacy_manual_token_uses', 'Uses of tokens in created secrets.', 'legacyManual');
  declare(
    'invalid_legacy_auto_token_uses',
    'Uses of tokens in secrets that are marked as invalid.',
    'legacyInvalidated',
  );
  declare('stale_tokens', 'Uses of tokens of pods after their requested lifetime.', 'stale');
  declare('valid_tokens', 'Uses of tokens of pods within their requested lifetime.', 'valid');
}

const hour = 3_600;
const day = 24 * hour;

function declareCertificateMetrics(
  set: MetricSet,
  certificates: AccessCounts['certificates'],
): AccessMetrics['certificateUsed'] {
  const expirations = set
    .histogram({
      name: 'apiserver_client_certificate_expiration_seconds',
      stability: 'ALPHA',
      help: 'How long certificates of clients were still valid when they authenticated a request.',
      buckets: [
        0,
        hour / 2,
        hour,
        2 * hour,
        6 * hour,
        12 * hour,
        day,
        2 * day,
        4 * day,
        7 * day,
        30 * day,
        90 * day,
        180 * day,
        360 * day,
      ],
    })
    .series();
  set.observable({
    type: 'gauge',
    name: ownMetric('certificate_expiration_timestamp_seconds'),
    across: 'one',
    stability: 'ALPHA',
    help: 'When a certificate in use expires, in seconds since 1970: that of the listener (serving), the authority that signs certificate signing requests (signing), that of the administrator (admin).',
    labels: ['certificate'],
    *read() {
      for (const [certificate, time] of certificates()) yield [{ certificate }, time];
    },
  });
  return (secondsLeft) => expirations.observe(secondsLeft);
}

function declareAuditMetrics(set: MetricSet, audit: AuditCounts): void {
  set.observable({
    type: 'counter',
    name: 'apiserver_audit_event_total',
    stability: 'ALPHA',
    help: 'Audit events generated and sent to the audit backends.',
    read: () => [['', audit.events]],
  });
  set.observable({
    type: 'counter',
    name: 'apiserver_audit_error_total',
    stability: 'ALPHA',
    help: 'Audit events that were lost, by the plugin that lost them.',
    labels: ['plugin'],
    *read() {
      for (const [plugin, count] of audit.errors) yield [{ plugin }, count];
    },
  });
  set.observable({
    type: 'counter',
    name: 'apiserver_audit_level_total',
    stability: 'ALPHA',
    help: 'Requests by the level of the audit policy.',
    labels: ['level'],
    *read() {
      for (const [level, count] of audit.levels) yield [{ level }, count];
    },
  });
  set.observable({
    type: 'counter',
    name: 'apiserver_audit_requests_rejected_total',
    stability: 'ALPHA',
    help: 'Requests rejected because an audit backend failed.',
    read: () => [['', audit.rejected]],
  });
}
