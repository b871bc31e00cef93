/** What is counted of configuration files that are read again when they change. */
import type { Clock } from '../../meta/index.ts';

/** Reloads by status, and when the last one was (seconds since 1970). */
export type ReloadCounts = Map<string, { readonly count: number; readonly seconds: number }>;

/** Counts reloads. */
export const countReloads =
  (counts: ReloadCounts, clock: Pick<Clock, 'now'>) =>
  (status: 'success' | 'failure'): void => {
    counts.set(status, { count: (counts.get(status)?.count ?? 0) + 1, seconds: clock.now() / 1_000 });
  };
