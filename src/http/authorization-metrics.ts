import { createHash } from 'node:crypto';
import { conditionBounds } from './admission-counts.ts';
import type { AuthorizationCounts } from './authorization-counts.ts';
import { callBounds } from './bounds.ts';
import { labelText } from './distribution.ts';
import { histogram, line, type Metric } from './metric.ts';
import type { Counted } from './metrics.ts';

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

type Reload = AuthorizationCounts['reloads'] extends Map<string, infer R> ? R : never;

const reloads = ({ authorizers, identity }: Counted, name: string, read: (reload: Reload) => number): string[] => {
  const hash = `sha256:${createHash('sha256').update(identity).digest('hex')}`;
  return [...authorizers.reloads]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([status, reload]) => line(name, labelText({ apiserver_id_hash: hash, status }), read(reload)));
};

const reloadLabels = ['apiserver_id_hash', 'status'];

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
  {
    name: 'apiserver_authorization_config_controller_automatic_reload_last_timestamp_seconds',
    stability: 'ALPHA',
    help: 'When the authorization configuration was last reloaded, by outcome and hash of the identity of the server.',
    type: 'gauge',
    labels: reloadLabels,
    lines: (scrape, name) => reloads(scrape, name, ({ seconds }) => seconds),
  },
  {
    name: 'apiserver_authorization_config_controller_automatic_reloads_total',
    stability: 'ALPHA',
    help: 'Reloads of the authorization configuration, by outcome and hash of the identity of the server.',
    type: 'counter',
    labels: reloadLabels,
    lines: (scrape, name) => reloads(scrape, name, ({ count }) => count),
  },
];
