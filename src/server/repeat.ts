import type { Clock } from '../meta/index.ts';

/**
 * Runs the task periodically: first after `firstMs`, then `ms` after each completion. The task must not reject. Returns a
 * function that stops it and resolves once a running task is done.
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
