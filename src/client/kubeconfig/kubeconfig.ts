/** Reads kubeconfigs and merges them. */
import { readFile } from 'node:fs/promises';
import { delimiter, dirname, join, resolve } from 'node:path';
import { parseYaml } from '../../codec/index.ts';
import { isJsonObject, type Json, type JsonObject } from '../../meta/index.ts';

/** A kubeconfig that cannot be used. The message names the file and the fix. */
export class KubeconfigError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'KubeconfigError';
  }
}

/** A cluster, a user or a context with the fields of the file. */
export interface KubeconfigEntry {
  readonly name: string;
  readonly fields: JsonObject;
  /** The file that has the entry; its relative paths start at the folder of the file. */
  readonly file: string;
}

type Entries = ReadonlyMap<string, KubeconfigEntry>;

/** One kubeconfig, or several that are merged. */
export interface Kubeconfig {
  readonly clusters: Entries;
  readonly users: Entries;
  readonly contexts: Entries;
  /** Empty when no file has one. */
  readonly currentContext: string;
  /** The files that were read, in their order. */
  readonly files: readonly string[];
}

/** The lists of a kubeconfig, and the field that holds the content of an entry. */
export const kubeconfigLists = { clusters: 'cluster', users: 'user', contexts: 'context' } as const;

export interface KubeconfigSource {
  /** A file that replaces the files of the environment. */
  readonly path?: string | undefined;
  /** Whether the file of `path` must exist; by default it must. */
  readonly isRequired?: boolean;
  readonly env?: { readonly [name: string]: string | undefined };
  /** The home folder of the user. */
  readonly home?: string;
}

/** The files of a source: the explicit one, those of the variable `KUBECONFIG`, or the one of the home folder. */
export function kubeconfigFiles({ path, env = process.env, home = env['HOME'] ?? '' }: KubeconfigSource): string[] {
  if (path !== undefined && path !== '') return [path];
  const listed = (env['KUBECONFIG'] ?? '').split(delimiter).filter((file) => file !== '');
  return listed.length === 0 ? [join(home, '.kube', 'config')] : [...new Set(listed)];
}

/**
 * Reads the files of a source and merges them: the first file that has an entry of a name wins, and the first that has a
 * current context. Files of the environment that do not exist are skipped. @throws KubeconfigError
 */
export async function readKubeconfig(source: KubeconfigSource = {}): Promise<Kubeconfig> {
  const { path = '', isRequired = true } = source;
  const configs: Kubeconfig[] = [];
  for (const file of kubeconfigFiles(source)) {
    const text = await readText(file, path !== '' && isRequired);
    if (text !== undefined) configs.push(parseKubeconfig(text, file));
  }
  return mergeKubeconfigs(configs);
}

async function readText(file: string, required: boolean): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT' && code !== 'ENOTDIR') {
      throw new KubeconfigError(`error loading config file "${file}": ${reasonOf(error, file)}`, error);
    }
    if (required) throw new KubeconfigError(`stat ${file}: no such file or directory`, error);
    return undefined;
  }
}

/** The reason of a failed file operation, without the call. */
export function reasonOf(error: unknown, file: string): string {
  const { code, message = String(error) } = error as Partial<NodeJS.ErrnoException>;
  if (code === 'ENOENT') return `open ${file}: no such file or directory`;
  if (code === 'EACCES') return `open ${file}: permission denied`;
  return code === 'EISDIR' ? `read ${file}: is a directory` : message;
}

/** Reads the text of a kubeconfig. `file`: its path in messages, at whose folder relative paths start. @throws KubeconfigError */
export function parseKubeconfig(text: string, file: string): Kubeconfig {
  const value = documentOf(text, file);
  const list = (name: keyof typeof kubeconfigLists) => entriesOf(value, name, file);
  const current = value['current-context'] ?? '';
  if (typeof current !== 'string') throw invalid(file, 'current-context must be a string');
  return {
    clusters: list('clusters'),
    users: list('users'),
    contexts: list('contexts'),
    currentContext: current,
    files: [file],
  };
}

/** The first config that has an entry or a current context wins. */
function mergeKubeconfigs(configs: readonly Kubeconfig[]): Kubeconfig {
  const merged = (name: keyof typeof kubeconfigLists) =>
    new Map(configs.toReversed().flatMap((config) => [...config[name]]));
  return {
    clusters: merged('clusters'),
    users: merged('users'),
    contexts: merged('contexts'),
    currentContext: configs.find(({ currentContext }) => currentContext !== '')?.currentContext ?? '',
    files: configs.flatMap(({ files }) => files),
  };
}

/** The document of a kubeconfig; an empty file is an empty one. @throws KubeconfigError */
export function documentOf(text: string, file: string): JsonObject {
  let value: Json;
  try {
    value = parseYaml(Buffer.from(text)).value;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw invalid(file, why.replace(/^error converting YAML to JSON: /, ''), error);
  }
  if (value === null) return {};
  if (!isJsonObject(value) || (value['kind'] ?? 'Config') !== 'Config') throw invalid(file, 'its kind must be Config');
  return value;
}

function entriesOf(config: JsonObject, list: keyof typeof kubeconfigLists, file: string): Entries {
  const items = config[list] ?? [];
  if (!Array.isArray(items)) throw invalid(file, `${list} must be a list`);
  const entries = new Map<string, KubeconfigEntry>();
  for (const item of items) {
    const name = isJsonObject(item) ? item['name'] : undefined;
    const fields = isJsonObject(item) ? (item[kubeconfigLists[list]] ?? {}) : undefined;
    if (typeof name !== 'string' || !isJsonObject(fields)) {
      throw invalid(file, `each item of ${list} must have a name and a ${kubeconfigLists[list]}`);
    }
    if (entries.has(name)) throw invalid(file, `duplicate name ${JSON.stringify(name)} in ${list}`);
    entries.set(name, { name, fields, file });
  }
  return entries;
}

const invalid = (file: string, why: string, cause?: unknown) =>
  new KubeconfigError(`error loading config file "${file}": ${why}`, cause);

/** The text of a field; undefined when it is absent or empty. @throws KubeconfigError */
export function textIn({ fields, file }: KubeconfigEntry, field: string): string | undefined {
  const value = fields[field] ?? '';
  if (typeof value !== 'string') throw invalid(file, `${field} must be a string`);
  return value === '' ? undefined : value;
}

/** The path of a field that names a file, resolved at the folder of the kubeconfig. */
export function pathIn(entry: KubeconfigEntry, field: string): string | undefined {
  const path = textIn(entry, field);
  return path === undefined ? undefined : resolve(dirname(entry.file), path);
}

/** The PEM text of `<field>-data`, otherwise of the file that `<field>` names. @throws KubeconfigError */
export async function pemIn(entry: KubeconfigEntry, field: string): Promise<string | undefined> {
  const data = textIn(entry, `${field}-data`);
  if (data !== undefined) return Buffer.from(data, 'base64').toString();
  const path = pathIn(entry, field);
  if (path === undefined) return undefined;
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const what = field.replace('certificate', 'cert');
    throw new KubeconfigError(
      `unable to read ${what} ${path} for ${entry.name} due to ${reasonOf(error, path)}`,
      error,
    );
  }
}
