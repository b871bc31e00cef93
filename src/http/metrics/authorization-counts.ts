import type { AuthorizationObserver } from '../../auth/index.ts';
import type { Clock } from '../../meta/index.ts';
import { callBounds } from '../listener/bounds.ts';
import { conditionBounds } from './admission-counts.ts';
import { type Distribution, distribution, labelText, observe } from './distribution.ts';
import { countReloads, type ReloadCounts } from './reload-counts.ts';

/** What is counted of authorizers, by labels. */
export interface AuthorizationCounts {
  readonly decisions: Map<string, number>;
  readonly conditionErrors: Map<string, number>;
  readonly conditionExclusions: Map<string, number>;
  readonly conditionTimes: Map<string, Distribution>;
  readonly evaluations: Map<string, number>;
  readonly durations: Map<string, Distribution>;
  readonly failedOpen: Map<string, number>;
  readonly reloads: ReloadCounts;
}

export const emptyAuthorizationCounts = (): AuthorizationCounts => ({
  decisions: new Map(),
  conditionErrors: new Map(),
  conditionExclusions: new Map(),
  conditionTimes: new Map(),
  evaluations: new Map(),
  durations: new Map(),
  failedOpen: new Map(),
  reloads: new Map(),
});

/** How many names of authorizers have series of their own; all others are counted as `other`. */
const maxNames = 1_000;

/** Counts what authorizers do. */
export function authorizationObserver(counts: AuthorizationCounts, clock: Pick<Clock, 'now'>): AuthorizationObserver {
  const names = new Set<string>();
  const known = (name: string): string => {
    if (names.size < maxNames) names.add(name);
    return names.has(name) ? name : 'other';
  };
  return {
    authorizer(type, given) {
      const name = known(given);
      const own = labelText({ name, type });
      const decisions = {
        allowed: labelText({ decision: 'allowed', name, type }),
        denied: labelText({ decision: 'denied', name, type }),
      };
      return {
        decided: (decision) => add(counts.decisions, decisions[decision]),
        matched(outcome, seconds) {
          observeIn(counts.conditionTimes, own, conditionBounds, seconds);
          if (outcome === 'error') add(counts.conditionErrors, own);
          if (outcome === 'exclusion') add(counts.conditionExclusions, own);
        },
        called(result, seconds) {
          const labels = labelText({ name, result });
          add(counts.evaluations, labels);
          observeIn(counts.durations, labels, callBounds, seconds);
        },
        failedOpen: (result) => add(counts.failedOpen, labelText({ name, result })),
      };
    },
    reloaded: countReloads(counts.reloads, clock),
  };
}

const add = (counts: Map<string, number>, labels: string): void => {
  counts.set(labels, (counts.get(labels) ?? 0) + 1);
};

function observeIn(times: Map<string, Distribution>, labels: string, bounds: readonly number[], seconds: number): void {
  let found = times.get(labels);
  if (found === undefined) {
    found = distribution(bounds);
    times.set(labels, found);
  }
  observe(found, bounds, seconds);
}
