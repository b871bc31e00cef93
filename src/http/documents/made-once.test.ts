import { expect, it } from 'vitest';
import type { Steps, Turns } from '../../meta/index.ts';
import { EveryStep } from '../../meta/testing/every-step.ts';
import { MadeOnce } from './made-once.ts';

/** The turns of a user who gets none. */
const never: Turns = { over: true, next: () => new Promise(() => {}) };

function counting(steps: number) {
  const counts = { begun: 0, steps: 0 };
  const once = new MadeOnce(function* (): Steps<string> {
    counts.begun++;
    for (let i = 0; i < steps; i++) {
      counts.steps++;
      yield;
    }
    return 'made';
  });
  return { once, counts };
}

it('is made in steps, once for all who need it at the same time', async () => {
  const { once, counts } = counting(10);
  expect(once.made).toBeUndefined();
  const turns = [new EveryStep(), new EveryStep()];
  expect(await Promise.all(turns.map((own) => once.get(own)))).toEqual(['made', 'made']);
  expect(await once.get(new EveryStep())).toBe('made');
  expect([once.made, counts]).toEqual(['made', { begun: 1, steps: 10 }]);
  // They took turns.
  for (const { count } of turns) expect(count).toBeLessThan(10);
});

it('is finished by the next one where somebody who began it gets no more turns', async () => {
  const { once, counts } = counting(5);
  void once.get(never);
  let left = 2;
  const aborted: Turns = {
    over: true,
    next: () => (left-- > 0 ? Promise.resolve() : Promise.reject(new Error('disconnected'))),
  };
  await expect(once.get(aborted)).rejects.toThrow('disconnected');
  expect(counts).toEqual({ begun: 1, steps: 2 });
  expect(await once.get(new EveryStep())).toBe('made');
  expect(counts).toEqual({ begun: 1, steps: 5 });
});

it('is begun again after a failure', async () => {
  let failures = 0;
  const once = new MadeOnce(function* (): Steps<string> {
    yield;
    if (failures++ === 0) throw new Error('failed');
    return 'made';
  });
  await expect(once.get(new EveryStep())).rejects.toThrow('failed');
  expect(await once.get(new EveryStep())).toBe('made');
});
