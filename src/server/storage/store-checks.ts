import { type Clock, statusError } from '../../meta/index.ts';
import { type Store, StoreError } from '../../store/index.ts';

/** Checks whether the store of a server can be used, which take two seconds at most. */
export interface StoreChecks {
  /** Rejects when the store cannot be read. It may be silent for five seconds, as long as etcd takes to elect a leader. */
  readonly readable: () => Promise<void>;
  /** Rejects when writes fail; with a StatusError when that is for lack of space. */
  readonly writable: () => Promise<void>;
}

/** How long an answer is waited for (ms), and how long one counts when the next one is late. */
const patienceMs = 2_000;
const lateMs = 1_000;
const answerCountsMs = 5_000;

/** A key that no store has. */
const probe = '/health';

/** Rejects when the store cannot be read, nor opened again by a commit. */
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

/** Rejects when `work` takes too long; resolves when it is late and that is forgiven. */
function within(clock: Clock, work: Promise<unknown>, forgiven: () => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancels = [
      clock.after(lateMs, () => forgiven() && resolve()),
      clock.after(patienceMs, () => reject(new Error(`no answer within ${patienceMs} ms`))),
    ];
    work
      .then(() => resolve(), reject)
      .finally(() => {
        for (const cancel of cancels) cancel();
      });
  });
}
