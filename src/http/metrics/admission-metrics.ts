import { admissionBounds, authenticationBounds } from '../listener/bounds.ts';
import { conditionBounds, policyBounds, type WebhookCounts, webhookBounds } from './admission-counts.ts';
import { distribution, totalOf } from './distribution.ts';
import { histogram, line, type Metric } from './metric.ts';
import type { Counted } from './metrics.ts';

/** The metrics of admission plugins, webhooks and policies, and of declared validation. */
export const admissionMetrics: readonly Metric[] = [
  {
    name: 'apiserver_admission_controller_admission_duration_seconds',
    stability: 'STABLE',
    help: 'Time that admission plugins took.',
    type: 'histogram',
    labels: ['name', 'operation', 'rejected', 'type'],
    lines: ({ admission }, name) => admissionTimes(name, admission, true),
  },
  {
    name: 'apiserver_admission_step_admission_duration_seconds',
    stability: 'STABLE',
    help: 'Time that all admission plugins of a step took together.',
    type: 'histogram',
    labels: ['operation', 'rejected', 'type'],
    lines: ({ admission }, name) => admissionTimes(name, admission, false),
  },
  {
    name: 'apiserver_admission_webhook_admission_duration_seconds',
    stability: 'STABLE',
    help: 'Time that admission webhooks took.',
    type: 'histogram',
    labels: ['name', 'operation', 'rejected', 'type'],
    lines: ({ webhooks }, name) =>
      [...webhooks.durations].map(([labels, times]) => histogram(name, labels, times, webhookBounds)),
  },
  webhookCounter('webhook_request_total', 'Calls of admission webhooks.', 'requests', [
    ...['code', 'name', 'operation', 'rejected', 'type'],
  ]),
  webhookCounter('webhook_rejection_count', 'Requests rejected by or for an admission webhook.', 'rejections', [
    ...['error_type', 'name', 'operation', 'rejection_code', 'type'],
  ]),
  webhookCounter('webhook_fail_open_count', 'Failures of admission webhooks that are ignored.', 'failedOpen', [
    ...['name', 'type'],
  ]),
  webhookCounter(
    'match_condition_evaluation_errors_total',
    'Match conditions that could not be evaluated.',
    'conditionErrors',
    ['kind', 'name', 'operation', 'type'],
  ),
  webhookCounter(
    'match_condition_exclusions_total',
    'Requests that match conditions excluded.',
    'conditionExclusions',
    ['kind', 'name', 'operation', 'type'],
  ),
  {
    name: 'apiserver_admission_match_condition_evaluation_seconds',
    stability: 'ALPHA',
    help: 'Time to evaluate match conditions.',
    type: 'histogram',
    labels: ['kind', 'name', 'operation', 'type'],
    lines: ({ webhooks }, name) =>
      [...webhooks.conditionTimes].map(([labels, times]) => histogram(name, labels, times, conditionBounds)),
  },
  ...policyMetrics('validating', 'BETA', 'Checks of policies that did not simply allow a request', 'policyChecks', [
    ...['enforcement_action', 'error_type', 'policy', 'policy_binding'],
  ]),
  ...policyMetrics('mutating', 'ALPHA', 'Mutations of policies', 'mutationChecks', [
    ...['error_type', 'policy', 'policy_binding'],
  ]),
  {
    name: 'apiserver_crd_conversion_webhook_duration_seconds',
    stability: 'ALPHA',
    help: 'Time that conversion webhooks took.',
    type: 'histogram',
    labels: ['crd_name', 'from_version', 'to_version', 'succeeded'],
    lines: ({ conversions }, name) =>
      [...conversions].map(([labels, times]) => histogram(name, labels, times, authenticationBounds)),
  },
  {
    name: 'apiserver_validation_declarative_validation_mismatch_total',
    stability: 'BETA',
    help: 'Differences between what declared rules find and those written by hand.',
    type: 'counter',
    labels: [],
    lines: ({ rules }, name) => [line(name, '', rules.mismatches)],
  },
  {
    name: 'apiserver_validation_declarative_validation_panic_total',
    stability: 'BETA',
    help: 'Failures of declared rules.',
    type: 'counter',
    labels: [],
    lines: ({ rules }, name) => [line(name, '', rules.failures)],
  },
];

type CounterName = 'requests' | 'rejections' | 'failedOpen' | 'conditionErrors' | 'conditionExclusions';

/** How often and how long policies were evaluated. */
function policyMetrics(
  kind: string,
  stability: 'ALPHA' | 'BETA',
  what: string,
  checks: 'policyChecks' | 'mutationChecks',
  labels: readonly string[],
): readonly Metric[] {
  const name = `apiserver_${kind}_admission_policy_check`;
  return [
    {
      ...{ name: `${name}_total`, stability, type: 'counter', labels },
      help: `${what}, by what followed.`,
      lines: (counted, metric) => [...counted[checks]].map(([set, times]) => line(metric, set, totalOf(times))),
    },
    {
      ...{ name: `${name}_duration_seconds`, stability, type: 'histogram', labels },
      help: `${what}: the time that they took.`,
      lines: (counted, id) => [...counted[checks]].map(([set, times]) => histogram(id, set, times, policyBounds)),
    },
  ];
}

function webhookCounter(
  name: string,
  help: string,
  count: CounterName & keyof WebhookCounts,
  labels: readonly string[],
): Metric {
  return {
    name: `apiserver_admission_${name}`,
    stability: 'ALPHA',
    help,
    type: 'counter',
    labels,
    lines: ({ webhooks }, metric) => [...webhooks[count]].map(([set, value]) => line(metric, set, value)),
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
