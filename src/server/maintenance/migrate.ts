import { join } from 'node:path';
import { defaultDomain, namesFor } from '../../meta/index.ts';
import {
  copyStore,
  openEtcdImport,
  openEtcdSnapshot,
  openLmdbImport,
  openLmdbSnapshot,
  type StoreImport,
  type StoreSnapshot,
} from '../../store/index.ts';
import { domainOf } from '../cluster/cluster-identity.ts';
import type { Progress } from '../commands/progress.ts';
import { parseSettings } from '../commands/run-until-signal.ts';
import {
  copyObserver,
  mergeTables,
  type Report,
  reportTable,
  runWithProgress,
  serveFlags,
  toolEtcdOptions,
} from '../commands/store-command.ts';
import type { LoadedCommand } from '../settings/flag.ts';
import { defaultsOf, type FlagTable, flag, listOf, type SettingsOf } from '../settings/flag.ts';
import { commandHelp } from '../settings/flag-docs.ts';
import * as type from '../settings/flag-types.ts';
import { dataDirOf, onlyDataDir } from '../storage/data-folder.ts';
import type { StorageVersions } from './storage-versions.ts';

const store = type.oneOf('lmdb', 'etcd');
const ownFlags = {
  from: flag('Store', store, 'lmdb', 'Source store: `lmdb` in the data directory, or `etcd`.'),
  to: flag('Store', store, 'etcd', 'Target store: the other one. It must be empty.'),
};
const ownTable: FlagTable<SettingsOf<typeof ownFlags>> = {
  list: listOf(ownFlags),
  defaults: defaultsOf(ownFlags),
  problemsOf: ({ from, to }, nameOf) => (from === to ? [`${nameOf('from')} and ${nameOf('to')} must differ`] : []),
};
const storeTable = serveFlags('dataDir', 'etcdServers', 'etcdPrefix', 'etcdCafile', 'etcdCertfile', 'etcdKeyfile');
const table = mergeTables(
  mergeTables(ownTable, {
    ...storeTable,
    problemsOf: ({ etcdServers }, nameOf) =>
      etcdServers.length === 0
        ? [`${nameOf('etcdServers')} must name the members of etcd, such as https://10.0.0.1:2379`]
        : [],
  }),
  reportTable,
);
type MigrateSettings = typeof table.defaults;

/** The output of `orch migrate --help`. */
const migrateHelp = (): string =>
  commandHelp(
    'orch migrate --from=lmdb --to=etcd --etcd-servers=<url,…> [flags]',
    [
      'Copies all objects at one revision from one store to another. Stop the servers of the source first: later',
      'writes are not copied. Objects of built-in kinds that are stored in an older version are converted to the present',
      'one, unless they are encrypted. The copy is read back and compared by a digest. An interrupted copy cannot be',
      'served; run the same command again to continue it.',
      '',
      'In lmdb objects keep their resourceVersions. In etcd they get new ones, greater than all earlier ones. In both',
      'cases clients that watch from an earlier resourceVersion list again.',
    ],
    table.list,
  );

/** Runs `orch migrate`. Exit status 2 for invalid arguments, 1 when the copy fails. */
async function migrate(args: readonly string[]): Promise<void> {
  const settings = await parseSettings('migrate', table, args);
  if (settings !== undefined) await runWithProgress(settings, (progress) => migrateStore(settings, progress));
}

/** A store as source and as target. */
interface Place {
  readonly name: string;
  open(revision: number | undefined): Promise<StoreSnapshot>;
  fill(): Promise<StoreImport>;
}

/** @throws StartError or StoreError */
async function migrateStore(settings: MigrateSettings, progress: Progress): Promise<Report> {
  const etcd = await etcdPlace(settings);
  const dataDir =
    settings.dataDir ?? (settings.from === 'lmdb' ? await onlyDataDir() : dataDirOf(await domainIn(etcd)));
  const places = { lmdb: lmdbPlace(dataDir), etcd };
  const [from, to] = [places[settings.from], places[settings.to]];
  // Fails before the target is created when the source does not exist.
  const names = namesFor(await domainIn(from));
  const target = await to.fill();
  let versions: StorageVersions | undefined;
  try {
    // Loaded when a copy begins: the kinds take longer to load than the rest of the command.
    const { openStorageVersions } = await import('./storage-versions.ts');
    versions = await openStorageVersions(names);
    const { convert, converted } = versions;
    const open = async (at: number | undefined) => convert(await from.open(at));
    const { revision, entries, digest } = await copyStore(open, target, copyObserver(progress));
    if (settings.from === 'lmdb') {
      const latest = await from.open(undefined);
      await latest.close();
      if (latest.revision > revision) progress.say(`the source has been written since: later changes are not copied`);
    }
    const lines = converted.lines().map((line) => `converted to the storage version: ${line}\n`);
    return {
      text: `${lines.join('')}${from.name} is copied to ${to.name}: revision ${revision}, ${entries} objects (sha256 ${digest})\n`,
      json: { from: from.name, to: to.name, revision, entries, sha256: digest, converted: converted.json() },
    };
  } finally {
    await versions?.close();
    await target.close();
  }
}

/** The API domain of the objects at a place. @throws StartError, StoreError when there is no store */
async function domainIn(place: Place): Promise<string> {
  const snapshot = await place.open(undefined);
  try {
    return (await domainOf(snapshot)) ?? defaultDomain;
  } finally {
    await snapshot.close();
  }
}

function lmdbPlace(dataDir: string): Place {
  const path = join(dataDir, 'store');
  return {
    name: dataDir,
    open: (revision) => openLmdbSnapshot(path, revision),
    fill: () => openLmdbImport(path),
  };
}

/** @throws StartError */
async function etcdPlace(settings: MigrateSettings): Promise<Place> {
  const options = await toolEtcdOptions(settings);
  return {
    name: `etcd below ${settings.etcdPrefix}`,
    open: (revision) => openEtcdSnapshot(options, revision),
    fill: () => openEtcdImport(options),
  };
}

export const migrateCommand: LoadedCommand = { run: migrate, help: migrateHelp, flags: table.list };
