import type { Clock } from '../meta/index.ts';
import type {
  CommitResult,
  Compare,
  GetResult,
  ListRange,
  ListResult,
  Store,
  Watch,
  WatchOptions,
  WatchSink,
  Write,
} from './store.ts';

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
export const observedStore = (store: Store, clock: Pick<Clock, 'monotonic'>, observer: RequestObserver): Store =>
  new ObservedStore(store, clock, observer);

class ObservedStore implements Store {
  readonly #store: Store;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #observer: RequestObserver;

  constructor(store: Store, clock: Pick<Clock, 'monotonic'>, observer: RequestObserver) {
    this.#store = store;
    this.#clock = clock;
    this.#observer = observer;
  }

  get maxValueBytes(): number {
    return this.#store.maxValueBytes;
  }

  get encrypts(): boolean {
    return this.#store.encrypts === true;
  }

  revision(): Promise<number> {
    return this.#store.revision();
  }

  oldest(): Promise<number> {
    return this.#store.oldest();
  }

  size(): Promise<number | undefined> {
    return this.#store.size();
  }

  get(key: string, revision?: number): Promise<GetResult> {
    const began = this.#clock.monotonic();
    return this.#observed('get', key, began, this.#store.get(key, revision));
  }

  list(range: ListRange): Promise<ListResult> {
    const began = this.#clock.monotonic();
    return this.#observed(range.count ? 'listWithCount' : 'list', range.prefix, began, this.#store.list(range));
  }

  commit(compares: readonly Compare[], writes: readonly Write[]): Promise<CommitResult> {
    const [first] = writes;
    if (first === undefined) return this.#store.commit(compares, writes);
    const began = this.#clock.monotonic();
    return this.#observed(operationOf(first, compares), first.key, began, this.#store.commit(compares, writes));
  }

  watch(prefix: string, after: number, sink: WatchSink, options?: WatchOptions): Watch {
    return this.#store.watch(prefix, after, sink, options);
  }

  compact(revision: number): Promise<void> {
    return this.#store.compact(revision);
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  /** Returns the original promise: a derived one would settle later. */
  #observed<T>(operation: StoreOperation, key: string, began: number, answer: Promise<T>): Promise<T> {
    const ended = (failed: boolean) => this.#observer(operation, key, (this.#clock.monotonic() - began) / 1000, failed);
    answer.then(
      () => ended(false),
      () => ended(true),
    );
    return answer;
  }
}

function operationOf({ key, value }: Write, compares: readonly Compare[]): StoreOperation {
  if (value === undefined) return 'delete';
  const isNew = compares.some((compare) => compare.key === key && compare.revision === 0 && compare.below !== true);
  return isNew ? 'create' : 'update';
}
