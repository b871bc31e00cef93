import type { ByteString, Clock } from '../../meta/index.ts';
import { checkKey, checkReached } from '../check.ts';
import { openCommitImport } from '../commit-import.ts';
import { migrationKey, offsetOf, readMigration } from '../migration.ts';
import type { LeasedEntry, StoreImport, StoreSnapshot } from '../snapshot.ts';
import { StoreError } from '../store.ts';
import { connectEtcd, type EtcdConnection, type EtcdStoreOptions, openEtcdStore } from './etcd-store.ts';
import { isOutOfRange, storeErrorOf } from './failure.ts';

const firstEntries = 32;
const mostEntries = 1000;
const bytesAPage = 2 * 1024 * 1024;
const all = '' as ByteString;

/**
 * The entries of a store over etcd as they are now, or were at `revision`. Fails as `unavailable`, also when the store is
 * an unfinished copy, or as `compacted`.
 */
export async function openEtcdSnapshot(options: EtcdStoreOptions, revision?: number): Promise<StoreSnapshot> {
  const connection = await connectEtcd(options);
  const { members, keys, rpc } = connection;
  try {
    const { kvs, header } = await members.read(rpc.range, { key: keys.key(checkKey(migrationKey)) });
    const offset = offsetOf(readMigration(kvs[0] && keys.entry(kvs[0])));
    const at = revision === undefined ? header.revision : revision - offset;
    checkReached(at, header.revision);
    const { count } = await members.read(rpc.range, { ...keys.range(all), countOnly: true, revision: at });
    return {
      revision: at + offset,
      size: count,
      async *pages() {
        for await (const page of pagesAt(connection, options.clock, at)) {
          const entries = page.filter(({ key }) => key !== migrationKey);
          yield entries.map((entry) => ({ ...entry, revision: entry.revision + offset }));
        }
      },
      close: async () => members.close(),
    };
  } catch (error) {
    await members.close();
    throw errorOf(error);
  }
}

/** Opens an import into a store over etcd. Fails as `unavailable`, also when the store is not empty. */
export async function openEtcdImport(options: EtcdStoreOptions): Promise<StoreImport> {
  const store = await openEtcdStore({ ...options, historyMs: 0 });
  try {
    const pages = async function* () {
      const connection = await connectEtcd(options);
      try {
        yield* pagesAt(connection, options.clock, await connection.members.revision());
      } finally {
        await connection.members.close();
      }
    };
    return await openCommitImport({ store, clock: options.clock, pages });
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** All entries at a revision of etcd. */
async function* pagesAt(
  { members, keys, rpc }: EtcdConnection,
  clock: Clock,
  revision: number,
): AsyncGenerator<readonly LeasedEntry[]> {
  /** Times of expiry by lease. */
  const expires = new Map<number, number>();
  let [after, limit]: [ByteString | undefined, number] = [undefined, firstEntries];
  for (let more = true; more; ) {
    const response = await members.read(rpc.range, { ...keys.range(all, after), limit, revision }).catch(rethrow);
    const page: LeasedEntry[] = [];
    let bytes = 0;
    for (const kv of response.kvs) {
      if (kv.lease !== 0 && !expires.has(kv.lease)) {
        const { TTL } = await members.read(rpc.timeToLive, { ID: kv.lease }).catch(rethrow);
        expires.set(kv.lease, Math.ceil(clock.now()) + Math.max(0, TTL) * 1000);
      }
      page.push({ ...keys.entry(kv), expires: expires.get(kv.lease) });
      after = keys.bytes(kv);
      bytes += kv.value.length;
    }
    ({ more } = response);
    yield page;
    const fitting = Math.floor(bytesAPage / (1 + bytes / page.length)) || 1;
    limit = Math.min(fitting, limit * 4, mostEntries);
  }
}

function rethrow(error: unknown): never {
  throw errorOf(error);
}

const errorOf = (error: unknown): StoreError =>
  isOutOfRange(error)
    ? new StoreError('compacted', 'etcd has compacted the revision that is copied: stop the servers, and begin again', {
        cause: error,
      })
    : storeErrorOf(error);
