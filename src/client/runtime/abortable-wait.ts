import type { Clock } from '../../meta/index.ts';

const never = new Promise<never>(() => {});

/** The value of a promise that does not reject; undefined when the signal is aborted or the time (ms) is over before. */
export function within<T>(clock: Clock, ms: number, signal: AbortSignal, promise: Promise<T>): Promise<T | undefined> {
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
    void promise.then(end);
  });
}

/** Resolves after the time (ms), or when the signal is aborted. */
export const pause = (clock: Clock, ms: number, signal: AbortSignal): Promise<void> => within(clock, ms, signal, never);
