import { expect, it } from 'vitest';
import { namesFor, type Turns } from '../../../meta/index.ts';
import { EveryStep } from '../../../meta/testing/every-step.ts';
import type { NodeObject } from '../../shared/node-selection.ts';
import type { ControllerContext } from '../../types.ts';
import type { DaemonSet } from './model.ts';
import { newPass } from './placement.ts';

const nodes: NodeObject[] = Array.from({ length: 50 }, (_, i) => ({
  metadata: { name: `n${i}`, labels: { zone: 'a' } },
}));
const contextIn = (turns: Turns) =>
  ({ names: namesFor('k8s.io'), turns, clock: { now: () => 0 } }) as unknown as ControllerContext;

/** A daemon set whose pods may run on nodes with one of `terms` labels. */
function setOf(terms: number): DaemonSet {
  const nodeSelectorTerms = Array.from({ length: terms }, (_, i) => ({
    matchExpressions: [{ key: `k${i}`, operator: 'Exists' }],
  }));
  const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } };
  return { metadata: { name: 'd' }, spec: { template: { spec: { affinity } } } } as DaemonSet;
}

it('a set with few terms is compared with nodes at once, one with many in turns', async () => {
  const pauses = async (terms: number) => {
    const turns = new EveryStep();
    const { fits } = await newPass(contextIn(turns), setOf(terms), '', nodes);
    expect([...fits.values()].filter(({ shouldRun }) => shouldRun)).toEqual([]);
    expect(fits.size).toBe(nodes.length);
    return turns.count;
  };
  expect(await pauses(10)).toBe(0);
  expect(await pauses(10_000)).toBe(nodes.length);
});
