import { isStatus } from '../../meta/index.ts';

/** Ignores that an object has gone, or is not the one that it was: its informer tells of that. */
export function ignoreGone(error: unknown): void {
  if (!isStatus(error, 404) && !isStatus(error, 409)) throw error;
}
