import { setTimeout as sleep } from 'node:timers/promises';
import { type Store, StoreError } from '../../src/server/index.ts';
import { storeWith } from '../../src/store/testing/store-with.ts';
import type { Random } from './random.ts';

/** A store that is reached over a network: everything takes time, and the network can be cut. */
export interface DistantStore extends Store {
  /** From now on calls fail, and watches end; what was under way may or may not take place. */
  cut(): void;
  /** From now on watches tell nothing; they tell it later. */
  hold(): void;
  heal(): void;
}

/** The longest way to the store and back (ms). */
const distance = 20;

/** `store` seen from a distance. Closing it does not close `store`. */
export function distantStore(store: Store, random: Random): DistantStore {
  let isCut = false;
  let isHeld = false;
  let isClosed = false;
  const watches = new Set<{ end(error: StoreError): void; flush(): void }>();
  const check = (code: 'unavailable' | 'uncertain') => {
    if (isClosed) throw new StoreError('closed', 'the store is closed');
    if (isCut) throw new StoreError(code, 'the network is cut');
  };
  async function far<T>(call: () => Promise<T>, lost: 'unavailable' | 'uncertain' = 'unavailable'): Promise<T> {
    check('unavailable');
    await sleep(random.integer(distance));
    check(lost);
    const answer = await call();
    await sleep(random.integer(distance));
    check(lost);
    return answer;
  }
  const watch: Store['watch'] = (prefix, after, sink, options) => {
    let queue: (() => void)[] = [];
    let isOpen = true;
    const flush = () => {
      const told = isHeld ? [] : queue;
      if (!isHeld) queue = [];
      for (const tell of told) if (isOpen) tell();
    };
    const tell = (call: () => void) => {
      queue.push(call);
      setTimeout(flush, random.integer(distance));
    };
    const end = () => {
      isOpen = false;
      watches.delete(one);
      inner.close();
    };
    const fail = (error: StoreError) => {
      if (!isOpen) return;
      end();
      sink.error(error);
    };
    const inner = store.watch(
      prefix,
      after,
      { batch: (...batch) => tell(() => sink.batch(...batch)), error: (error) => tell(() => fail(error)) },
      options,
    );
    const one = { end: fail, flush };
    watches.add(one);
    if (isCut || isClosed) setTimeout(() => fail(new StoreError('unavailable', 'the network is cut')));
    return { progress: () => setTimeout(() => inner.progress(), random.integer(distance)), close: end };
  };
  const endWatches = (code: 'unavailable' | 'closed') => {
    for (const one of [...watches]) one.end(new StoreError(code, 'the network is cut'));
  };
  return {
    ...storeWith(store, {
      revision: () => far(() => store.revision()),
      oldest: () => far(() => store.oldest()),
      get: (...given) => far(() => store.get(...given)),
      list: (...given) => far(() => store.list(...given)),
      commit: (compares, writes) => {
        // Bytes are the caller's again when the call has returned.
        const kept = writes.map((write) =>
          write.value === undefined ? write : { ...write, value: write.value.slice() },
        );
        return far(() => store.commit(compares, kept), 'uncertain');
      },
      compact: (...given) => far(() => store.compact(...given)),
      close: async () => {
        isClosed = true;
        endWatches('closed');
      },
      watch,
    }),
    cut: () => {
      isCut = true;
      endWatches('unavailable');
    },
    hold: () => {
      isHeld = true;
    },
    heal: () => {
      isCut = false;
      isHeld = false;
      for (const one of watches) one.flush();
    },
  };
}
