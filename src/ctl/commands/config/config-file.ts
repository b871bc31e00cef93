/** Changes of kubeconfig files. */

import { mkdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { documentOf, type Kubeconfig, kubeconfigFiles, kubeconfigLists } from '../../../client/index.ts';
import { stringifyYaml } from '../../../codec/index.ts';
import { isJsonObject, type JsonObject } from '../../../meta/index.ts';
import { configOf } from '../../cluster/choose-connection.ts';
import type { CommandContext } from '../../command.ts';
import { CommandError } from '../../errors.ts';
import type { Io } from '../../io.ts';
import { jsonText } from '../../output/json.ts';

export type ListName = keyof typeof kubeconfigLists;

/** The merged kubeconfig of a command. A file of `--kubeconfig` that does not exist is empty, and is created by a change. */
export const readConfig = ({ globals, io }: CommandContext<unknown>): Promise<Kubeconfig> =>
  configOf(globals, io, { isRequired: false });

/** The first file that a command may change: that of the entry, otherwise the first that exists or may be created. */
export async function fileFor(context: CommandContext<unknown>, list?: ListName, name?: string): Promise<string> {
  const config = await readConfig(context);
  const entry = list === undefined || name === undefined ? undefined : config[list].get(name);
  const { globals, io } = context;
  const [first = ''] = kubeconfigFiles({ path: globals.kubeconfig, env: io.env, home: io.home });
  return entry?.file ?? config.files[0] ?? first;
}

/** How often a lock is tried, and the pause between (ms). */
const lockAttempts = 50;
const lockPauseMs = 100;

/**
 * Changes the document of a file and replaces the file, with mode 0600. `FILE.lock`, which kubectl uses too, keeps other
 * programs from changing the file meanwhile. `signal` ends the wait for it. @throws CommandError
 */
export async function changeFile(
  { signal }: Pick<Io, 'signal'>,
  file: string,
  change: (document: JsonObject) => JsonObject,
): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 }).catch(cannotWrite(file));
  const lock = `${file}.lock`;
  await takeLock(lock, file, signal);
  try {
    await replaceFile(file, change);
  } finally {
    await rm(lock, { force: true });
  }
}

async function takeLock(lock: string, file: string, signal: AbortSignal): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    signal.throwIfAborted();
    try {
      await writeFile(lock, '', { flag: 'wx', mode: 0o600 });
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') cannotWrite(file)(error as Error);
    }
    if (attempt === lockAttempts)
      throw new CommandError(`${lock} exists: another program is changing the file. If none is, delete ${lock}`);
    await pause(lockPauseMs, undefined, { signal });
  }
}

const cannotWrite = (file: string) => (error: Error) => {
  throw new CommandError(`${file} cannot be written: ${error.message}`, { cause: error });
};

async function replaceFile(file: string, change: (document: JsonObject) => JsonObject): Promise<void> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw new CommandError(`open ${file}: ${error.message}`, { cause: error });
  });
  const empty = {
    apiVersion: 'v1',
    clusters: [],
    contexts: [],
    'current-context': '',
    kind: 'Config',
    preferences: {},
    users: [],
  };
  const before = text.trim() === '' ? empty : documentOf(text, file);
  const after = stringifyYaml(change(before));
  // A link stays: the file that it leads to is replaced.
  const target = await realpath(file).catch(() => file);
  const temporary = `${target}.${process.pid}.tmp`;
  try {
    await writeFile(temporary, after, { mode: 0o600 });
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    cannotWrite(file)(error as Error);
  }
}

/** The entries of a list of a document. */
export function itemsOf(document: JsonObject, list: ListName): { name: string; fields: JsonObject }[] {
  const items = document[list];
  return (Array.isArray(items) ? items.filter(isJsonObject) : []).map((item) => {
    const fields = item[kubeconfigLists[list]];
    return { name: jsonText(item['name']), fields: isJsonObject(fields) ? fields : {} };
  });
}

/** The document with other entries, sorted by name. */
export function withItems(
  document: JsonObject,
  list: ListName,
  items: readonly { readonly name: string; readonly fields: JsonObject }[],
): JsonObject {
  const sorted = items.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return { ...document, [list]: sorted.map(({ name, fields }) => ({ name, [kubeconfigLists[list]]: fields })) };
}

/** Adds or changes one entry. Fields with an empty text are removed. */
export function withEntry(document: JsonObject, list: ListName, name: string, fields: JsonObject): JsonObject {
  const items = itemsOf(document, list);
  const before = items.find((item) => item.name === name)?.fields ?? {};
  const merged = Object.entries({ ...before, ...fields }).filter(([, value]) => value !== '');
  const entry = { name, fields: Object.fromEntries(merged) as JsonObject };
  return withItems(document, list, [...items.filter((item) => item.name !== name), entry]);
}
