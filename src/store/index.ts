/** The backing store: the MVCC contract and its drivers. */
export { type EtcdStoreOptions, openEtcdStore } from './etcd/etcd-store.ts';
export { copyLmdbStore, type StoreCopy } from './lmdb/copy.ts';
export { type LmdbStoreOptions, openLmdbStore } from './lmdb/lmdb-store.ts';
export { type MemoryStoreOptions, openMemoryStore } from './memory/memory-store.ts';
export { pagesOf } from './pages.ts';
export {
  type Change,
  type CommitResult,
  type Compare,
  type Entry,
  type GetResult,
  type ListRange,
  type ListResult,
  type Store,
  StoreError,
  type StoreErrorCode,
  type Watch,
  type WatchOptions,
  type WatchSink,
  type Write,
} from './store.ts';
