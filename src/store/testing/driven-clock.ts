import type { Clock } from '../../meta/index.ts';

export interface DrivenClock extends Clock {
  /** How many tasks are due later. */
  readonly tasks: number;
  /** Advances the time by `ms` and runs the tasks that fall due, in order, each at its own time. */
  advance(ms: number): void;
  /** Sets the wall clock forwards or backwards without monotonic time passing. */
  adjust(ms: number): void;
}

/** A clock that moves only by `advance`. */
export function drivenClock(start = 1_700_000_000_000): DrivenClock {
  let passed = 0;
  let wall = start;
  const tasks = new Set<{ at: number; run: () => void }>();
  return {
    get tasks() {
      return tasks.size;
    },
    now: () => wall + passed,
    monotonic: () => passed,
    after(ms, run) {
      const task = { at: passed + ms, run };
      tasks.add(task);
      return () => tasks.delete(task);
    },
    advance(ms) {
      const end = passed + ms;
      for (;;) {
        const due = [...tasks].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
        if (due === undefined) break;
        tasks.delete(due);
        passed = Math.max(passed, due.at);
        due.run();
      }
      passed = end;
    },
    adjust(ms) {
      wall += ms;
    },
  };
}
