import type { AuthorizationObserver } from '../../auth/index.ts';
import type { Clock } from '../../meta/index.ts';
import { conditionBuckets, MetricSet } from './metric.ts';
import { countReloads, type ReloadCounts } from './reload-metrics.ts';
import { labelText } from './series.ts';
import { seriesNames } from './series-names.ts';

/** The metrics of authorizers, which exist before the other metrics of a server. */
export interface AuthorizerMetrics {
  readonly set: MetricSet;
  /** Of the authorization configuration. */
  readonly reloads: ReloadCounts;
  readonly authorizer: AuthorizationObserver['authorizer'];
}

export function createAuthorizerMetrics(): AuthorizerMetrics {
  const set = new MetricSet();
  const counter = (name: string, help: string, labels: readonly string[]) =>
    set.counter({ name: `apiserver_authorization_${name}`, stability: 'ALPHA', help, labels });
  const histogram = (name: string, help: string, labels: readonly string[], buckets: readonly number[]) =>
    set.histogram({ name: `apiserver_authorization_${name}`, stability: 'ALPHA', help, labels, buckets });
  const decisions = counter(
    'decisions_total',
    'Decisions of authorizers that allowed or denied, by type and name of the authorizer.',
    ['decision', 'name', 'type'],
  );
  const evaluations = counter(
    'webhook_evaluations_total',
    'Calls of authorization webhooks, by name of the authorizer and result.',
    ['name', 'result'],
  );
  const durations = histogram(
    'webhook_duration_seconds',
    'Time of calls of authorization webhooks, by name of the authorizer and result.',
    ['name', 'result'],
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  );
  const failedOpen = counter(
    'webhook_evaluations_fail_open_total',
    'Decisions for which an authorization webhook failed and later authorizers were asked, by result of the last call.',
    ['name', 'result'],
  );
  const conditionErrors = counter(
    'match_condition_evaluation_errors_total',
    'Decisions for which match conditions could not be evaluated and none was false, by authorizer.',
    ['name', 'type'],
  );
  const conditionExclusions = counter(
    'match_condition_exclusions_total',
    'Decisions for which a webhook was not asked because a match condition was false, by authorizer.',
    ['name', 'type'],
  );
  const conditionTimes = histogram(
    'match_condition_evaluation_seconds',
    'Time to evaluate the match conditions of an authorizer.',
    ['name', 'type'],
    conditionBuckets,
  );
  const limitName = seriesNames();
  return {
    set,
    reloads: new Map(),
    authorizer(type, authorizerName) {
      const name = limitName(authorizerName);
      const labels = labelText({ name, type });
      const decisionLabels = {
        allowed: labelText({ decision: 'allowed', name, type }),
        denied: labelText({ decision: 'denied', name, type }),
      };
      return {
        decided: (decision) => void decisions.series(decisionLabels[decision]).value++,
        matched(outcome, seconds) {
          conditionTimes.series(labels).observe(seconds);
          if (outcome === 'error') conditionErrors.series(labels).value++;
          if (outcome === 'exclusion') conditionExclusions.series(labels).value++;
        },
        called(result, seconds) {
          evaluations.series({ name, result }).value++;
          durations.series({ name, result }).observe(seconds);
        },
        failedOpen: (result) => void failedOpen.series({ name, result }).value++,
      };
    },
  };
}

/** Observes authorizers and the reloads of their configuration. */
export const authorizationObserver = (
  { authorizer, reloads }: AuthorizerMetrics,
  clock: Pick<Clock, 'now'>,
): AuthorizationObserver => ({ authorizer, reloaded: countReloads(reloads, clock) });
