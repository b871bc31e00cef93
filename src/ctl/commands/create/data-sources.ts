/** The data of config maps and secrets from literals, files, folders and files of variables. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { CommandError } from '../../errors.ts';
import { list, repeatable, type ValuesOf } from '../../flags/flag.ts';

export const sourceFlags = {
  fromEnvFile: list('Specify the path to a file to read lines of key=val pairs to create the data.'),
  fromFile: list(
    'Key file can be specified using its file path, in which case file basename will be used as key, or optionally with a key and file path. Specifying a directory will iterate each named file in the directory whose basename is a valid key.',
  ),
  fromLiteral: repeatable('Specify a key and literal value to insert (i.e. mykey=somevalue).'),
};

/** Object data is at most 1 MiB: larger files are refused before they are read (bytes). */
const maxFile = 16 * 1024 * 1024;

/** Reads all sources, by key. @throws CommandError */
export async function readSources(
  { fromEnvFile, fromFile, fromLiteral }: ValuesOf<typeof sourceFlags>,
  folder: string,
): Promise<Map<string, Buffer>> {
  const data = new Map<string, Buffer>();
  const add = (key: string, value: Buffer) => {
    if (!/^[-._a-zA-Z0-9]{1,253}$/.test(key)) {
      throw new CommandError(
        `${JSON.stringify(key)} is not valid key name: a valid config key must consist of alphanumeric characters, '-', '_' or '.'`,
      );
    }
    if (data.has(key)) throw new CommandError(`cannot add key ${key}, another key by that name already exists`);
    data.set(key, value);
  };
  if (fromEnvFile.length > 0 && (fromFile.length > 0 || fromLiteral.length > 0)) {
    throw new CommandError('from-env-file cannot be combined with from-file or from-literal');
  }
  for (const literal of fromLiteral) {
    const at = literal.indexOf('=');
    if (at < 1) throw new CommandError(`invalid literal source ${literal}, expected key=value`);
    add(literal.slice(0, at), Buffer.from(unquoted(literal.slice(at + 1))));
  }
  for (const source of fromFile) {
    const at = source.indexOf('=');
    const [key, path] = at < 0 ? [undefined, source] : [source.slice(0, at), source.slice(at + 1)];
    for (const [name, bytes] of await filesOf(resolve(folder, path), path, key)) add(name, bytes);
  }
  for (const path of fromEnvFile) {
    const text = (await read(resolve(folder, path), path)).toString();
    for (const line of text.split(/\r?\n/).map((each) => each.trimStart())) {
      if (line === '' || line.startsWith('#')) continue;
      const [, name = '', value = ''] = /^([^=]*)(?:=([\s\S]*))?$/.exec(line) ?? [];
      add(name, Buffer.from(value));
    }
  }
  return data;
}

const unquoted = (value: string) => /^(["'])([\s\S]*)\1$/.exec(value)?.[2] ?? value;

async function filesOf(full: string, path: string, key: string | undefined): Promise<[string, Buffer][]> {
  const found = await stat(full).catch(() => undefined);
  if (found?.isDirectory() !== true) return [[key ?? basename(path), await read(full, path)]];
  if (key !== undefined) throw new CommandError('cannot give a key name for a directory path');
  const entries = await readdir(full, { withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  return Promise.all(
    files.map(async (name): Promise<[string, Buffer]> => [name, await read(join(full, name), join(path, name))]),
  );
}

async function read(full: string, path: string): Promise<Buffer> {
  try {
    const { size } = await stat(full);
    if (size > maxFile) throw new CommandError(`${path} is larger than ${maxFile / 1024 / 1024} MiB`);
    return await readFile(full);
  } catch (cause) {
    if (cause instanceof CommandError) throw cause;
    throw new CommandError(`error reading ${path}: no such file or directory`, { cause });
  }
}
