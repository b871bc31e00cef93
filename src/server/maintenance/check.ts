import { join } from 'node:path';
import { openBackup, openEtcdSnapshot, openLmdbSnapshot, StoreError, type StoreSnapshot } from '../../store/index.ts';
import type { Progress } from '../commands/progress.ts';
import { parseSettings } from '../commands/run-until-signal.ts';
import {
  formatNumber,
  mergeTables,
  type Report,
  reportTable,
  runWithProgress,
  serveFlags,
  splitFile,
  toolEtcdOptions,
  toolStoreProblems,
} from '../commands/store-command.ts';
import type { LoadedCommand } from '../settings/flag.ts';
import { commandHelp } from '../settings/flag-docs.ts';
import { onlyDataDir } from '../storage/data-folder.ts';
import { Findings } from './check-findings.ts';
import { type CheckedStore, checkStore } from './check-store.ts';

const storeTable = serveFlags(
  ...(['store', 'dataDir', 'etcdServers', 'etcdPrefix', 'etcdCafile', 'etcdCertfile', 'etcdKeyfile'] as const),
  'encryptionProviderConfig',
);
const table = mergeTables(
  {
    ...storeTable,
    problemsOf: (settings, nameOf) => toolStoreProblems(settings, nameOf, 'name a store that is kept, or a backup'),
  },
  reportTable,
);
type CheckSettings = typeof table.defaults;

/** The exit status when there are errors. */
const errorStatus = 3;

/** The output of `orch check --help`. */
const checkHelp = (): string =>
  commandHelp(
    'orch check [flags] [FILE]',
    [
      'Verifies the store of a server, which may be running, at one revision, or the backup FILE: that all of it can be',
      'read, that objects decode against their types and match their keys, that references resolve, and that addresses',
      'and ports are allocated as services use them. Nothing is written.',
      '',
      'Exit status: 0 without errors, also when there are warnings; 3 with errors; 1 when it cannot be checked;',
      '2 for invalid arguments.',
    ],
    table.list,
  );

/** Runs `orch check`. */
async function check(args: readonly string[]): Promise<void> {
  const { file, flags } = splitFile(table, args);
  const settings = await parseSettings('check', table, flags);
  if (settings !== undefined) await runWithProgress(settings, (progress) => checkSource(settings, file, progress));
}

/** @throws StartError or StoreError when it cannot be checked */
async function checkSource(settings: CheckSettings, file: string | undefined, progress: Progress): Promise<Report> {
  const findings = new Findings();
  const source = await sourceOf(settings, file);
  let snapshot: StoreSnapshot | undefined;
  let checked: CheckedStore | undefined;
  try {
    snapshot = await source.open();
    const { encryptionProviderConfig: encryption, etcdPrefix: pathPrefix } = settings;
    checked = await checkStore({ snapshot, findings, progress, encryption, pathPrefix });
  } catch (error) {
    if (!(error instanceof StoreError && error.code === 'damaged')) throw error;
    findings.add('store', undefined, error.message);
  } finally {
    await snapshot?.close();
  }
  return reportOf(source.name, findings, snapshot?.revision, checked);
}

interface Source {
  readonly name: string;
  open(): Promise<StoreSnapshot>;
}

/** @throws StartError */
async function sourceOf(settings: CheckSettings, file: string | undefined): Promise<Source> {
  const { store, etcdServers, etcdPrefix } = settings;
  if (file !== undefined) return { name: file, open: async () => (await openBackup(file)).snapshot };
  if (store === 'etcd') {
    const name = `etcd at ${etcdServers.join(',')} below ${etcdPrefix}`;
    return { name, open: async () => openEtcdSnapshot(await toolEtcdOptions(settings)) };
  }
  const dataDir = settings.dataDir ?? (await onlyDataDir());
  return { name: dataDir, open: () => openLmdbSnapshot(join(dataDir, 'store')) };
}

function reportOf(
  source: string,
  findings: Findings,
  revision: number | undefined,
  checked: CheckedStore | undefined,
): Report {
  const [errors, warnings] = [findings.count('error'), findings.count('warning')];
  const summary = `${count(errors, 'error')}, ${count(warnings, 'warning')}`;
  const objects = [...(checked?.resources.values() ?? [])].reduce((sum, some) => sum + some, 0);
  const what =
    checked === undefined
      ? 'could not be read to its end'
      : `revision ${revision}, ${formatNumber(checked.entries)} entries, ${formatNumber(objects)} objects of ${checked.resources.size} resources (sha256 ${checked.digest})`;
  const older = checked?.older.lines() ?? [];
  const lines = [
    ...findings.lines(),
    `${source}: ${what}`,
    ...older.map((line) => `stored in an older version: ${line}`),
    ...(older.length === 0 ? [] : ['rewrite them with a StorageVersionMigration of each resource: docs/versions.md']),
    summary,
  ];
  return {
    text: `${lines.join('\n')}\n`,
    json: {
      source,
      ok: errors === 0,
      errors,
      warnings,
      ...(revision === undefined ? {} : { revision }),
      ...(checked === undefined
        ? {}
        : {
            entries: checked.entries,
            sha256: checked.digest,
            objects: Object.fromEntries(checked.resources),
            older: checked.older.json(),
          }),
      findings: findings.json(),
    },
    exitStatus: errors === 0 ? 0 : errorStatus,
  };
}

const count = (value: number, what: string): string => `${formatNumber(value)} ${what}${value === 1 ? '' : 's'}`;

export const checkCommand: LoadedCommand = { run: check, help: checkHelp, flags: table.list };
