import type { Clock } from '../meta/index.ts';

/**
 * Does the task again and again: first after `firstMs`, then each time `ms` after it was done. The task never rejects.
 * The result ends that, and resolves when nothing of it is under way.
 */
export function repeat(clock: Clock, ms: number, task: () => Promise<void>, firstMs = ms): () => Promise<void> {
  let ended = false;
  let running = Promise.resolve();
  const run = () => {
    running = task().finally(() => {
      if (!ended) cancel = clock.after(ms, run);
    });
  };
  let cancel = clock.after(firstMs, run);
  return () => {
    ended = true;
    cancel();
    return running;
  };
}
