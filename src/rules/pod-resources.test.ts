import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Container } from '../types/core-v1.ts';
import { aggregateContainers } from './pod-resources.ts';
import { encodeResourceList } from './resource-list.ts';

/**
 * The sets of containers that run at the same time: for each init step the sidecars so far and the step, then sidecars
 * and containers.
 */
function expected(containers: readonly Container[], initial: readonly Container[]): { [name: string]: number } {
  const running: { [name: string]: number } = {};
  const most: { [name: string]: number } = {};
  const raise = (sums: { readonly [name: string]: number }) => {
    for (const [name, sum] of Object.entries(sums)) most[name] = Math.max(most[name] ?? 0, sum);
  };
  const plus = (sums: { readonly [name: string]: number }, { resources }: Container) => {
    const out = { ...sums };
    for (const [name, amount] of Object.entries(resources?.requests ?? {}))
      out[name] = (out[name] ?? 0) + Number(amount);
    return out;
  };
  for (const container of initial) {
    const now = plus(running, container);
    raise(now);
    if (container.restartPolicy === 'Always') Object.assign(running, now);
  }
  raise(containers.reduce(plus, running));
  return most;
}

describe('aggregateContainers', () => {
  it('is the maximum that the containers of a pod need at any time', () => {
    const amounts = fc.dictionary(fc.constantFrom('cpu', 'memory', 'x/y'), fc.integer({ min: 0, max: 9 }).map(String), {
      noNullPrototype: true,
    });
    const container = (restartPolicy: fc.Arbitrary<string>): fc.Arbitrary<Container> =>
      fc.record({ restartPolicy, resources: fc.record({ requests: amounts }) });
    const regular = fc.array(container(fc.constant('')), { maxLength: 4 });
    const initial = fc.array(container(fc.constantFrom('', 'Always')), { maxLength: 6 });
    fc.assert(
      fc.property(regular, initial, (containers, initContainers) => {
        const sums = encodeResourceList(aggregateContainers({ containers, initContainers }, 'requests'));
        const numbers = Object.fromEntries(Object.entries(sums).map(([name, amount]) => [name, Number(amount)]));
        expect(numbers).toEqual(expected(containers, initContainers));
      }),
      { numRuns: 500 },
    );
  });
});
