import { expect, it } from 'vitest';
import type { Snapshot } from '../../cache/index.ts';
import { drivenClock } from '../../store/testing/driven-clock.ts';
import { ListSnapshots } from './list-snapshots.ts';

const snapshotAt = (revision: number): Snapshot => ({
  revision,
  get: () => undefined,
  range: () => [][Symbol.iterator](),
  select: () => undefined,
  count: () => 0,
});

function setup() {
  const clock = drivenClock();
  return { clock, history: new ListSnapshots(clock) };
}

it('keeps a snapshot for 75 seconds', () => {
  const { clock, history } = setup();
  const snapshot = snapshotAt(7);
  history.keep(snapshot);
  clock.advance(74_000);
  expect(history.at(7)).toBe(snapshot);
  expect(history.at(6)).toBeUndefined();
  clock.advance(2_000);
  expect(history.at(7)).toBeUndefined();
});

it('keeps a snapshot for 75 seconds after its last use, and drops it with the next sweep', () => {
  const { clock, history } = setup();
  history.keep(snapshotAt(7));
  clock.advance(50_000);
  history.keep(snapshotAt(7));
  clock.advance(74_000);
  expect(history.at(7)).toBeDefined();
  clock.advance(27_000);
  expect(history.at(7)).toBeUndefined();
});

it('keeps the eight snapshots that were used last', () => {
  const { history } = setup();
  for (let revision = 1; revision <= 8; revision++) history.keep(snapshotAt(revision));
  history.keep(snapshotAt(1));
  history.keep(snapshotAt(9));
  expect([1, 2, 3, 9].map((revision) => history.at(revision)?.revision)).toEqual([1, undefined, 3, 9]);
});
