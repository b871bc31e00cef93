import { expect, it } from 'vitest';
import { Stage, Stages, stageNames } from './stages.ts';

it('the times of all stages add up to that of the request, also of those that come again', () => {
  const time = { now: 1_000 };
  const stages = new Stages({ monotonic: () => time.now });
  const entered: [Stage, number][] = [];
  stages.trace = {
    entered: (stage, atMs) => void entered.push([stage, atMs]),
    begin: () => ({ traceparent: '', end: () => {} }),
    end: () => {},
  };
  const order = [...Object.values(Stage).slice(1), Stage.preparation, Stage.store];
  for (const stage of order) {
    time.now += 1;
    stages.enter(stage);
  }
  time.now += 0.5;
  const once = Object.fromEntries(stageNames.map((name) => [name, 1]));
  expect(stages.times()).toEqual({ ...once, preparation: 2, store: 1.5 });
  expect(stages.totalMs()).toBe(order.length + 0.5);
  expect(entered).toEqual(order.map((stage, i) => [stage, i + 1]));
});
