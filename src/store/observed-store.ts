import type { Clock } from '../meta/index.ts';
import type { Compare, Store, Write } from './store.ts';

/** The kind of a request, as named in the reference server's metrics. A commit counts as its first write. */
export type StoreOperation = 'get' | 'list' | 'listWithCount' | 'create' | 'update' | 'delete';

/**
 * Called when a request has ended. `key` is the key, that of the first write, or the prefix of a list. A commit whose
 * compares do not hold counts as successful.
 */
export type RequestObserver = (operation: StoreOperation, key: string, seconds: number, failed: boolean) => void;

/**
 * Observes the gets, lists and commits of a store without delaying them. Requests without a key, such as reads of the
 * revision, are not observed.
 */
export function observedStore(store: Store, clock: Pick<Clock, 'monotonic'>, observer: RequestObserver): Store {
  // Returns the original promise: a derived one would settle later.
  const observe = <T>(operation: StoreOperation, key: string, began: number, answer: Promise<T>): Promise<T> => {
    answer.then(
      () => observer(operation, key, (clock.monotonic() - began) / 1000, false),
      () => observer(operation, key, (clock.monotonic() - began) / 1000, true),
    );
    return answer;
  };
  return {
    maxValueBytes: store.maxValueBytes,
    encrypts: store.encrypts === true,
    revision: store.revision.bind(store),
    oldest: store.oldest.bind(store),
    size: store.size.bind(store),
    watch: store.watch.bind(store),
    compact: store.compact.bind(store),
    close: store.close.bind(store),
    get: (key, revision) => observe('get', key, clock.monotonic(), store.get(key, revision)),
    list: (range) =>
      observe(range.count ? 'listWithCount' : 'list', range.prefix, clock.monotonic(), store.list(range)),
    commit: (compares, writes) => {
      const [first] = writes;
      if (first === undefined) return store.commit(compares, writes);
      return observe(operationOf(first, compares), first.key, clock.monotonic(), store.commit(compares, writes));
    },
  };
}

function operationOf({ key, value }: Write, compares: readonly Compare[]): StoreOperation {
  if (value === undefined) return 'delete';
  const isNew = compares.some((compare) => compare.key === key && compare.revision === 0 && compare.below !== true);
  return isNew ? 'create' : 'update';
}
