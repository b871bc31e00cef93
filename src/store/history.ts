/** The default retention of history (ms). */
export const defaultHistoryMs = 300_000;

/**
 * At open time `at`, `revision` was the latest. Open time is the number of milliseconds for which a store has been open,
 * summed over its restarts: it does not depend on the wall clock.
 */
export interface Mark {
  readonly at: number;
  readonly revision: number;
}

export interface Aging {
  readonly latest: number;
  /** The first revision that is not compacted. */
  readonly oldest: number;
  /** Oldest first. */
  readonly marks: readonly Mark[];
}

/** The number of marks in one retention period. */
const marksKept = 30;

const shortestMarkingMs = 1_000;

/** The minimum time between two marks (ms), and the interval at which {@link age} is called. */
export const markingMs = (keepMs: number): number => Math.max(keepMs / marksKept, shortestMarkingMs);

/**
 * Compacts by age. In the state at open time `now`, `oldest` is the revision that was the latest `keepMs` ago, and a mark
 * for the latest revision is added when the last one is old enough. Returns the same state when nothing changes, and
 * when `keepMs` is 0, which retains history forever.
 */
export function age<S extends Aging>(state: S, now: number, keepMs: number): S {
  if (keepMs === 0) return state;
  const { latest, oldest, marks } = state;
  const last = marks.at(-1);
  const mark = last === undefined ? latest > oldest : latest > last.revision && now >= last.at + markingMs(keepMs);
  const used = marks.findLastIndex(({ at }) => at <= now - keepMs);
  if (!mark && used < 0) return state;
  return {
    ...state,
    oldest: Math.max(oldest, marks[used]?.revision ?? 0),
    marks: [...marks.slice(used + 1), ...(mark ? [{ at: now, revision: latest }] : [])],
  };
}
