import { type Clock, type Stages, shorten } from '../meta/index.ts';
import type { Log, RequestEntry } from './log.ts';

/** From when on a request is slow (ms), and for how much of its response it may take a millisecond more (bytes). */
const slowMs = 500;
const bytesPerMs = 64 * 1024;
/** How many slow requests are logged in a period, and how long that is (ms). */
const mostLines = 20;
const periodMs = 10_000;

/** Whether a request that took so long, and whose response has so many bytes, is slow. */
export const isSlow = (milliseconds: number, size: number): boolean => milliseconds >= slowMs + size / bytesPerMs;

/** Logs slow requests with the time in each stage: only so many in a period, and then how many were left out. */
export function slowRequestLog(
  log: Pick<Log, 'warn'>,
  clock: Pick<Clock, 'monotonic'>,
): (entry: RequestEntry, auditID: string, stages: Stages) => void {
  let periodEnds = Number.NEGATIVE_INFINITY;
  let lines = 0;
  let leftOut = 0;
  return ({ path, user, agent, ...entry }, auditID, stages) => {
    const now = clock.monotonic();
    if (now >= periodEnds) {
      periodEnds = now + periodMs;
      lines = 0;
    }
    if (lines === mostLines) {
      leftOut++;
      return;
    }
    lines++;
    log.warn('slow request', {
      ...{ auditID, ...entry, path: shorten(path), user: shorten(user), agent: shorten(agent) },
      stages: stages.times(),
      ...(leftOut === 0 ? {} : { leftOut }),
    });
    leftOut = 0;
  };
}
