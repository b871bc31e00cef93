import type { Clock } from '../../meta/index.ts';

export interface DrivenClock extends Clock {
  /** Lets time pass: runs what falls due, in order, each at its own time. */
  advance(ms: number): void;
}

/** A clock that stands still until it is told to move on. */
export function drivenClock(start = 1_700_000_000_000): DrivenClock {
  let now = start;
  const tasks = new Set<{ at: number; run: () => void }>();
  return {
    now: () => now,
    after(ms, run) {
      const task = { at: now + ms, run };
      tasks.add(task);
      return () => tasks.delete(task);
    },
    advance(ms) {
      const end = now + ms;
      for (;;) {
        const due = [...tasks].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
        if (due === undefined) break;
        tasks.delete(due);
        now = Math.max(now, due.at);
        due.run();
      }
      now = end;
    },
  };
}
