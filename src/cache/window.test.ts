import { describe, expect, it } from 'vitest';
import type { ByteString } from '../meta/index.ts';
import { Change } from './change.ts';
import { ManualClock } from './testing/manual-clock.ts';
import { describeDeleted } from './testing/objects.ts';
import type { CachedObject } from './types.ts';
import { EventWindow } from './window.ts';
import { WindowMemory } from './window-memory.ts';

const object = (bytes: number, revision: number): CachedObject => ({
  key: '/things/a',
  namespace: '',
  name: 'a',
  revision,
  bytes: 'x'.repeat(bytes) as ByteString,
  labels: {},
  fields: {},
});

function setup(maxAge: number, maxBytes: number, memory = new WindowMemory(1e12)) {
  const clock = new ManualClock();
  const window = new EventWindow(clock, maxAge, maxBytes, memory);
  const add = (revision: number, bytes: number, replaced?: number) => {
    const previous = replaced === undefined ? undefined : object(replaced, revision - 1);
    const change = new Change(revision, clock.now(), object(bytes, revision), previous, describeDeleted);
    window.append(change);
    return change;
  };
  const kept = () => {
    const revisions = [];
    for (let i = window.first; i < window.end; i++) revisions.push(window.at(i)?.revision);
    return revisions;
  };
  return { clock, window, add, kept };
}

describe('EventWindow', () => {
  it('evicts changes after maxAge, also when no more changes come', () => {
    const { clock, window, add, kept } = setup(1_000, 1e9);
    window.reset(10);
    expect(window.oldest).toBe(10);
    add(11, 1);
    clock.advance(600);
    add(12, 1);
    clock.advance(400);
    expect(kept()).toEqual([11, 12]);
    clock.advance(100);
    expect(kept()).toEqual([12]);
    expect(window.oldest).toBe(11);
    clock.advance(3_000);
    expect(kept()).toEqual([]);
    expect(window.oldest).toBe(12);
    expect(clock.pending).toBe(0);
  });

  it('evicts a change at most a fifth of maxAge late', () => {
    const { clock, window, add, kept } = setup(1_000, 1e9);
    window.reset(10);
    add(11, 1);
    clock.advance(100);
    add(12, 1);
    clock.advance(100);
    add(13, 1);
    clock.advance(801);
    expect(kept()).toEqual([12, 13]);
    clock.advance(201);
    expect(kept()).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  it('takes no more of the memory of all windows than remains free, and returns what it took', () => {
    const change = 128 + 1_000;
    const memory = new WindowMemory(8 * change);
    const [first, second] = [setup(1_000, 1e9, memory), setup(1e9, 1e9, memory)];
    for (let revision = 1; revision <= 9; revision++) first.add(revision, 1, 1_000);
    expect(first.kept()).toEqual([6, 7, 8, 9]);
    for (let revision = 10; revision <= 19; revision++) second.add(revision, 1, 1_000);
    expect(second.kept()).toEqual([18, 19]);
    expect([second.window.oldest, memory.used]).toEqual([17, 6 * change]);
    first.clock.advance(2_000);
    expect([first.kept(), memory.used]).toEqual([[], 2 * change]);
    second.window.close();
    expect(memory.used).toBe(0);
  });

  it('is limited to maxBytes: those of replaced objects, and 128 for each change', () => {
    const { window, add, kept } = setup(1e9, 3 * (128 + 1_000));
    for (let revision = 1; revision <= 4; revision++) add(revision, 1_000_000, 1_000);
    expect(kept()).toEqual([2, 3, 4]);
    expect(window.oldest).toBe(1);
    // A change that exceeds the limit alone is evicted too.
    add(5, 1, 4_000);
    expect(kept()).toEqual([]);
    expect(window.oldest).toBe(5);
  });

  it('bounds the number of changes that replace nothing', () => {
    const { add, kept } = setup(1e9, 128 * 10);
    for (let revision = 1; revision <= 10_000; revision++) add(revision, 1);
    expect(kept()).toHaveLength(10);
  });

  it('finds the first change after a revision, also in a commit with several changes', () => {
    const { window, add } = setup(1e9, 1e9);
    for (const revision of [3, 5, 5, 5, 9]) add(revision, 1);
    const found = (after: number) => window.at(window.seek(after))?.revision;
    expect([0, 3, 4, 5, 8].map(found)).toEqual([3, 5, 5, 9, 9]);
    expect(window.seek(4)).toBe(window.first + 1);
    expect(window.seek(9)).toBe(window.end);
  });

  it('shares the events of the latest changes only', () => {
    const { add } = setup(1e9, 1e9);
    const early = add(1, 600_000);
    const event = early.eventFor({});
    expect(early.eventFor({})).toBe(event);
    add(2, 600_000);
    expect(early.eventFor({})).not.toBe(event);
    expect(early.eventFor({})).toEqual(event);
    const late = add(3, 9_000_000);
    expect(late.eventFor({})).toBe(late.eventFor({}));
  });

  it('shares the events of the latest changes also when it keeps few', () => {
    const { add, kept } = setup(1e9, 128 * 3);
    for (let revision = 1; revision <= 30; revision++) {
      const change = add(revision, 100_000);
      expect(change.eventFor({})).toBe(change.eventFor({}));
    }
    expect(kept()).toEqual([28, 29, 30]);
  });

  it('continues sequence numbers across evictions and resets', () => {
    const { window, add, kept } = setup(1e9, 128 * 4);
    for (let revision = 1; revision <= 100; revision++) {
      add(revision, 1);
      expect(window.at(window.end - 1)?.revision).toBe(revision);
      expect(window.end).toBe(revision);
    }
    expect(kept()).toEqual([97, 98, 99, 100]);
    window.reset(200);
    expect([window.first, window.end, window.oldest]).toEqual([100, 100, 200]);
    add(201, 1);
    expect(kept()).toEqual([201]);
  });
});
