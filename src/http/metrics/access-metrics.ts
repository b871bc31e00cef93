import { ownMetric } from '../../meta/index.ts';
import { authenticationBounds, expiryBounds } from '../listener/bounds.ts';
import { authorizationMetrics } from './authorization-metrics.ts';
import { labelText, totalOf } from './distribution.ts';
import { histogram, line, type Metric } from './metric.ts';
import type { Counted } from './metrics.ts';
import { reloadMetrics } from './reload-metrics.ts';

/** The metrics of authentication, certificates, authorization and audit. */
export const accessMetrics: readonly Metric[] = [
  {
    name: 'authentication_attempts',
    stability: 'ALPHA',
    help: 'Attempts to authenticate, by result.',
    type: 'counter',
    labels: ['result'],
    lines: ({ authentication }, name) =>
      [...authentication].map(([result, times]) => line(name, labelText({ result }), totalOf(times))),
  },
  {
    name: 'authentication_duration_seconds',
    stability: 'ALPHA',
    help: 'Time to authenticate, by result.',
    type: 'histogram',
    labels: ['result'],
    lines: ({ authentication }, name) =>
      [...authentication].map(([result, times]) => histogram(name, labelText({ result }), times, authenticationBounds)),
  },
  {
    name: 'authenticated_user_requests',
    stability: 'ALPHA',
    help: 'Authenticated requests, by user name: names that are not well known are email_id or other.',
    type: 'counter',
    labels: ['username'],
    lines: ({ users }, name) => [...users].map(([username, value]) => line(name, labelText({ username }), value)),
  },
  {
    name: 'authentication_token_cache_request_total',
    stability: 'ALPHA',
    help: 'Tokens that the cache of valid tokens was asked for.',
    type: 'counter',
    labels: ['status'],
    lines: ({ tokens: { cache } }, name) => [
      line(name, 'status="hit"', cache.hits),
      line(name, 'status="miss"', cache.misses),
    ],
  },
  {
    name: 'authentication_token_cache_fetch_total',
    stability: 'ALPHA',
    help: 'Lookups of tokens, by outcome.',
    type: 'counter',
    labels: ['status'],
    lines: ({ tokens: { cache } }, name) => [
      line(name, 'status="ok"', cache.fetched),
      line(name, 'status="error"', cache.failed),
    ],
  },
  {
    name: 'authentication_token_cache_active_fetch_count',
    stability: 'ALPHA',
    help: 'Lookups of tokens under way, and requests that wait for one.',
    type: 'gauge',
    labels: ['status'],
    lines: ({ tokens: { cache } }, name) => [
      line(name, 'status="in_flight"', cache.inFlight),
      line(name, 'status="blocked"', cache.blocked),
    ],
  },
  serviceAccountTokens('legacy_tokens', 'Uses of tokens without an audience.', 'legacy'),
  serviceAccountTokens('legacy_auto_token_uses', 'Uses of tokens in generated secrets.', 'legacyAuto'),
  serviceAccountTokens('legacy_manual_token_uses', 'Uses of tokens in created secrets.', 'legacyManual'),
  serviceAccountTokens(
    'invalid_legacy_auto_token_uses',
    'Uses of tokens in secrets that are marked as invalid.',
    'legacyInvalidated',
  ),
  serviceAccountTokens('stale_tokens', 'Uses of tokens of pods after their requested lifetime.', 'stale'),
  serviceAccountTokens('valid_tokens', 'Uses of tokens of pods within their requested lifetime.', 'valid'),
  {
    name: 'apiserver_client_certificate_expiration_seconds',
    stability: 'ALPHA',
    help: 'How long certificates of clients were still valid when they authenticated a request.',
    type: 'histogram',
    labels: [],
    lines: ({ clientCertificates }, name) => [histogram(name, '', clientCertificates, expiryBounds)],
  },
  {
    name: ownMetric('certificate_expiration_timestamp_seconds'),
    stability: 'ALPHA',
    help: 'When a certificate in use expires, in seconds since 1970: that of the listener (serving), the authority that signs certificate signing requests (signing), that of the administrator (admin).',
    type: 'gauge',
    labels: ['certificate'],
    lines: ({ certificates }, name) =>
      [...certificates()].map(([certificate, time]) => line(name, labelText({ certificate }), time)),
  },
  ...reloadMetrics('authentication', ({ authenticationReloads }) => authenticationReloads),
  ...authorizationMetrics,
  {
    name: 'apiserver_audit_event_total',
    stability: 'ALPHA',
    help: 'Audit events generated and sent to the audit backends.',
    type: 'counter',
    labels: [],
    lines: ({ audit }, name) => [line(name, '', audit.events)],
  },
  {
    name: 'apiserver_audit_error_total',
    stability: 'ALPHA',
    help: 'Audit events that were lost, by the plugin that lost them.',
    type: 'counter',
    labels: ['plugin'],
    lines: ({ audit }, name) => [...audit.errors].map(([plugin, value]) => line(name, labelText({ plugin }), value)),
  },
  {
    name: 'apiserver_audit_level_total',
    stability: 'ALPHA',
    help: 'Requests by the level of the audit policy.',
    type: 'counter',
    labels: ['level'],
    lines: ({ audit }, name) => [...audit.levels].map(([level, value]) => line(name, labelText({ level }), value)),
  },
  {
    name: 'apiserver_audit_requests_rejected_total',
    stability: 'ALPHA',
    help: 'Requests rejected because an audit backend failed.',
    type: 'counter',
    labels: [],
    lines: ({ audit }, name) => [line(name, '', audit.rejected)],
  },
];

function serviceAccountTokens(name: string, help: string, count: keyof Counted['tokens']['serviceAccount']): Metric {
  return {
    name: `serviceaccount_${name}_total`,
    stability: 'ALPHA',
    help,
    type: 'counter',
    labels: [],
    lines: ({ tokens: { serviceAccount } }, metric) => [line(metric, '', serviceAccount[count])],
  };
}
