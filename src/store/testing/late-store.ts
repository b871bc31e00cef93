import type { Store } from '../index.ts';

/**
 * A store whose watches receive everything `ms` milliseconds of real time late and in order: batches, progress
 * notifications and errors, as from a store on other machines. Commits and reads are those of `store`.
 */
export function lateStore(store: Store, ms: number): Store {
  // Timers of the same duration run in the order in which they were set.
  const later = (deliver: () => void) => void setTimeout(deliver, ms);
  return {
    revision: () => store.revision(),
    get: (key, revision) => store.get(key, revision),
    list: (range) => store.list(range),
    commit: (compares, writes) => store.commit(compares, writes),
    compact: (revision) => store.compact(revision),
    close: () => store.close(),
    watch: (prefix, after, sink) => {
      let open = true;
      const inner = store.watch(prefix, after, {
        batch: (revision, changes) => later(() => open && sink.batch(revision, changes)),
        error: (error) =>
          later(() => {
            if (!open) return;
            open = false;
            sink.error(error);
          }),
      });
      return {
        progress: () => inner.progress(),
        close: () => {
          open = false;
          inner.close();
        },
      };
    },
  };
}
