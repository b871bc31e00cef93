import type {
  MutationCheck,
  MutationObserver,
  Observer,
  PolicyObserver,
  WebhookObserver,
} from '../../registry/index.ts';
import { conditionBuckets, type MetricSet, millisecondBuckets } from './metric.ts';
import { type Distribution, labelText } from './series.ts';
import { seriesNames } from './series-names.ts';

export interface AdmissionMetrics {
  readonly admission: Observer['admission'];
  readonly webhooks: WebhookObserver;
  readonly policyChecked: PolicyObserver;
  readonly mutationChecked: MutationObserver;
  /** Observes a conversion by a webhook. `definition`: the name of the custom resource definition. */
  converted(definition: string, from: string, to: string, succeeded: boolean, seconds: number): void;
  /** Counts a difference between declarative and handwritten validation. */
  mismatched(): void;
  /** Counts a failure of declarative validation. */
  ruleFailed(): void;
}

/** Declares the metrics of admission plugins, webhooks and policies, and of declarative validation. */
export function declareAdmissionMetrics(set: MetricSet): AdmissionMetrics {
  const admission = declarePluginMetrics(set);
  const webhooks = declareWebhookMetrics(set);
  const policyChecked = declarePolicyMetrics(set);
  const mutationChecked = declareMutationMetrics(set);
  const conversions = set.histogram({
    name: 'apiserver_crd_conversion_webhook_duration_seconds',
    stability: 'ALPHA',
    help: 'Time that conversion webhooks took.',
    labels: ['crd_name', 'from_version', 'to_version', 'succeeded'],
    buckets: millisecondBuckets,
  });
  const mismatches = set
    .counter({
      name: 'apiserver_validation_declarative_validation_mismatch_total',
      stability: 'BETA',
      help: 'Differences between what declared rules find and those written by hand.',
    })
    .series();
  const failures = set
    .counter({
      name: 'apiserver_validation_declarative_validation_panic_total',
      stability: 'BETA',
      help: 'Failures of declared rules.',
    })
    .series();
  const limitDefinition = seriesNames();
  return {
    admission,
    webhooks,
    policyChecked,
    mutationChecked,
    converted: (definition, from, to, succeeded, seconds) => {
      const crd_name = limitDefinition(definition);
      const labels = { crd_name, from_version: from, to_version: to, succeeded: String(succeeded) };
      conversions.series(labels).observe(seconds);
    },
    mismatched: () => void mismatches.value++,
    ruleFailed: () => void failures.value++,
  };
}

/** The observer of a plugin, or of all plugins of a step, whose `plugin` is empty. */
function declarePluginMetrics(set: MetricSet): Observer['admission'] {
  const buckets = [0.005, 0.025, 0.1, 0.5, 1, 2.5];
  const plugins = set.histogram({
    name: 'apiserver_admission_controller_admission_duration_seconds',
    stability: 'STABLE',
    help: 'Time that admission plugins took.',
    labels: ['name', 'operation', 'rejected', 'type'],
    buckets,
    showsEmptySeries: true,
  });
  const steps = set.histogram({
    name: 'apiserver_admission_step_admission_duration_seconds',
    stability: 'STABLE',
    help: 'Time that all admission plugins of a step took together.',
    labels: ['operation', 'rejected', 'type'],
    buckets,
    showsEmptySeries: true,
  });
  const observers = new Map<string, (seconds: number) => void>();
  return ({ plugin, type, operation, rejected: isRejected }) => {
    const rejected = String(isRejected);
    const key = `${plugin}/${type}/${operation}/${rejected}`;
    let observer = observers.get(key);
    if (observer === undefined) {
      // A series begins with its first observation.
      let series: Distribution | undefined;
      observer = (seconds) => {
        series ??=
          plugin === ''
            ? steps.series({ operation, rejected, type })
            : plugins.series({ name: plugin, operation, rejected, type });
        series.observe(seconds);
      };
      observers.set(key, observer);
    }
    return observer;
  };
}

/** Higher HTTP status codes are counted as this one. */
const maxCode = 600;

function declareWebhookMetrics(set: MetricSet): WebhookObserver {
  const durations = set.histogram({
    name: 'apiserver_admission_webhook_admission_duration_seconds',
    stability: 'STABLE',
    help: 'Time that admission webhooks took.',
    labels: ['name', 'operation', 'rejected', 'type'],
    buckets: [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25],
  });
  const requests = set.counter({
    name: 'apiserver_admission_webhook_request_total',
    stability: 'ALPHA',
    help: 'Calls of admission webhooks.',
    labels: ['code', 'name', 'operation', 'rejected', 'type'],
  });
  const rejections = set.counter({
    name: 'apiserver_admission_webhook_rejection_count',
    stability: 'ALPHA',
    help: 'Requests rejected by or for an admission webhook.',
    labels: ['error_type', 'name', 'operation', 'rejection_code', 'type'],
  });
  const failedOpen = set.counter({
    name: 'apiserver_admission_webhook_fail_open_count',
    stability: 'ALPHA',
    help: 'Failures of admission webhooks that are ignored.',
    labels: ['name', 'type'],
  });
  const conditionLabels = ['kind', 'name', 'operation', 'type'];
  const conditionErrors = set.counter({
    name: 'apiserver_admission_match_condition_evaluation_errors_total',
    stability: 'ALPHA',
    help: 'Match conditions that could not be evaluated.',
    labels: conditionLabels,
  });
  const conditionExclusions = set.counter({
    name: 'apiserver_admission_match_condition_exclusions_total',
    stability: 'ALPHA',
    help: 'Requests that match conditions excluded.',
    labels: conditionLabels,
  });
  const conditionTimes = set.histogram({
    name: 'apiserver_admission_match_condition_evaluation_seconds',
    stability: 'ALPHA',
    help: 'Time to evaluate match conditions.',
    labels: conditionLabels,
    buckets: conditionBuckets,
  });
  const limitName = seriesNames();
  const codeText = (code: number) => String(Math.min(code, maxCode));
  return {
    called: ({ name: webhook, type, operation, code, rejected: isRejected }, seconds) => {
      const name = limitName(webhook);
      const rejected = String(isRejected);
      requests.series({ code: codeText(code), name, operation, rejected, type }).value++;
      durations.series({ name, operation, rejected, type }).observe(seconds);
    },
    rejected: ({ name: webhook, type, operation, code, cause }) => {
      const name = limitName(webhook);
      rejections.series({ error_type: cause, name, operation, rejection_code: codeText(code), type }).value++;
    },
    failedOpen: ({ name, type }) => void failedOpen.series({ name: limitName(name), type }).value++,
    conditions: ({ name, type, operation }, result, seconds) => {
      const labels = { kind: 'webhook', name: limitName(name), operation, type };
      conditionTimes.series(labels).observe(seconds);
      if (result === 'error') conditionErrors.series(labels).value++;
      if (result === 'no match') conditionExclusions.series(labels).value++;
    },
  };
}

const policyBuckets = [0.0000005, 0.001, 0.01, 0.1, 1];
/** Checks of policies with series of their own. */
const maxPolicySeries = 4_000;

function declarePolicyMetrics(set: MetricSet): PolicyObserver {
  const labels = ['enforcement_action', 'error_type', 'policy', 'policy_binding'];
  const total = set.counter({
    name: 'apiserver_validating_admission_policy_check_total',
    stability: 'BETA',
    help: 'Checks of policies that did not simply allow a request, by what followed.',
    labels,
  });
  const duration = set.histogram({
    name: 'apiserver_validating_admission_policy_check_duration_seconds',
    stability: 'BETA',
    help: 'Checks of policies that did not simply allow a request: the time that they took.',
    labels,
    buckets: policyBuckets,
  });
  const limitPolicies = policyNames();
  return ({ action, ...check }, seconds) => {
    const { error, policy, binding } = limitPolicies(check, action);
    const text = labelText({ enforcement_action: action, error_type: error, policy, policy_binding: binding });
    total.series(text).value++;
    duration.series(text).observe(seconds);
  };
}

function declareMutationMetrics(set: MetricSet): MutationObserver {
  const labels = ['error_type', 'policy', 'policy_binding'];
  const total = set.counter({
    name: 'apiserver_mutating_admission_policy_check_total',
    stability: 'ALPHA',
    help: 'Mutations of policies, by what followed.',
    labels,
  });
  const duration = set.histogram({
    name: 'apiserver_mutating_admission_policy_check_duration_seconds',
    stability: 'ALPHA',
    help: 'Mutations of policies: the time that they took.',
    labels,
    buckets: policyBuckets,
  });
  const limitPolicies = policyNames();
  return (check, seconds) => {
    const { error, policy, binding } = limitPolicies(check, '');
    const text = labelText({ error_type: error, policy, policy_binding: binding });
    total.series(text).value++;
    duration.series(text).observe(seconds);
  };
}

/** Limits the policies in labels: the first checks keep their names, all further checks are of `other`. */
function policyNames(): (check: MutationCheck, action: string) => MutationCheck {
  const checks = new Set<string>();
  return (check, action) => {
    const key = JSON.stringify([action, check.error, check.policy, check.binding]);
    if (checks.size < maxPolicySeries) checks.add(key);
    return checks.has(key) ? check : { ...check, policy: 'other', binding: 'other' };
  };
}
