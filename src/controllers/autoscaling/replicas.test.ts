import { describe, expect, it } from 'vitest';
import { formatTime } from '../../meta/index.ts';
import type { Pod } from '../shared/pods.ts';
import { type Basis, byAverage, byShare, byUtilization, byValue } from './replicas.ts';
import type { Samples } from './samples.ts';

const now = Date.UTC(2026, 0, 1);
const minute = 60_000;

interface PodCase {
  readonly usage?: number;
  readonly phase?: string;
  readonly ready?: boolean;
  /** How long ago it began, and last became ready or not (ms). */
  readonly age?: number;
  readonly changed?: number;
  readonly deleted?: boolean;
}

const podOf = (
  { phase = 'Running', ready = true, age = 60 * minute, changed = 59 * minute, deleted }: PodCase,
  i: number,
) =>
  ({
    metadata: { name: `pod-${i}`, ...(deleted === true ? { deletionTimestamp: formatTime(now) } : {}) },
    spec: { containers: [{ name: 'c', resources: { requests: { cpu: '1' } } }] },
    status: {
      phase,
      startTime: formatTime(now - age),
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: formatTime(now - changed) }],
    },
  }) as Pod;
const samplesOf = (pods: readonly PodCase[]): Samples =>
  new Map(
    pods.flatMap(({ usage }, i) =>
      usage === undefined ? [] : [[`pod-${i}`, { value: usage, time: now, window: minute }] as const],
    ),
  );
const basisOf = (replicas: number, pods: readonly PodCase[], tolerance = { up: 0.1, down: 0.1 }): Basis => ({
  replicas,
  current: replicas,
  tolerance,
  now,
  pods: pods.map(podOf),
});
const busy = (...usages: number[]): PodCase[] => usages.map((usage) => ({ usage }));

describe('replicas by utilization of requests', () => {
  it.each<[string, number, PodCase[], number, number]>([
    ['scale up', 3, busy(300, 500, 700), 30, 5],
    ['scale down', 5, busy(100, 300, 500, 250, 250), 50, 3],
    ['stay within the tolerance', 3, busy(1010, 1030, 1020), 100, 3],
    ['idle pods are all scaled down', 2, busy(0, 0), 50, 0],
    [
      'pods that are not ready count as idle when scaling up',
      3,
      [{ usage: 300, ready: false, age: minute, changed: minute }, ...busy(500, 700)],
      30,
      4,
    ],
    [
      'many pods that are not ready do not reverse the direction',
      3,
      [
        { usage: 400, ready: false, age: minute, changed: minute },
        ...busy(500),
        { usage: 700, ready: false, age: minute, changed: minute },
      ],
      30,
      3,
    ],
    ['pending pods count as idle when scaling up', 3, [...busy(500, 700), { phase: 'Pending' }], 30, 4],
    [
      'failed and deleted pods do not count',
      3,
      [...busy(500, 700), { usage: 900, phase: 'Failed' }, { usage: 900, deleted: true }],
      30,
      4,
    ],
    ['pods without samples count as idle when scaling up', 3, [...busy(500, 700), {}], 30, 4],
    ['pods without samples count as busy when scaling down', 5, [...busy(100, 100, 100, 100), {}], 50, 3],
    ['pods without samples do not reverse the direction', 2, [...busy(100), {}], 50, 2],
    [
      'pods just out of their initialization count',
      3,
      [...busy(300, 500), { usage: 700, age: 6 * minute, changed: 5 * minute }],
      30,
      5,
    ],
    [
      'pods that were never ready do not',
      3,
      [...busy(300, 600), { usage: 700, ready: false, age: 6 * minute, changed: 6 * minute }],
      45,
      3,
    ],
  ])('%s', (_, replicas, pods, target, expected) => {
    expect(byUtilization(basisOf(replicas, pods), samplesOf(pods), target, 'cpu', undefined).replicas).toBe(expected);
  });

  it('returns the utilization and the average usage', () => {
    const pods = busy(300, 500, 700);
    expect(byUtilization(basisOf(3, pods), samplesOf(pods), 30, 'cpu', 'c')).toEqual({
      replicas: 5,
      usage: 500,
      utilization: 50,
    });
  });

  it.each<[string, PodCase[], string, string | undefined, string]>([
    ['no pods', [], 'cpu', undefined, 'no pods returned by selector while calculating replica count'],
    ['no samples', [{}], 'cpu', undefined, 'did not receive metrics for targeted pods (pods might be unready)'],
    ['no request', busy(1), 'memory', undefined, 'missing request for memory in container c of Pod pod-0'],
    ['no container', busy(1), 'cpu', 'd', 'container d not found in Pod pod-0'],
  ])('fails with %s', (_, pods, resource, container, message) => {
    expect(() => byUtilization(basisOf(1, pods), samplesOf(pods), 50, resource, container)).toThrow(message);
  });
});

describe('replicas by other targets', () => {
  it('an average of pods', () => {
    const pods = busy(20_000, 10_000, 30_000);
    expect(byAverage(basisOf(3, pods), samplesOf(pods), 15_000)).toEqual({ replicas: 4, usage: 20_000 });
    expect(byAverage(basisOf(3, pods), samplesOf(pods), 19_000)).toEqual({ replicas: 3, usage: 20_000 });
    expect(byAverage(basisOf(3, pods, { up: 0.01, down: 0.1 }), samplesOf(pods), 19_000).replicas).toBe(4);
  });

  it('a value of them all', () => {
    const pods = busy(1, 1, 1);
    expect(byValue(basisOf(3, pods), 8_600, 4_400)).toEqual({ replicas: 6, usage: 8_600 });
    expect(byValue(basisOf(3, pods), 4_500, 4_400).replicas).toBe(3);
    expect(byValue(basisOf(0, []), 8_600, 4_400).replicas).toBe(2);
    expect(byValue(basisOf(3, pods), 1e30, 1).replicas).toBe(2 ** 31 - 1);
  });

  it('a share of a value', () => {
    expect(byShare(basisOf(3, []), 8_600, 2_150)).toEqual({ replicas: 4, usage: 2_867 });
    expect(byShare(basisOf(3, []), 8_600, 2_867)).toEqual({ replicas: 3, usage: 2_867 });
    expect(byShare(basisOf(0, []), 8_600, 2_150)).toEqual({ replicas: 4, usage: 0 });
  });
});
