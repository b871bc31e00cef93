import { isStatus } from '../../meta/index.ts';

/** Ignores that an object was deleted or replaced: its informer reports that. */
export function ignoreGone(error: unknown): void {
  if (!isStatus(error, 404) && !isStatus(error, 409)) throw error;
}
