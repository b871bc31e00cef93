import { describe, expect, it } from 'vitest';
import type { HealthCheck } from '../http/index.ts';
import { StartHooks } from './start-hooks.ts';

const name = 'poststarthook/bootstrap-controller';

/** The endpoints at which the hook passes. */
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

describe('a start hook that is not finished', () => {
  const clock = { time: 1_000, now: () => clock.time, monotonic: () => clock.time, after: () => () => {} };

  it('fails everywhere without a grace period', () => {
    expect(passing(new StartHooks().checks(clock, 0))).toEqual([]);
  });

  it('lets livez pass until the grace period is over', () => {
    const checks = new StartHooks().checks(clock, 500);
    clock.time += 499;
    expect(passing(checks)).toEqual(['livez']);
    clock.time += 1;
    expect(passing(checks)).toEqual([]);
  });

  it('passes once it is done', () => {
    const hooks = new StartHooks();
    const checks = hooks.checks(clock, 0);
    hooks.done('bootstrap-controller');
    expect(passing(checks)).toEqual(['healthz', 'livez', 'readyz']);
    expect(checks.filter((check) => check.name === name)).toHaveLength(2);
  });
});
