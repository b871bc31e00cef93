/** Reads a value again and again for a view. */
import { useEffect, useState } from 'preact/hooks';
import { currentSession } from '../state/session.ts';

/** The interval of the reads (ms). */
const intervalMs = 2_000;

/**
 * Calls `read` now, and then at each interval once it has ended, until the view is left. Undefined reads nothing.
 * Returns why the last call failed; undefined when it did not.
 */
export function useRepeated(read: ((signal: AbortSignal) => Promise<void>) | undefined): unknown {
  const session = currentSession();
  const [error, setError] = useState<unknown>();
  const active = read !== undefined;
  useEffect(() => {
    if (read === undefined) return;
    const stop = new AbortController();
    const { signal } = stop;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const next = async () => {
      const why = await read(signal).then(
        () => undefined,
        (failure: unknown) => failure,
      );
      if (signal.aborted) return;
      setError(why);
      timer = setTimeout(() => void next(), intervalMs);
    };
    void next();
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [session, active]);
  return error;
}
