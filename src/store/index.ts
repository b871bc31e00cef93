/** The backing store: its contract with multi-version concurrency control, its drivers, and copies and backups of it. */
export { type Backup, type BackupFile, openBackup, writeBackup } from './backup-file.ts';
export { type CopyObserver, type CopyResult, copyStore, EntryDigest } from './copy.ts';
export { type EtcdStoreOptions, openEtcdStore } from './etcd/etcd-store.ts';
export { openEtcdImport, openEtcdSnapshot } from './etcd/snapshot.ts';
export { limitHistory } from './history-limit.ts';
export { createStoreHost, type StoreHost } from './link/host.ts';
export { openLinkedStore } from './link/linked-store.ts';
export { RevisionBoard } from './link/revision-board.ts';
export { openLmdbImport } from './lmdb/import.ts';
export { type LmdbObserver, type LmdbStoreOptions, openLmdbStore } from './lmdb/lmdb-store.ts';
export { replaceLmdbStore } from './lmdb/replace.ts';
export { openLmdbSnapshot } from './lmdb/snapshot.ts';
export { type MemoryStoreOptions, openMemoryStore } from './memory/memory-store.ts';
export { openMigrated } from './migration.ts';
export { observedStore, type StoreOperation } from './observed-store.ts';
export { loadGrpc } from './optional-package.ts';
export { pagesOf } from './pages.ts';
export type { LeasedEntry, StoreImport, StoreSnapshot } from './snapshot.ts';
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
