import type { Clock } from '../meta/index.ts';

/** How often the same is told again (ms). */
const intervalMs = 60_000;
/** How many different things are told in an interval. */
const maxTold = 100;

/** Whether something is to be told: the same once in a minute. */
export function toldOnce(clock: Pick<Clock, 'monotonic'>): (id: string) => boolean {
  const told = new Set<string>();
  let until = Number.NEGATIVE_INFINITY;
  return (id) => {
    const now = clock.monotonic();
    if (now >= until) {
      until = now + intervalMs;
      told.clear();
    }
    if (told.size === maxTold || told.has(id)) return false;
    told.add(id);
    return true;
  };
}
