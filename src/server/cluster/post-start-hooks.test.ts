import { describe, expect, it } from 'vitest';
import type { HealthCheck } from '../../http/index.ts';
import { PostStartHooks } from './post-start-hooks.ts';

const name = 'poststarthook/bootstrap-controller';

/** The endpoints on which the check of the hook passes. */
const passing = (checks: readonly HealthCheck[]) =>
  checks
    .filter((check) => check.name === name)
    .flatMap(({ check, endpoints }) => {
      try {
        void check();
        return endpoints;
      } catch {
        return [];
      }
    })
    .sort();

describe('an unfinished post-start hook', () => {
  const clock = { time: 1_000, now: () => clock.time, monotonic: () => clock.time, after: () => () => {} };

  it('fails on all endpoints without a grace period', () => {
    expect(passing(new PostStartHooks().checks(clock, 0))).toEqual([]);
  });

  it('does not fail livez during the grace period', () => {
    const checks = new PostStartHooks().checks(clock, 500);
    clock.time += 499;
    expect(passing(checks)).toEqual(['livez']);
    clock.time += 1;
    expect(passing(checks)).toEqual([]);
  });

  it('passes once it is done', () => {
    const hooks = new PostStartHooks();
    const checks = hooks.checks(clock, 0);
    hooks.done('bootstrap-controller');
    expect(passing(checks)).toEqual(['healthz', 'livez', 'readyz']);
    expect(checks.filter((check) => check.name === name)).toHaveLength(2);
  });
});
