/** How long history is kept (ms) unless a store is told otherwise. */
export const defaultHistoryMs = 300_000;

/**
 * At open time `at`, `revision` was the latest. Open time is the number of milliseconds for which a store has been open,
 * added up over its restarts: it knows nothing of the wall clock.
 */
export interface Mark {
  readonly at: number;
  readonly revision: number;
}

export interface Aging {
  readonly latest: number;
  /** The first revision that can still be read. */
  readonly oldest: number;
  /** Oldest first; what was written before the first one has been given up. */
  readonly marks: readonly Mark[];
}

/** How many marks there are while history is kept once. */
const marksKept = 30;

const shortestMarkingMs = 1_000;

/** The least time between two marks (ms), and how often {@link age} is to be called. */
export const markingMs = (keepMs: number): number => Math.max(keepMs / marksKept, shortestMarkingMs);

/**
 * The state at open time `now`, with what was the latest `keepMs` ago as the first revision to keep, and with the latest
 * one marked when the last mark is old enough. The same state when nothing is to be done, or when `keepMs` is 0: then
 * history is kept for ever.
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
