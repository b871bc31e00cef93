import { expect, it } from 'vitest';
import type { PlannedOperation, SimulatedFault, SimulationPlan } from './plan.ts';
import { programOf, shrink } from './shrink.ts';
import type { SimulationRun } from './world.ts';

const operation = (at: number): PlannedOperation => ({ at, client: 'client-1', run: 'order', seed: at });
const fault = (at: number): SimulatedFault => ({ at, fault: 'crash', of: 'server-1', for: 5 });
const run = (plan: SimulationPlan, rule: string | undefined): SimulationRun => ({
  seed: 7,
  digest: '',
  plan,
  failures: rule === undefined ? [] : [{ rule, message: '' }],
  trace: [],
  time: 0,
  requests: 0,
  revision: 0,
});

it('A plan is reduced to the faults and operations that a failure needs', async () => {
  const range = Array.from({ length: 40 }, (_, i) => i);
  const plan = { operations: range.map(operation), faults: range.map(fault) };
  const needs = ({ operations, faults }: SimulationPlan) =>
    [3, 17].every((at) => operations.some((one) => one.at === at)) && faults.some((one) => one.at === 30);
  let runs = 0;
  const { plan: smallest } = await shrink(run(plan, 'broken'), async (smaller) => {
    runs++;
    return run(smaller, needs(smaller) ? 'broken' : undefined);
  });
  expect(smallest).toEqual({ operations: [operation(3), operation(17)], faults: [fault(30)] });
  expect(runs).toBeLessThan(100);
});

it('A plan that fails in another way is not a smaller form of the failure', async () => {
  const plan = { operations: [operation(1)], faults: [fault(2)] };
  const { plan: smallest } = await shrink(run(plan, 'broken'), async (smaller) => run(smaller, 'other'));
  expect(smallest).toEqual(plan);
});

it('The program of a run has its seed and its plan', () => {
  const plan = { operations: [operation(1)], faults: [{ at: 2, fault: 'no leader', for: 3 } as const] };
  expect(programOf(run(plan, 'broken'))).toBe(`await simulate(7, {
  ...world,
  plan: {
    operations: [
      { at: 1, client: 'client-1', run: 'order', seed: 1 },
    ],
    faults: [
      { at: 2, fault: 'no leader', for: 3 },
    ],
  },
});
`);
});
