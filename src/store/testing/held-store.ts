import { type Store, StoreError } from '../index.ts';
import { storeWith } from './store-with.ts';

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
  const watch: Store['watch'] = (prefix, after, sink, watchOptions) => {
    let open = true;
    const end = () => {
      open = false;
      watches.delete(failing);
    };
    const delayed = {
      batch: (...batch: Parameters<typeof sink.batch>) => tell(() => open && sink.batch(...batch)),
      error: (error: StoreError) =>
        tell(() => {
          if (!open) return;
          end();
          sink.error(error);
        }),
    };
    const inner = store.watch(prefix, after, delayed, watchOptions);
    const failing = {
      fail: () => {
        inner.close();
        end();
        sink.error(new StoreError('unavailable', 'cut off'));
      },
    };
    watches.add(failing);
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
  };
  return {
    ...storeWith(store, { watch }),
    under: store,
    hold: () => {
      held = true;
    },
    release,
    cut: () => {
      release();
      for (const each of watches) each.fail();
    },
  };
}
