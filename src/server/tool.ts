/** What the commands have in common that copy a store: flags of `orch serve`, and their report. */
import type { CopyObserver } from '../store/index.ts';
import { StoreError } from '../store/index.ts';
import { systemClock } from './clock.ts';
import type { FlagTable } from './flag.ts';
import { defaultSettings, flagList, type Settings } from './flags.ts';
import { settingsOf } from './process.ts';
import { Progress } from './progress.ts';
import { StartError } from './start-error.ts';

/** Flags of `orch serve`, by their keys. */
export function flagsOfServe<K extends keyof Settings>(...keys: readonly K[]): FlagTable<Pick<Settings, K>> {
  const isTaken = (key: string): key is K => (keys as readonly string[]).includes(key);
  return {
    list: flagList.flatMap((flag) => (isTaken(flag.key) ? [{ ...flag, key: flag.key }] : [])),
    defaults: Object.fromEntries(keys.map((key) => [key, defaultSettings[key]])) as Pick<Settings, K>,
    problemsOf: () => [],
  };
}

/** The flags of two tables. */
export const both = <A extends object, B extends object>(a: FlagTable<A>, b: FlagTable<B>): FlagTable<A & B> => ({
  list: [...a.list, ...b.list],
  defaults: { ...a.defaults, ...b.defaults },
  problemsOf: (settings, nameOf) => [...a.problemsOf(settings, nameOf), ...b.problemsOf(settings, nameOf)],
});

/** The settings of a command whose last argument is a file; undefined, with exit status 2, when something is wrong. */
export async function fileAndSettings<S extends object>(
  command: string,
  table: FlagTable<S>,
  args: readonly string[],
): Promise<{ readonly file: string; readonly settings: S } | undefined> {
  const file = args.at(-1) ?? '';
  const named = file !== '' && !file.startsWith('-');
  const settings = await settingsOf(command, table, named ? args.slice(0, -1) : args);
  if (settings === undefined) return undefined;
  if (named) return { file, settings };
  process.stderr.write(`orch: ${command} needs a file: orch ${command} [flags] FILE\n`);
  process.exitCode = 2;
  return undefined;
}

/** Runs a command with a report of its progress. Exit status 1, and a sentence, when it fails. */
export async function runWithProgress(command: (progress: Progress) => Promise<string>): Promise<void> {
  const progress = new Progress(process.stderr, systemClock);
  try {
    const result = await command(progress);
    progress.end();
    process.stdout.write(result);
  } catch (error) {
    if (!(error instanceof StartError || error instanceof StoreError)) throw error;
    progress.say(`orch: ${error.message}`);
    process.exitCode = 1;
  }
}

const number = (value: number) => value.toLocaleString('en');

/** Tells of a copy. */
export const copyObserver = (progress: Progress): CopyObserver => ({
  progress: (phase, done, size) => progress.show(phase, done, size),
  resumed: ({ revision, entries }) =>
    progress.say(`goes on with an interrupted copy of revision ${revision}: ${number(entries)} objects are there`),
  restarted: ({ revision }) =>
    progress.say(`the source no longer has revision ${revision} of an interrupted copy, which begins anew`),
});
