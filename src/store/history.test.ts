import { describe, expect, test } from 'vitest';
import { type Aging, age, markingMs } from './history.ts';

const keepMs = 300_000;
const fresh: Aging = { latest: 1, oldest: 1, marks: [] };

/** The state after `steps` steps of `stepMs` with `commits` commits each. */
function run(state: Aging, steps: number, stepMs: number, commits: number, from = 0): Aging {
  let aged = state;
  for (let i = 1; i <= steps; i++) aged = age({ ...aged, latest: aged.latest + commits }, from + i * stepMs, keepMs);
  return aged;
}

describe('compaction by age', () => {
  test('a revision is marked once, and not before a commit', () => {
    expect(age(fresh, 1_000_000, keepMs)).toBe(fresh);
    const written = age({ ...fresh, latest: 2 }, 1_000, keepMs);
    expect(written.marks).toEqual([{ at: 1_000, revision: 2 }]);
    expect(age(written, 200_000, keepMs)).toBe(written);
  });

  test('a marked revision becomes the oldest once it is as old as the retention', () => {
    const written = age({ ...fresh, latest: 7 }, 1_000, keepMs);
    expect(age(written, 300_999, keepMs)).toBe(written);
    expect(age(written, 301_000, keepMs)).toEqual({ latest: 7, oldest: 7, marks: [] });
  });

  test('the number of marks is bounded, however often it is called', () => {
    for (const stepMs of [1, 100, 10_000, 60_000]) {
      const { marks } = run(fresh, Math.ceil((3 * keepMs) / stepMs), stepMs, 1);
      expect(marks.length).toBeLessThanOrEqual(keepMs / markingMs(keepMs) + 1);
    }
  });

  test('keeps the revisions of the retention, and at most those between two marks beyond it', () => {
    const { latest, oldest } = run(fresh, 1_000, 1_000, 1);
    expect(latest - oldest).toBeGreaterThanOrEqual(300);
    expect(latest - oldest).toBeLessThanOrEqual(300 + 10);
  });

  test('a later compacted revision stays', () => {
    const marked = age({ ...fresh, latest: 5 }, 0, keepMs);
    expect(age({ ...marked, latest: 20, oldest: 10 }, keepMs, keepMs)).toMatchObject({ oldest: 10 });
  });

  test('a shorter retention applies immediately', () => {
    const { latest, oldest } = age(run(fresh, 400, 1_000, 1), 400_000, 60_000);
    expect(latest - oldest).toBeLessThanOrEqual(60 + 10);
  });

  test('history is kept forever when the retention is 0', () => {
    const old = { ...fresh, latest: 9, marks: [{ at: 0, revision: 5 }] };
    expect(age(old, 10 * keepMs, 0)).toBe(old);
  });
});
