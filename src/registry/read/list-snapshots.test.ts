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
  clock.advance(6_000);
  expect(history.at(7)).toBeUndefined();
});

it('keeps a snapshot no longer when it is used again, as it holds what was replaced and deleted since', () => {
  const { clock, history } = setup();
  history.keep(snapshotAt(7));
  clock.advance(50_000);
  history.keep(snapshotAt(7));
  history.keep(snapshotAt(8));
  clock.advance(24_000);
  expect([7, 8].map((revision) => history.at(revision)?.revision)).toEqual([7, 8]);
  clock.advance(6_000);
  expect([7, 8].map((revision) => history.at(revision)?.revision)).toEqual([undefined, 8]);
  clock.advance(50_000);
  expect(history.at(8)).toBeUndefined();
});

it('keeps the eight snapshots that were used last', () => {
  const { history } = setup();
  for (let revision = 1; revision <= 8; revision++) history.keep(snapshotAt(revision));
  history.keep(snapshotAt(1));
  history.keep(snapshotAt(9));
  expect([1, 2, 3, 9].map((revision) => history.at(revision)?.revision)).toEqual([1, undefined, 3, 9]);
});
