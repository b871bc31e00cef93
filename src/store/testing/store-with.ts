import type { Store } from '../store.ts';

/** `store` with some methods replaced. */
export function storeWith(store: Store, replaced: Partial<Store>): Store {
  return {
    maxValueBytes: store.maxValueBytes,
    revision: () => store.revision(),
    oldest: () => store.oldest(),
    size: () => store.size(),
    get: (...given) => store.get(...given),
    list: (...given) => store.list(...given),
    commit: (...given) => store.commit(...given),
    watch: (...given) => store.watch(...given),
    compact: (...given) => store.compact(...given),
    close: () => store.close(),
    ...replaced,
  };
}
