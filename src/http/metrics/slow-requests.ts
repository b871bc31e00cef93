import { type Clock, type Stages, shorten } from '../../meta/index.ts';
import type { Log, RequestEntry } from '../log.ts';

/** The time for which slow requests are collected before the slowest is logged, and the minimum between two lines (ms). */
const burstMs = 1_000;
const pauseMs = 10_000;

/** Logs the slowest request of a burst with the time in each stage, and the number of other slow requests. */
export function slowRequestLog(
  log: Pick<Log, 'warn'>,
  clock: Pick<Clock, 'after'>,
): (entry: RequestEntry, auditID: string, stages: Stages) => void {
  let slowest: { readonly milliseconds: number; readonly fields: { readonly [name: string]: unknown } } | undefined;
  let others = 0;
  let isScheduled = false;
  const schedule = (ms: number) => {
    isScheduled = true;
    clock.after(ms, write);
  };
  const write = () => {
    isScheduled = false;
    if (slowest === undefined) return;
    log.warn('slow request', { ...slowest.fields, ...(others === 0 ? {} : { others }) });
    slowest = undefined;
    others = 0;
    schedule(pauseMs);
  };
  return ({ path, user, agent, ...entry }, auditID, stages) => {
    const { milliseconds } = entry;
    if (slowest !== undefined) others++;
    if (slowest === undefined || milliseconds > slowest.milliseconds) {
      const who = { path: shorten(path), user: shorten(user), agent: shorten(agent) };
      slowest = { milliseconds, fields: { auditID, ...entry, ...who, stages: stages.times() } };
    }
    if (!isScheduled) schedule(burstMs);
  };
}
