import { expect, it } from 'vitest';
import { VirtualClock } from './virtual-clock.ts';

it('a virtual clock runs timers when they are due, in their order, and those that follow from them', async () => {
  const clock = new VirtualClock(1_000);
  const seen: string[] = [];
  const note = (what: string) => () => void seen.push(`${what} ${clock.now()} ${clock.monotonic()}`);
  clock.after(300, note('late'));
  clock.after(100, note('early'));
  clock.after(200, () => clock.after(50, note('follower')));
  clock.after(100, note('cancelled'))();
  await clock.advance(300, () => {
    note('settled')();
    return Promise.resolve();
  });
  expect(seen).toEqual([
    'settled 1000 0',
    'early 1100 100',
    'settled 1100 100',
    'settled 1200 200',
    'follower 1250 250',
    'settled 1250 250',
    'late 1300 300',
    'settled 1300 300',
    'settled 1300 300',
  ]);
  expect(clock.next).toBeUndefined();
});
