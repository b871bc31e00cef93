import { type Clock, StatusError } from '../../meta/index.ts';
import { pause } from '../runtime/abortable-wait.ts';
import type { Transport } from './transport.ts';

/** The maximum rate of requests: sustained per second, and as a burst after a pause. */
export interface RequestRate {
  readonly perSecond: number;
  readonly burst: number;
}

/**
 * Sends requests in the order of the calls, no faster than the rate allows. Rejects requests that wait, or would have to,
 * once the signal is aborted.
 */
export function rateLimited(
  transport: Transport,
  { perSecond, burst }: RequestRate,
  clock: Clock,
  signal: AbortSignal,
): Transport {
  const interval = 1000 / perSecond;
  /** When the next request may be sent if the burst is used up (ms, monotonic). */
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
