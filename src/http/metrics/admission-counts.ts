import type { MutationCheck, MutationObserver, PolicyObserver, WebhookObserver } from '../../registry/index.ts';
import { type Distribution, distribution, labelText, observe } from './distribution.ts';

/** Upper bounds of the histograms, as in the reference server. */
export const webhookBounds = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25];
export const conditionBounds = [0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25];

/** What is counted of admission webhooks and match conditions, by labels. */
export interface WebhookCounts {
  readonly requests: Map<string, number>;
  readonly rejections: Map<string, number>;
  readonly failedOpen: Map<string, number>;
  readonly conditionErrors: Map<string, number>;
  readonly conditionExclusions: Map<string, number>;
  readonly durations: Map<string, Distribution>;
  readonly conditionTimes: Map<string, Distribution>;
}

export const emptyWebhookCounts = (): WebhookCounts => ({
  requests: new Map(),
  rejections: new Map(),
  failedOpen: new Map(),
  conditionErrors: new Map(),
  conditionExclusions: new Map(),
  durations: new Map(),
  conditionTimes: new Map(),
});

/** How many webhooks have series of their own; all others are counted as `other`. */
const maxNames = 1_000;
/** Higher HTTP status codes are counted as this one. */
const maxCode = 600;

/** Counts calls of webhooks. */
export function webhookObserver(counts: WebhookCounts): WebhookObserver {
  const names = new Set<string>();
  const known = (name: string): string => {
    if (names.size < maxNames) names.add(name);
    return names.has(name) ? name : 'other';
  };
  const codeOf = (code: number) => String(Math.min(code, maxCode));
  return {
    called: ({ name: given, type, operation, code, rejected }, seconds) => {
      const name = known(given);
      add(counts.requests, { code: codeOf(code), name, operation, rejected: String(rejected), type });
      observeIn(counts.durations, { name, operation, rejected: String(rejected), type }, webhookBounds, seconds);
    },
    rejected: ({ name, type, operation, code, cause }) =>
      add(counts.rejections, {
        error_type: cause,
        name: known(name),
        operation,
        rejection_code: codeOf(code),
        type,
      }),
    failedOpen: ({ name, type }) => add(counts.failedOpen, { name: known(name), type }),
    conditions: ({ name, type, operation }, result, seconds) => {
      const labels = { kind: 'webhook', name: known(name), operation, type };
      observeIn(counts.conditionTimes, labels, conditionBounds, seconds);
      if (result === 'error') add(counts.conditionErrors, labels);
      if (result === 'no match') add(counts.conditionExclusions, labels);
    },
  };
}

export const policyBounds = [0.0000005, 0.001, 0.01, 0.1, 1];
/** How many checks of policies have series of their own. */
const maxPolicySeries = 4_000;

/** Counts the checks of validating policies, with their durations, by labels. */
export const policyObserver =
  (checks: Map<string, Distribution>): PolicyObserver =>
  ({ action, ...check }, seconds) =>
    observeCheck(checks, { enforcement_action: action }, check, seconds);

/** Counts the mutations of mutating policies in the same way. */
export const mutationObserver =
  (checks: Map<string, Distribution>): MutationObserver =>
  (check, seconds) =>
    observeCheck(checks, {}, check, seconds);

function observeCheck(
  checks: Map<string, Distribution>,
  more: Labels,
  { policy, binding, error }: MutationCheck,
  seconds: number,
): void {
  const labels = { ...more, error_type: error, policy, policy_binding: binding };
  const isKnown = checks.size < maxPolicySeries || checks.has(labelText(labels));
  const counted = isKnown ? labels : { ...labels, policy: 'other', policy_binding: 'other' };
  observeIn(checks, counted, policyBounds, seconds);
}

type Labels = { readonly [label: string]: string };

function add(counts: Map<string, number>, labels: Labels): void {
  const key = labelText(labels);
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function observeIn(times: Map<string, Distribution>, labels: Labels, bounds: readonly number[], seconds: number): void {
  const key = labelText(labels);
  const found = times.get(key) ?? distribution(bounds);
  times.set(key, found);
  observe(found, bounds, seconds);
}
