import { type Clock, statusError } from '../../meta/index.ts';
import { type Store, StoreError } from '../../store/index.ts';

/** Health checks of the store, each with a timeout of two seconds. */
export interface StoreChecks {
  /** Rejects when the store cannot be read. Tolerates a silence of five seconds, in which etcd elects a leader. */
  readonly readable: () => Promise<void>;
  /** Rejects when writes fail; with a StatusError when no space is left. */
  readonly writable: () => Promise<void>;
}

/** Timeout of a check, time after which a response is late, and how long the last response then counts (ms). */
const timeoutMs = 2_000;
const lateMs = 1_000;
const answerCountsMs = 5_000;

/** A key that never exists. */
const probe = '/health';

/** Rejects when the store can neither be read nor reopened by a commit. */
export async function readStore(store: Pick<Store, 'get' | 'commit'>): Promise<void> {
  try {
    await store.get(probe);
  } catch {
    await store.commit([], []);
  }
}

export function storeChecks(store: Pick<Store, 'get' | 'commit'>, clock: Clock): StoreChecks {
  let answered = Number.NEGATIVE_INFINITY;
  const isRecent = () => clock.monotonic() - answered <= answerCountsMs;
  return {
    readable: async () => {
      const reading = readStore(store).then(() => {
        answered = clock.monotonic();
      });
      await within(clock, reading, isRecent);
    },
    writable: async () => {
      try {
        await within(clock, store.commit([], []), () => false);
      } catch (error) {
        throw error instanceof StoreError && error.code === 'full' ? statusError.unavailable(error.message) : error;
      }
    },
  };
}

/** Rejects after the timeout; resolves early when `work` is late and `isTolerated` returns true. */
function within(clock: Clock, work: Promise<unknown>, isTolerated: () => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancels = [
      clock.after(lateMs, () => isTolerated() && resolve()),
      clock.after(timeoutMs, () => reject(new Error(`no answer within ${timeoutMs} ms`))),
    ];
    work
      .then(() => resolve(), reject)
      .finally(() => {
        for (const cancel of cancels) cancel();
      });
  });
}
