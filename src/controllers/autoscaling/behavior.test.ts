import { describe, expect, it } from 'vitest';
import { limit, type Memory, remember } from './behavior.ts';

const now = Date.UTC(2026, 0, 1);
const seconds = 1000;
const memory = (
  recommended: [number, number][] = [],
  up: [number, number][] = [],
  down: [number, number][] = [],
): Memory => {
  const of = (entries: [number, number][]) =>
    entries.map(([replicas, ago]) => ({ replicas, time: now - ago * seconds }));
  return { recommended: of(recommended), up: of(up), down: of(down) };
};
const rules = (type: string, value: number, periodSeconds: number, more = {}) => ({
  policies: [{ type, value, periodSeconds }],
  selectPolicy: 'Max',
  stabilizationWindowSeconds: 0,
  ...more,
});
const range = (current: number, least = 1, most = 100) => ({ current, least, most, now });
const outcome = (...of: Parameters<typeof limit>) => {
  const { replicas, able, limited } = limit(...of);
  return [replicas, able.reason, limited.reason];
};

describe('without rules', () => {
  it.each([
    ['a recommendation in range', memory(), range(5), 7, [7, 'ReadyForNewScale', 'DesiredWithinRange']],
    ['twice as many at once', memory(), range(5), 30, [10, 'ReadyForNewScale', 'ScaleUpLimit']],
    ['four at once', memory(), range(1), 30, [4, 'ReadyForNewScale', 'ScaleUpLimit']],
    ['the maximum', memory(), range(5, 1, 6), 9, [6, 'ReadyForNewScale', 'TooManyReplicas']],
    ['the minimum', memory(), range(5, 3), 1, [3, 'ReadyForNewScale', 'TooFewReplicas']],
    [
      'the highest of five minutes',
      memory([
        [4, 290],
        [9, 310],
      ]),
      range(5),
      2,
      [4, 'ScaleDownStabilized', 'DesiredWithinRange'],
    ],
  ])('%s', (_, before, of, recommended, expected) => {
    expect(outcome(before, undefined, of, recommended)).toEqual(expected);
  });

  it('recommendations are forgotten after five minutes', () => {
    const before = memory([
      [4, 290],
      [9, 310],
    ]);
    limit(before, undefined, range(5), 2);
    expect(before.recommended.map(({ replicas }) => replicas)).toEqual([4, 2]);
  });
});

describe('with rules', () => {
  const up = (scaleUp: object, scaleDown: object = rules('Percent', 100, 15)) => ({ scaleUp, scaleDown }) as never;
  const down = (scaleDown: object) => up(rules('Percent', 100, 15), scaleDown);
  it.each([
    ['pods for each period', memory(), up(rules('Pods', 3, 60)), range(5), 20, [8, 'ReadyForNewScale', 'ScaleUpLimit']],
    [
      'less what was added in the period',
      memory([], [[2, 30]]),
      up(rules('Pods', 3, 60)),
      range(5),
      20,
      [6, 'ReadyForNewScale', 'ScaleUpLimit'],
    ],
    [
      'not what was added before',
      memory([], [[2, 61]]),
      up(rules('Pods', 3, 60)),
      range(5),
      20,
      [8, 'ReadyForNewScale', 'ScaleUpLimit'],
    ],
    [
      'a percentage, rounded up',
      memory(),
      up(rules('Percent', 10, 60)),
      range(5),
      20,
      [6, 'ReadyForNewScale', 'ScaleUpLimit'],
    ],
    [
      'disabled',
      memory(),
      up(rules('Pods', 3, 60, { selectPolicy: 'Disabled' })),
      range(5),
      20,
      [5, 'ReadyForNewScale', 'ScaleUpLimit'],
    ],
    [
      'the lowest of a window',
      memory([[7, 10]]),
      up(rules('Pods', 9, 60, { stabilizationWindowSeconds: 30 })),
      range(5),
      9,
      [7, 'ScaleUpStabilized', 'DesiredWithinRange'],
    ],
    ['down by pods', memory(), down(rules('Pods', 2, 60)), range(9), 1, [7, 'ReadyForNewScale', 'ScaleDownLimit']],
    [
      'down by a percentage, rounded down',
      memory(),
      down(rules('Percent', 50, 60)),
      range(9),
      1,
      [4, 'ReadyForNewScale', 'ScaleDownLimit'],
    ],
    [
      'down after what was deleted',
      memory([], [], [[3, 30]]),
      down(rules('Pods', 4, 60)),
      range(9),
      1,
      [8, 'ReadyForNewScale', 'ScaleDownLimit'],
    ],
    [
      'down to the minimum',
      memory(),
      down(rules('Pods', 20, 60)),
      range(9, 2),
      1,
      [2, 'ReadyForNewScale', 'TooFewReplicas'],
    ],
    [
      'the highest of five minutes',
      memory([[6, 200]]),
      down(rules('Pods', 20, 60, { stabilizationWindowSeconds: undefined })),
      range(9),
      1,
      [6, 'ScaleDownStabilized', 'DesiredWithinRange'],
    ],
  ])('%s', (_, before, behavior, of, recommended, expected) => {
    expect(outcome(before, behavior, of, recommended)).toEqual(expected);
  });

  it.each([
    ['Max', 20],
    ['Min', 12],
  ])('of several policies %s allows %i', (selectPolicy, expected) => {
    const policies = [
      { type: 'Pods', value: 2, periodSeconds: 60 },
      { type: 'Percent', value: 100, periodSeconds: 60 },
    ];
    expect(outcome(memory(), up({ policies, selectPolicy }), range(10), 50)[0]).toBe(expected);
  });

  it('changes are remembered as long as the longest period', () => {
    const before = memory(
      [],
      [
        [1, 50],
        [2, 70],
      ],
    );
    remember(before, up(rules('Pods', 3, 60)), 5, 8, now);
    expect(before.up.map(({ replicas }) => replicas)).toEqual([1, 3]);
  });
});
