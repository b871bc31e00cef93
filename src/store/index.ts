/** The backing store: one contract of keys with many versions, and the drivers that keep them. */
export { maxValueBytes } from './check.ts';
export { copyLmdbStore, type StoreCopy } from './lmdb/copy.ts';
export { type LmdbStoreOptions, openLmdbStore } from './lmdb/lmdb-store.ts';
export { type MemoryStoreOptions, openMemoryStore } from './memory/memory-store.ts';
export {
  type Change,
  type CommitResult,
  type Entry,
  type GetResult,
  type Guard,
  type ListRange,
  type ListResult,
  type Store,
  StoreError,
  type StoreErrorCode,
  type Watch,
  type WatchSink,
  type Write,
} from './store.ts';
