/** Shared by commands that copy or check a store: flags of `orch serve`, and reports. */
import type { JsonObject } from '../../meta/index.ts';
import { type CopyObserver, type EtcdStoreOptions, StoreError } from '../../store/index.ts';
import { systemClock } from '../clock.ts';
import { createLog } from '../observability/log.ts';
import { systemRandom } from '../random.ts';
import { defaultsOf, type FlagTable, flag, listOf, type SettingsOf } from '../settings/flag.ts';
import * as type from '../settings/flag-types.ts';
import { defaultSettings, flagList, type Settings } from '../settings/flags.ts';
import { defaultLevels } from '../settings/log-levels.ts';
import { storeProblems } from '../settings/store-flags.ts';
import { StartError } from '../start-error.ts';
import { etcdStoreOptions } from '../storage/open-store.ts';
import { Progress } from './progress.ts';
import { parseSettings } from './run-until-signal.ts';

/** Selects flags of `orch serve` by key. */
export function serveFlags<K extends keyof Settings>(...keys: readonly K[]): FlagTable<Pick<Settings, K>> {
  const isTaken = (key: string): key is K => (keys as readonly string[]).includes(key);
  return {
    list: flagList.flatMap((flag) => (isTaken(flag.key) ? [{ ...flag, key: flag.key }] : [])),
    defaults: Object.fromEntries(keys.map((key) => [key, defaultSettings[key]])) as Pick<Settings, K>,
    problemsOf: () => [],
  };
}

type ToolStoreSettings = Parameters<typeof storeProblems>[0];

const reportFlags = {
  json: flag(
    'Process',
    type.boolean,
    false,
    'Whether to print the result, or the error, as one line of JSON on standard output. Progress goes to standard error.',
  ),
};
/** The flags that all of these commands have. */
export const reportTable: FlagTable<SettingsOf<typeof reportFlags>> = {
  list: listOf(reportFlags),
  defaults: defaultsOf(reportFlags),
  problemsOf: () => [],
};

/** Merges the flags of two tables. */
export const mergeTables = <A extends object, B extends object>(
  a: FlagTable<A>,
  b: FlagTable<B>,
): FlagTable<A & B> => ({
  list: [...a.list, ...b.list],
  defaults: { ...a.defaults, ...b.defaults },
  problemsOf: (settings, nameOf) => [...a.problemsOf(settings, nameOf), ...b.problemsOf(settings, nameOf)],
});

/** Splits the arguments of a command into its file, the first one that is not a flag or its value, and all others. */
export function splitFile<S>(
  { list }: FlagTable<S>,
  args: readonly string[],
): { readonly file?: string; readonly flags: readonly string[] } {
  const takesNext = (arg: string) => list.some(({ name, type }) => arg === `--${name}` && type.bare !== true);
  const place = args.findIndex((arg, i) => arg !== '' && !arg.startsWith('-') && !takesNext(args[i - 1] ?? ''));
  const file = args[place];
  return file === undefined ? { flags: args } : { file, flags: args.toSpliced(place, 1) };
}

/** Parses the arguments of a command that takes a file. Reports errors, sets exit status 2 and resolves with undefined. */
export async function parseFileAndSettings<S extends object>(
  command: string,
  table: FlagTable<S>,
  args: readonly string[],
): Promise<{ readonly file: string; readonly settings: S } | undefined> {
  const { file, flags } = splitFile(table, args);
  const settings = await parseSettings(command, table, flags);
  if (settings === undefined) return undefined;
  if (file !== undefined) return { file, settings };
  process.stderr.write(`orch: ${command} needs a file: orch ${command} [flags] FILE\n`);
  process.exitCode = 2;
  return undefined;
}

/** The result of a command. */
export interface Report {
  /** Human-readable text that ends with a line feed. */
  readonly text: string;
  /** The same for programs. */
  readonly json: JsonObject;
  /** Default: 0. */
  readonly exitStatus?: number;
}

/** Runs a command and reports its progress and result. A failure sets exit status 1. */
export async function runWithProgress(
  { json }: typeof reportTable.defaults,
  command: (progress: Progress) => Promise<Report>,
): Promise<void> {
  const progress = new Progress(process.stderr, systemClock);
  const print = (document: JsonObject) => process.stdout.write(`${JSON.stringify(document)}\n`);
  try {
    const result = await command(progress);
    progress.end();
    if (json) print(result.json);
    else process.stdout.write(result.text);
    process.exitCode = result.exitStatus ?? 0;
  } catch (error) {
    if (!(error instanceof StartError || error instanceof StoreError)) throw error;
    progress.say(`orch: ${error.message}`);
    if (json) print({ error: error.message });
    process.exitCode = 1;
  }
}

/** The options of a store over etcd that a command reads or fills without compacting it. @throws StartError */
export async function toolEtcdOptions(
  settings: Omit<Parameters<typeof etcdStoreOptions>[0], 'etcdCompactionInterval'>,
): Promise<EtcdStoreOptions> {
  const log = await createLog({ levels: { ...defaultLevels, level: 'warn' } });
  const dependencies = { clock: systemClock, random: systemRandom, log };
  return etcdStoreOptions({ ...settings, etcdCompactionInterval: 0 }, dependencies);
}

/** The problems of the store settings of a command. `instead` names an alternative to the memory store. */
export const toolStoreProblems = (
  settings: ToolStoreSettings,
  nameOf: (key: keyof ToolStoreSettings) => string,
  instead: string,
): string[] =>
  settings.store === 'memory'
    ? [`${nameOf('store')}=memory is in another process: ${instead}`]
    : storeProblems(settings, nameOf);

/** Formats a number with thousands separators. */
export const formatNumber = (value: number) => value.toLocaleString('en');

/** Reports the progress of a copy. */
export const copyObserver = (progress: Progress): CopyObserver => ({
  progress: (phase, done, size) => progress.show(phase, done, size),
  resumed: ({ revision, entries }) =>
    progress.say(
      `goes on with an interrupted copy of revision ${revision}: ${formatNumber(entries)} objects are there`,
    ),
  restarted: ({ revision }) =>
    progress.say(`the source no longer has revision ${revision} of the interrupted copy: starting over`),
});
