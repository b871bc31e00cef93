import type { BatchOptions } from './batch-buffer.ts';
import type { Mode } from './types.ts';

/** How a backend gathers events. */
export interface BatchSettings extends Pick<BatchOptions, 'bufferSize' | 'batchSize' | 'waitMs' | 'throttle'> {
  readonly mode: Mode;
}

/** The settings as they hold in the mode: an event for which a request waits is delivered as soon as possible. */
export const inMode = ({ mode, ...batch }: BatchSettings): Omit<BatchSettings, 'mode'> =>
  mode === 'batch' ? batch : { ...batch, waitMs: 0, throttle: undefined };

/** The promise that a request waits for; undefined if it does not wait. */
export function awaited(mode: Mode, written: Promise<boolean>): Promise<boolean> | undefined {
  if (mode === 'batch') return undefined;
  return mode === 'blocking-strict' ? written : written.then(() => true);
}
