import { expect, it } from 'vitest';
import { VirtualClock } from '../../meta/index.ts';
import { Rounds } from './rounds.ts';

it('looks at every member, at 500 in a round', async () => {
  const clock = new VirtualClock();
  const rounds = new Rounds(clock);
  const looks = Array.from({ length: 700 }, () => 0);
  const leave = looks.map((_, i) =>
    rounds.add(() => {
      looks[i] = (looks[i] ?? 0) + 1;
    }),
  );
  const advance = (ms: number) => clock.advance(ms, async () => {});
  const seen = () => looks.reduce((sum, count) => sum + count, 0);
  await advance(100);
  expect(seen()).toBe(500);
  await advance(600);
  expect(new Set(looks)).toEqual(new Set([5]));
  for (const one of leave.slice(1)) one();
  await advance(200);
  expect(seen()).toBe(3_502);
  leave[0]?.();
  await advance(200);
  expect(seen()).toBe(3_502);
});
