import { join } from 'node:path';
import { defaultDomain, namesFor } from '../../meta/index.ts';
import {
  copyStore,
  type Entry,
  type LeasedEntry,
  openEtcdSnapshot,
  openEtcdStore,
  openLmdbSnapshot,
  openMigrated,
  replaceLmdbStore,
  type Store,
  StoreError,
  type StoreSnapshot,
} from '../../store/index.ts';
import { systemClock } from '../clock.ts';
import { domainOf } from '../cluster/cluster-identity.ts';
import type { Progress } from '../commands/progress.ts';
import { parseSettings } from '../commands/run-until-signal.ts';
import {
  copyObserver,
  formatNumber,
  mergeTables,
  type Report,
  reportTable,
  runWithProgress,
  serveFlags,
  toolEtcdOptions,
  toolStoreProblems,
} from '../commands/store-command.ts';
import type { LoadedCommand } from '../settings/flag.ts';
import { commandHelp } from '../settings/flag-docs.ts';
import { onlyDataDir } from '../storage/data-folder.ts';
import { type OfflineEncryption, openOfflineEncryption } from './offline-encryption.ts';
import { rewrittenSnapshot } from './rewritten-snapshot.ts';

const storeTable = serveFlags(
  ...(['store', 'dataDir', 'etcdServers', 'etcdPrefix', 'etcdCafile', 'etcdCertfile', 'etcdKeyfile'] as const),
  'encryptionProviderConfig',
);
const table = mergeTables(
  {
    ...storeTable,
    problemsOf: (settings, nameOf) => [
      ...toolStoreProblems(settings, nameOf, 'name a store that is kept'),
      ...(settings.encryptionProviderConfig === undefined
        ? [`${nameOf('encryptionProviderConfig')} must name the configuration by which values are encrypted`]
        : []),
    ],
  },
  reportTable,
);
type RewriteSettings = typeof table.defaults;

/** The output of `orch rewrite --help`. */
const rewriteHelp = (): string =>
  commandHelp(
    'orch rewrite --encryption-provider-config=<file> [flags]',
    [
      'Encrypts every value of a store with the first provider of its resource.',
      '',
      'Embedded store: no server may be running. A new data file without history and free space is written, verified,',
      'and put in place atomically. Objects keep their resourceVersions; clients that watch from an earlier',
      'resourceVersion list again.',
      '',
      'etcd: servers with the same configuration may be running. Values that are encrypted in another way are written',
      'again and get new resourceVersions. The command prints how to remove the old values that etcd retains.',
    ],
    table.list,
  );

/** Runs `orch rewrite`. Exit status 2 for invalid arguments, 1 when it fails. */
async function rewrite(args: readonly string[]): Promise<void> {
  const settings = await parseSettings('rewrite', table, args);
  if (settings === undefined) return;
  const rewriteStore = settings.store === 'etcd' ? rewriteEtcd : rewriteLmdb;
  await runWithProgress(settings, (progress) => rewriteStore(settings, progress));
}

/** The encryption of the settings, for the objects of a store. @throws StartError, StoreError */
async function encryptionOf(settings: RewriteSettings, snapshot: StoreSnapshot): Promise<OfflineEncryption> {
  const names = namesFor((await domainOf(snapshot)) ?? defaultDomain);
  return openOfflineEncryption(settings.encryptionProviderConfig ?? '', settings.etcdPrefix, names);
}

/** @throws StartError, StoreError also when there is no store */
async function encryptionOfLmdb(settings: RewriteSettings, path: string): Promise<OfflineEncryption> {
  const snapshot = await openLmdbSnapshot(path);
  try {
    return await encryptionOf(settings, snapshot);
  } finally {
    await snapshot.close();
  }
}

/** Encrypts a stale value again; resolves with undefined for a current one. @throws StoreError */
async function reencrypt(encryption: OfflineEncryption, { key, value }: Entry): Promise<Uint8Array | undefined> {
  const decrypted = await encryption.decrypt(key, value);
  if (decrypted !== undefined) return decrypted.stale ? encryption.encrypt(key, decrypted.value) : undefined;
  throw new StoreError(
    'unavailable',
    `no key of the configuration decrypts the value of ${JSON.stringify(key)}: add its key, or delete the object; orch check finds all of these`,
  );
}

/** @throws StartError, StoreError */
async function rewriteLmdb(settings: RewriteSettings, progress: Progress): Promise<Report> {
  const dataDir = settings.dataDir ?? (await onlyDataDir());
  const path = join(dataDir, 'store');
  const encryption = await encryptionOfLmdb(settings, path);
  let [revision, entries, changed] = [0, 0, 0];
  const renew = async (entry: LeasedEntry): Promise<LeasedEntry> => {
    const value = await reencrypt(encryption, entry);
    if (value === undefined) return entry;
    changed++;
    return { ...entry, value };
  };
  try {
    await replaceLmdbStore({
      path,
      overwrite: true,
      fill: async (to, old) => {
        const source = rewrittenSnapshot(old(), renew);
        ({ revision, entries } = await copyStore(async () => source, to, copyObserver(progress), 0));
      },
    });
  } finally {
    encryption.close();
  }
  return {
    text: `${dataDir} is rewritten: revision ${revision}, ${formatNumber(entries)} entries, ${formatNumber(changed)} of them encrypted again; history and free space are gone
backups of before have the values of before: replace them with a new one (orch backup)
`,
    json: { store: dataDir, revision, entries, changed },
  };
}

/** @throws StartError, StoreError */
async function rewriteEtcd(settings: RewriteSettings, progress: Progress): Promise<Report> {
  const { etcdServers, etcdPrefix } = settings;
  const options = await toolEtcdOptions(settings);
  const snapshot = await openEtcdSnapshot(options);
  let encryption: OfflineEncryption | undefined;
  let store: Store | undefined;
  try {
    encryption = await encryptionOf(settings, snapshot);
    const etcd = await openEtcdStore(options);
    store = await openMigrated(etcd);
    let [entries, changed] = [0, 0];
    for await (const page of snapshot.pages()) {
      for (const entry of page) if (await rewriteEntry(store, encryption, entry)) changed++;
      entries += page.length;
      progress.show('rewrite', entries, snapshot.size);
    }
    const revision = await etcd.revision();
    const endpoints = `etcdctl --endpoints=${etcdServers.join(',')}`;
    const cleanup = [`${endpoints} compact --physical ${revision}`, `${endpoints} defrag`];
    return {
      text: `etcd below ${etcdPrefix} is rewritten: ${formatNumber(entries)} entries, ${formatNumber(changed)} of them encrypted again
values of before are in the history and in the free space of every member until it is compacted and defragmented:
${cleanup.map((command) => `  ${command}\n`).join('')}and in write-ahead logs, snapshots and backups until these are removed: docs/encryption.md
`,
      json: { store: `${etcdServers.join(',')}${etcdPrefix}`, entries, changed, revision, left: cleanup },
    };
  } finally {
    encryption?.close();
    await store?.close();
    await snapshot.close();
  }
}

/** Encrypts a stale entry again. Resolves with whether it was written. */
async function rewriteEntry(store: Store, encryption: OfflineEncryption, first: LeasedEntry): Promise<boolean> {
  const { key, expires } = first;
  for (let entry: Entry | undefined = first; entry !== undefined; ) {
    const value = await reencrypt(encryption, entry);
    if (value === undefined) return false;
    if (value.length > store.maxValueBytes) throw tooLarge(key, value.length, store.maxValueBytes);
    const ttl = expires === undefined ? {} : { ttl: Math.max(1, Math.ceil((expires - systemClock.now()) / 1000)) };
    const result = await store.commit([{ key, revision: entry.revision }], [{ key, value, ...ttl }]);
    if (result.ok) return true;
    // A concurrent write may still be stale.
    entry = result.found[0];
  }
  return false;
}

const tooLarge = (key: string, size: number, max: number) =>
  new StoreError(
    'invalid',
    `the value of ${JSON.stringify(key)} has ${size} bytes when it is encrypted, and the store takes ${max}: make the object smaller, or delete it`,
  );

export const rewriteCommand: LoadedCommand = { run: rewrite, help: rewriteHelp, flags: table.list };
