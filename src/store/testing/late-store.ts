import { setTimeout as sleep } from 'node:timers/promises';
import { settled } from '../../meta/testing/settled.ts';
import type { Store } from '../index.ts';
import { storeWith } from './store-with.ts';

/**
 * A store whose watches receive everything `ms` milliseconds of real time late and in order: batches, progress
 * notifications and errors, as from a store on other machines. Commits and reads are those of `store`.
 */
export function lateStore(store: Store, ms: number): Store {
  // Timers of the same duration run in the order in which they were set.
  const later = (deliver: () => void) => void setTimeout(deliver, ms);
  return storeWith(store, {
    watch: (prefix, after, sink, options) => {
      let open = true;
      const delayed = {
        batch: (...batch: Parameters<typeof sink.batch>) => later(() => open && sink.batch(...batch)),
        error: (...error: Parameters<typeof sink.error>) =>
          later(() => {
            if (!open) return;
            open = false;
            sink.error(...error);
          }),
      };
      const inner = store.watch(prefix, after, delayed, options);
      return {
        progress: () => inner.progress(),
        close: () => {
          open = false;
          inner.close();
        },
      };
    },
  });
}

const lateMs = Number(process.env['LATE_WATCH_MS'] ?? 0);
/** Whether stores in memory deliver late: tests run with `LATE_WATCH_MS`. */
export const isLate = lateMs > 0;

/**
 * Resolves once the watches of stores in memory have delivered what has been committed, and what they have caused: when
 * no work waits for its turn of the event loop and, with `LATE_WATCH_MS`, after that time.
 */
export async function delivered(): Promise<void> {
  if (isLate) await sleep(4 * lateMs);
  await settled(3);
}
