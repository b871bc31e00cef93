import type { Clock } from '../../meta/index.ts';

/** Resolves to the value of a promise that never rejects, or to undefined after `ms` or when the signal is aborted. */
export function within<T>(clock: Clock, ms: number, signal: AbortSignal, promise: Promise<T>): Promise<T | undefined> {
  return wait(clock, ms, signal, (end) => void promise.then(end));
}

/** Resolves after `ms`, or when the signal is aborted. */
export const pause = (clock: Clock, ms: number, signal: AbortSignal): Promise<void> =>
  wait<void>(clock, ms, signal, () => {});

/** Calls `begin` with what ends the wait early, and resolves to the value with which it was called. */
function wait<T>(
  clock: Clock,
  ms: number,
  signal: AbortSignal,
  begin: (end: (value: T) => void) => void,
): Promise<T | undefined> {
  if (signal.aborted) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    const end = (value: T | undefined) => {
      cancel();
      signal.removeEventListener('abort', stop);
      resolve(value);
    };
    const stop = () => end(undefined);
    const cancel = clock.after(ms, stop);
    signal.addEventListener('abort', stop);
    begin(end);
  });
}
