import { callBounds } from '../listener/bounds.ts';
import { conditionBounds } from './admission-counts.ts';
import { labelText } from './distribution.ts';
import { histogram, line, type Metric } from './metric.ts';
import { reloadMetrics } from './reload-metrics.ts';

type Counters = 'decisions' | 'conditionErrors' | 'conditionExclusions' | 'evaluations' | 'failedOpen';

const counter = (name: string, help: string, labels: readonly string[], counts: Counters): Metric => ({
  ...{ name: `apiserver_authorization_${name}`, stability: 'ALPHA', help, type: 'counter', labels },
  lines: ({ authorizers }, metric) =>
    [...authorizers[counts]].map(([ofLabels, value]) => line(metric, ofLabels, value)),
});

const times = (
  name: string,
  help: string,
  labels: readonly string[],
  counts: 'conditionTimes' | 'durations',
  bounds: readonly number[],
): Metric => ({
  ...{ name: `apiserver_authorization_${name}`, stability: 'ALPHA', help, type: 'histogram', labels },
  lines: ({ authorizers }, metric) =>
    [...authorizers[counts]].map(([ofLabels, values]) => histogram(metric, ofLabels, values, bounds)),
});

/** The metrics of authorizers and of their configuration. */
export const authorizationMetrics: readonly Metric[] = [
  {
    name: 'authorization_attempts_total',
    stability: 'ALPHA',
    help: 'Requests that were authorized, by result.',
    type: 'counter',
    labels: ['result'],
    lines: ({ authorization }, name) =>
      [...authorization].map(([result, value]) => line(name, labelText({ result }), value)),
  },
  counter(
    'decisions_total',
    'Decisions of authorizers that allowed or denied, by type and name of the authorizer.',
    ['decision', 'name', 'type'],
    'decisions',
  ),
  counter(
    'webhook_evaluations_total',
    'Calls of authorization webhooks, by name of the authorizer and result.',
    ['name', 'result'],
    'evaluations',
  ),
  times(
    'webhook_duration_seconds',
    'Time of calls of authorization webhooks, by name of the authorizer and result.',
    ['name', 'result'],
    'durations',
    callBounds,
  ),
  counter(
    'webhook_evaluations_fail_open_total',
    'Decisions for which an authorization webhook failed and later authorizers were asked, by result of the last call.',
    ['name', 'result'],
    'failedOpen',
  ),
  counter(
    'match_condition_evaluation_errors_total',
    'Decisions for which match conditions could not be evaluated and none was false, by authorizer.',
    ['name', 'type'],
    'conditionErrors',
  ),
  counter(
    'match_condition_exclusions_total',
    'Decisions for which a webhook was not asked because a match condition was false, by authorizer.',
    ['name', 'type'],
    'conditionExclusions',
  ),
  times(
    'match_condition_evaluation_seconds',
    'Time to evaluate the match conditions of an authorizer.',
    ['name', 'type'],
    'conditionTimes',
    conditionBounds,
  ),
  ...reloadMetrics('authorization', ({ authorizers }) => authorizers.reloads),
];
