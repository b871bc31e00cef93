import { type Clock, StatusError } from '../../meta/index.ts';
import { pause } from '../runtime/abortable-wait.ts';
import type { Transport } from './transport.ts';

/** How many requests are sent at most: in a second, and at once after a time without any. */
export interface RequestRate {
  readonly perSecond: number;
  readonly burst: number;
}

/**
 * Sends as many requests as the rate allows, in the order of the calls; others wait. When the signal is aborted those that
 * wait, or would have to, are rejected.
 */
export function rateLimited(
  transport: Transport,
  { perSecond, burst }: RequestRate,
  clock: Clock,
  signal: AbortSignal,
): Transport {
  const interval = 1000 / perSecond;
  /** When the next request may be sent, had the last one used up what was left. */
  let next = Number.NEGATIVE_INFINITY;
  return async (request) => {
    const now = clock.monotonic();
    const due = Math.max(next, now - (burst - 1) * interval);
    if (due > now && signal.aborted) throw stopped();
    next = due + interval;
    if (due > now) {
      await pause(clock, due - now, signal);
      if (signal.aborted) throw stopped();
    }
    return transport(request);
  };
}

const stopped = () => new StatusError(503, 'ServiceUnavailable', 'the client has been stopped');
