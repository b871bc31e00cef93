import type { Awaitable } from '../types.ts';

/** The result of a computation that is started by the first call. */
export function onFirstUse<T>(compute: () => Promise<T>): () => Awaitable<T> {
  let known: Awaitable<T> | undefined;
  return () => {
    known ??= compute().then((result) => {
      known = result;
      return result;
    });
    return known;
  };
}
