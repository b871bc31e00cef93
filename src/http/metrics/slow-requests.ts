import { type Clock, type Stages, shorten } from '../../meta/index.ts';
import type { Log, RequestEntry } from '../log.ts';

/** From when on a request is slow (ms), and for how much of its response it may take a millisecond more (bytes). */
const slowMs = 500;
const bytesPerMs = 64 * 1024;
/** How long a burst of slow requests is gathered before it is logged, and the least time between two lines (ms). */
const burstMs = 1_000;
const pauseMs = 10_000;

/** Whether a request that took so long, and whose response has so many bytes, is slow. */
export const isSlow = (milliseconds: number, size: number): boolean => milliseconds >= slowMs + size / bytesPerMs;

/** Logs the slowest request of a burst with the time in each stage, and how many others were slow. */
export function slowRequestLog(
  log: Pick<Log, 'warn'>,
  clock: Pick<Clock, 'after'>,
): (entry: RequestEntry, auditID: string, stages: Stages) => void {
  let slowest: { readonly milliseconds: number; readonly fields: { readonly [name: string]: unknown } } | undefined;
  let others = 0;
  let waits = false;
  const wait = (ms: number, then: () => void) => {
    waits = true;
    clock.after(ms, then);
  };
  const tell = () => {
    waits = false;
    if (slowest === undefined) return;
    log.warn('slow request', { ...slowest.fields, ...(others === 0 ? {} : { others }) });
    slowest = undefined;
    others = 0;
    wait(pauseMs, tell);
  };
  return ({ path, user, agent, ...entry }, auditID, stages) => {
    const { milliseconds } = entry;
    if (slowest !== undefined) others++;
    if (slowest === undefined || milliseconds > slowest.milliseconds) {
      const who = { path: shorten(path), user: shorten(user), agent: shorten(agent) };
      slowest = { milliseconds, fields: { auditID, ...entry, ...who, stages: stages.times() } };
    }
    if (!waits) wait(burstMs, tell);
  };
}
