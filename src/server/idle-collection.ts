import { performance } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Clock } from '../meta/index.ts';

/** The heap of a thread, and how busy the thread is. */
export interface YoungGeneration {
  /** Memory that it takes (bytes). */
  readonly size: () => number;
  /** The fraction of the time since the last call in which the event loop was busy, from 0 to 1. */
  readonly utilization: () => number;
  readonly collect: () => void;
}

/** V8 shrinks the young generation in the second collection with little garbage: about six seconds after the load has ended. */
const intervalMs = 2_000;
/** A smaller young generation is left as it is (bytes). */
const minBytes = 4 * 1024 * 1024;
const maxUtilization = 0.1;

/**
 * Collects the young generation of this thread while the thread is idle, so that V8 shrinks it. Under load V8 enlarges it to
 * 32 MiB, and an idle server allocates too little for another collection. A collection takes milliseconds, because the
 * old generation is left alone. Returns a function that ends it.
 */
export function collectWhenIdle(clock: Clock, young = youngGeneration()): () => void {
  let cancel = () => {};
  const schedule = () => {
    cancel = clock.after(intervalMs, () => {
      if (young.utilization() < maxUtilization && young.size() > minBytes) young.collect();
      schedule();
    });
  };
  schedule();
  return () => cancel();
}

/** The young generation of this thread. */
export function youngGeneration(): YoungGeneration {
  let last = performance.eventLoopUtilization();
  let collect: ((options: { readonly type: 'minor' }) => void) | undefined;
  return {
    size: () => getHeapSpaceStatistics().find((space) => space.space_name === 'new_space')?.physical_space_size ?? 0,
    utilization: () => {
      const now = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(now, last);
      last = now;
      return utilization;
    },
    collect: () => {
      collect ??= collector();
      collect({ type: 'minor' });
    },
  };
}

/** The function `gc` of V8, which contexts have that are created while the flag is set. */
function collector(): (options: { readonly type: 'minor' }) => void {
  setFlagsFromString('--expose-gc');
  const gc: unknown = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  return gc as ReturnType<typeof collector>;
}
