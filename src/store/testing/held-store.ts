import { type Store, StoreError } from '../index.ts';

/** A store whose watches can be delayed or interrupted. */
export interface HeldStore extends Store {
  /** The underlying store, without delays. */
  readonly under: Store;
  /** Holds the deliveries of watches back until `release`. */
  hold(): void;
  release(): void;
  /** Fails every watch, like a network failure. */
  cut(): void;
}

/**
 * A store whose watches receive the commits of `store` when they may. With `releaseOnProgress`, a request for progress
 * releases what is held, as etcd sends all outstanding events before it answers one.
 */
export function heldStore(store: Store, options: { readonly releaseOnProgress?: boolean } = {}): HeldStore {
  let held = false;
  let queued: (() => void)[] = [];
  const watches = new Set<{ fail: () => void }>();
  const tell = (call: () => void) => {
    if (held) queued.push(call);
    else call();
  };
  const release = () => {
    held = false;
    const calls = queued;
    queued = [];
    for (const call of calls) call();
  };
  return {
    under: store,
    revision: () => store.revision(),
    get: (key, revision) => store.get(key, revision),
    list: (range) => store.list(range),
    commit: (compares, writes) => store.commit(compares, writes),
    compact: (revision) => store.compact(revision),
    close: () => store.close(),
    hold: () => {
      held = true;
    },
    release,
    cut: () => {
      release();
      for (const watch of watches) watch.fail();
    },
    watch: (prefix, after, sink) => {
      let open = true;
      const end = () => {
        open = false;
        watches.delete(watch);
      };
      const inner = store.watch(prefix, after, {
        batch: (revision, changes) => tell(() => open && sink.batch(revision, changes)),
        error: (error) =>
          tell(() => {
            if (!open) return;
            end();
            sink.error(error);
          }),
      });
      const watch = {
        fail: () => {
          inner.close();
          end();
          sink.error(new StoreError('unavailable', 'cut off'));
        },
      };
      watches.add(watch);
      return {
        progress: () => {
          if (options.releaseOnProgress) release();
          inner.progress();
        },
        close: () => {
          end();
          inner.close();
        },
      };
    },
  };
}
