import { type ByteString, encodeText, featureList, featureMetric, formatGroupResource } from '../meta/index.ts';
import { conditionBounds, policyBounds, type WebhookCounts, webhookBounds } from './admission-metrics.ts';
import { controllerMetrics } from './controller-metrics.ts';
import { type Distribution, distribution, labelText } from './distribution.ts';
import { encryptionMetrics } from './encryption-metrics.ts';
import { histogram, line, type Metric } from './metric.ts';
import { admissionBounds, authenticationBounds, type Counted, durationBounds, sizeBounds } from './metrics.ts';
import { storeMetrics } from './store-metrics.ts';

/** The target size of a piece (bytes). */
const pieceSize = 64 * 1024;

/** The current text in pieces, with a `pause` after each but the last. The lines of one histogram are consistent. */
export async function* metricsText(counted: Counted, pause: () => Promise<void>): AsyncGenerator<ByteString> {
  let piece = '';
  for (const { name, stability, help, type, lines } of metrics) {
    const level = stability === undefined ? '' : `[${stability}] `;
    piece += `# HELP ${name} ${level}${help}\n# TYPE ${name} ${type}\n`;
    for (const text of await lines(counted, name)) {
      piece += text;
      if (piece.length < pieceSize) continue;
      yield encodeText(piece);
      piece = '';
      await pause();
    }
  }
  yield encodeText(piece);
}

const metrics: readonly Metric[] = [
  {
    name: 'apiserver_identity_info',
    stability: 'ALPHA',
    help: 'The API server that these metrics are of, by the name of its identity lease: always 1.',
    type: 'gauge',
    lines: ({ identity }, name) => (identity === '' ? [] : [line(name, labelText({ identity }), 1)]),
  },
  {
    name: 'apiserver_request_total',
    stability: 'STABLE',
    help: 'Requests answered, by kind of request and HTTP status code.',
    type: 'counter',
    *lines({ series }, name) {
      for (const { labels, codes } of series.values()) {
        for (const [code, value] of codes)
          yield line(name, `${labels},code="${code < 100 ? `${code}xx` : code}"`, value);
      }
    },
  },
  {
    name: 'apiserver_request_duration_seconds',
    stability: 'STABLE',
    help: 'Time from the request to the end of its answer.',
    type: 'histogram',
    *lines({ series }, name) {
      for (const { labels, duration } of series.values()) yield histogram(name, labels, duration, durationBounds);
    },
  },
  {
    name: 'apiserver_response_sizes',
    stability: 'STABLE',
    help: 'Bytes of the answers, before the transport.',
    type: 'histogram',
    *lines({ series }, name) {
      for (const { labels, watched, size } of series.values()) {
        if (watched === undefined) yield histogram(name, labels, size, sizeBounds);
      }
    },
  },
  {
    name: 'apiserver_watch_events_total',
    stability: 'ALPHA',
    help: 'Events sent to watchers.',
    type: 'counter',
    *lines({ series }, name) {
      const sent = new Map<string, number>();
      for (const { watched, watchEvents } of series.values()) {
        if (watched !== undefined) sent.set(watched, (sent.get(watched) ?? 0) + watchEvents);
      }
      for (const [labels, value] of sent) yield line(name, labels, value);
    },
  },
  {
    name: 'apiserver_current_inflight_requests',
    stability: 'STABLE',
    help: 'Requests under way, but for those that last long.',
    type: 'gauge',
    lines: ({ inFlight: { counts } }, name) => [
      line(name, 'request_kind="readOnly"', counts.readOnly),
      line(name, 'request_kind="mutating"', counts.mutating),
    ],
  },
  {
    name: 'apiserver_longrunning_requests',
    stability: 'STABLE',
    help: 'Watches, and requests that go on to nodes, under way.',
    type: 'gauge',
    lines: ({ inFlight: { counts } }, name) => [
      line(name, 'verb="WATCH",component="apiserver"', counts.longRunning),
      line(name, 'verb="CONNECT",component="apiserver"', counts.proxied),
    ],
  },
  {
    name: 'apiserver_storage_objects',
    stability: 'STABLE',
    help: 'Objects stored, by resource.',
    type: 'gauge',
    *lines({ registry }, name) {
      for (const { definition, id, keyPrefix, cache } of registry().resources) {
        if (!definition.verbs.includes('watch')) continue;
        const labels = labelText({ resource: formatGroupResource(id) });
        yield line(name, labels, cache.snapshot().count(keyPrefix));
      }
    },
  },
  {
    name: 'authentication_attempts',
    stability: 'ALPHA',
    help: 'Attempts to authenticate, by result.',
    type: 'counter',
    lines: ({ authentication }, name) =>
      [...authentication].map(([result, { counts }]) =>
        line(
          name,
          labelText({ result }),
          counts.reduce((sum, count) => sum + count, 0),
        ),
      ),
  },
  {
    name: 'authentication_duration_seconds',
    stability: 'ALPHA',
    help: 'Time to authenticate, by result.',
    type: 'histogram',
    lines: ({ authentication }, name) =>
      [...authentication].map(([result, times]) => histogram(name, labelText({ result }), times, authenticationBounds)),
  },
  {
    name: 'authenticated_user_requests',
    stability: 'ALPHA',
    help: 'Authenticated requests, by user name: names that are not well known are email_id or other.',
    type: 'counter',
    lines: ({ users }, name) => [...users].map(([username, value]) => line(name, labelText({ username }), value)),
  },
  {
    name: 'authentication_token_cache_request_total',
    stability: 'ALPHA',
    help: 'Tokens that the cache of valid tokens was asked for.',
    type: 'counter',
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
    name: 'apiserver_authorization_decisions_total',
    stability: 'ALPHA',
    help: 'Decisions on what a requester may do.',
    type: 'counter',
    lines: ({ authorization }, name) =>
      [...authorization].map(([decision, value]) => line(name, labelText({ decision }), value)),
  },
  {
    name: 'apiserver_audit_event_total',
    stability: 'ALPHA',
    help: 'Audit events generated and sent to the audit backends.',
    type: 'counter',
    lines: ({ audit }, name) => [line(name, '', audit.events)],
  },
  {
    name: 'apiserver_audit_error_total',
    stability: 'ALPHA',
    help: 'Audit events that were lost, by the plugin that lost them.',
    type: 'counter',
    lines: ({ audit }, name) => [...audit.errors].map(([plugin, value]) => line(name, labelText({ plugin }), value)),
  },
  {
    name: 'apiserver_audit_level_total',
    stability: 'ALPHA',
    help: 'Requests by the level of the audit policy.',
    type: 'counter',
    lines: ({ audit }, name) => [...audit.levels].map(([level, value]) => line(name, labelText({ level }), value)),
  },
  {
    name: 'apiserver_audit_requests_rejected_total',
    stability: 'ALPHA',
    help: 'Requests rejected because an audit backend failed.',
    type: 'counter',
    lines: ({ audit }, name) => [line(name, '', audit.rejected)],
  },
  {
    name: 'apiserver_admission_controller_admission_duration_seconds',
    stability: 'STABLE',
    help: 'Time that admission plugins took.',
    type: 'histogram',
    lines: ({ admission }, name) => admissionTimes(name, admission, true),
  },
  {
    name: 'apiserver_admission_step_admission_duration_seconds',
    stability: 'STABLE',
    help: 'Time that all admission plugins of a step took together.',
    type: 'histogram',
    lines: ({ admission }, name) => admissionTimes(name, admission, false),
  },
  {
    name: 'apiserver_admission_webhook_admission_duration_seconds',
    stability: 'STABLE',
    help: 'Time that admission webhooks took.',
    type: 'histogram',
    lines: ({ webhooks }, name) =>
      [...webhooks.durations].map(([labels, times]) => histogram(name, labels, times, webhookBounds)),
  },
  webhookCounter('webhook_request_total', 'Calls of admission webhooks.', 'requests'),
  webhookCounter('webhook_rejection_count', 'Requests rejected by or for an admission webhook.', 'rejections'),
  webhookCounter('webhook_fail_open_count', 'Failures of admission webhooks that are ignored.', 'failedOpen'),
  webhookCounter(
    'match_condition_evaluation_errors_total',
    'Match conditions that could not be evaluated.',
    'conditionErrors',
  ),
  webhookCounter('match_condition_exclusions_total', 'Requests that match conditions excluded.', 'conditionExclusions'),
  {
    name: 'apiserver_admission_match_condition_evaluation_seconds',
    stability: 'ALPHA',
    help: 'Time to evaluate match conditions.',
    type: 'histogram',
    lines: ({ webhooks }, name) =>
      [...webhooks.conditionTimes].map(([labels, times]) => histogram(name, labels, times, conditionBounds)),
  },
  ...policyMetrics('validating', 'BETA', 'Checks of policies that did not simply allow a request', 'policyChecks'),
  ...policyMetrics('mutating', 'ALPHA', 'Mutations of policies', 'mutationChecks'),
  {
    name: 'apiserver_crd_conversion_webhook_duration_seconds',
    stability: 'ALPHA',
    help: 'Time that conversion webhooks took.',
    type: 'histogram',
    lines: ({ conversions }, name) =>
      [...conversions].map(([labels, times]) => histogram(name, labels, times, authenticationBounds)),
  },
  {
    name: 'apiserver_validation_declarative_validation_mismatch_total',
    stability: 'BETA',
    help: 'Differences between what declared rules find and those written by hand.',
    type: 'counter',
    lines: ({ rules }, name) => [line(name, '', rules.mismatches)],
  },
  {
    name: 'apiserver_validation_declarative_validation_panic_total',
    stability: 'BETA',
    help: 'Failures of declared rules.',
    type: 'counter',
    lines: ({ rules }, name) => [line(name, '', rules.failures)],
  },
  {
    name: featureMetric,
    stability: 'BETA',
    help: 'Features by stage: 1 for those that are on, 0 for the others.',
    type: 'gauge',
    lines: ({ registry }, metric) => {
      const features: { readonly [name: string]: boolean } = registry().features;
      return featureList.map(([name, { stage }]) =>
        line(metric, labelText({ name, stage: stage === 'stable' ? '' : stage.toUpperCase() }), features[name] ? 1 : 0),
      );
    },
  },
  ...storeMetrics,
  ...encryptionMetrics,
  ...controllerMetrics,
  {
    name: 'process_cpu_seconds_total',
    help: 'Processor time spent, user and system.',
    type: 'counter',
    lines: (_, name) => {
      const { user, system } = process.cpuUsage();
      return [line(name, '', (user + system) / 1e6)];
    },
  },
  {
    name: 'process_resident_memory_bytes',
    help: 'Resident memory.',
    type: 'gauge',
    lines: (_, name) => [line(name, '', process.memoryUsage.rss())],
  },
  {
    name: 'process_start_time_seconds',
    stability: 'ALPHA',
    help: 'When the server began, in seconds since 1970.',
    type: 'gauge',
    lines: ({ startTime }, name) => [line(name, '', startTime)],
  },
];

function serviceAccountTokens(name: string, help: string, count: keyof Counted['tokens']['serviceAccount']): Metric {
  return {
    name: `serviceaccount_${name}_total`,
    stability: 'ALPHA',
    help,
    type: 'counter',
    lines: ({ tokens: { serviceAccount } }, metric) => [line(metric, '', serviceAccount[count])],
  };
}

type CounterName = 'requests' | 'rejections' | 'failedOpen' | 'conditionErrors' | 'conditionExclusions';

/** How often and how long policies were evaluated. */
function policyMetrics(
  kind: string,
  stability: 'ALPHA' | 'BETA',
  what: string,
  checks: 'policyChecks' | 'mutationChecks',
): readonly Metric[] {
  const name = `apiserver_${kind}_admission_policy_check`;
  const total = ({ counts }: Distribution) => counts.reduce((sum, count) => sum + count, 0);
  return [
    {
      ...{ name: `${name}_total`, stability, type: 'counter' },
      help: `${what}, by what followed.`,
      lines: (counted, metric) => [...counted[checks]].map(([labels, times]) => line(metric, labels, total(times))),
    },
    {
      ...{ name: `${name}_duration_seconds`, stability, type: 'histogram' },
      help: `${what}: the time that they took.`,
      lines: (counted, id) => [...counted[checks]].map(([labels, times]) => histogram(id, labels, times, policyBounds)),
    },
  ];
}

function webhookCounter(name: string, help: string, count: CounterName & keyof WebhookCounts): Metric {
  return {
    name: `apiserver_admission_${name}`,
    stability: 'ALPHA',
    help,
    type: 'counter',
    lines: ({ webhooks }, metric) => [...webhooks[count]].map(([labels, value]) => line(metric, labels, value)),
  };
}

/** The series with at least one observation; one without labels before the first observation. */
function admissionTimes(name: string, admission: Counted['admission'], ofPlugins: boolean): string[] {
  const seen = [...admission.values()].filter(
    ({ plugin, seconds }) => plugin === ofPlugins && seconds.counts.some((count) => count > 0),
  );
  const none = { labels: '', seconds: distribution(admissionBounds) };
  return (seen.length === 0 ? [none] : seen).map(({ labels, seconds }) =>
    histogram(name, labels, seconds, admissionBounds),
  );
}
