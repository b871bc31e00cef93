/** The objects of `-f`: files, folders, URLs and standard input. */

import { readdir, stat } from 'node:fs/promises';
import { extname, join, resolve } from 'node:path';
import { isJsonObject, type JsonObject } from '../../meta/index.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { Resource } from '../cluster/resource.ts';
import { CommandError } from '../errors.ts';
import { list, text, toggle, type ValuesOf } from '../flags/flag.ts';
import type { Io } from '../io.ts';
import { jsonText } from '../output/json.ts';
import { documentsIn, readStdin, readUrl, readWhole } from './contents.ts';

/** The maximum number of files of a folder. */
const maxFiles = 10_000;

const extensions = new Set(['.json', '.yaml', '.yml']);

/** The flags of commands that read manifests. */
export const filenameFlags = {
  filename: list('Filename, directory, or URL to files that identify the resource.', { short: 'f' }),
  kustomize: text('', "Process the kustomization directory. This flag can't be used together with -f or -R.", {
    short: 'k',
  }),
  recursive: toggle(false, 'Process the directory used in -f, --filename recursively.', { short: 'R' }),
};

type FilenameValues = ValuesOf<typeof filenameFlags>;

/** An object of a file, before its type is known. */
export interface Document {
  readonly object: JsonObject;
  /** The file, the URL or `STDIN`, for messages. */
  readonly source: string;
}

/** An object of a file with its resource and its place. */
export interface Manifest extends Document {
  readonly resource: Resource;
  readonly namespace: string | undefined;
  /** Empty where the server makes a name from `generateName`. */
  readonly name: string;
}

/** Whether a command line names files. */
export const hasFiles = ({ filename, kustomize }: FilenameValues): boolean => filename.length > 0 || kustomize !== '';

/** Files and arguments both name objects: a command takes one or the other. @throws CommandError */
export function refuseArguments(args: readonly string[]): void {
  if (args.length === 0) return;
  throw new CommandError(
    'when paths, URLs, or stdin is provided as input, you may not specify resource arguments as well',
  );
}

/** Reads the documents of all files in their order; lists are taken apart. @throws CommandError */
export async function readDocuments({ filename, kustomize, recursive }: FilenameValues, io: Io): Promise<Document[]> {
  if (kustomize !== '') {
    if (filename.length > 0) throw new CommandError('only one of -f or -k can be specified');
    if (recursive) throw new CommandError("the -k flag can't be used with -f or -R");
    // Few command lines need it, and it loads all built-in types.
    const { buildKustomization } = await import('../kustomize/build.ts');
    const objects = await buildKustomization(kustomize, io);
    return objects.map((object) => ({ object, source: kustomize }));
  }
  const documents: Document[] = [];
  for (const path of filename) {
    for (const { content, source } of await contentsOf(path, recursive, io)) {
      for (const object of objectsIn(content, source)) documents.push({ object, source });
    }
  }
  return documents;
}

interface Content {
  readonly content: string;
  readonly source: string;
}

async function contentsOf(path: string, recursive: boolean, io: Io): Promise<Content[]> {
  if (path === '-') return [{ content: await readStdin(io), source: 'STDIN' }];
  if (/^https?:\/\//.test(path)) return [{ content: await readUrl(path, io), source: path }];
  const full = resolve(io.folder, path);
  const found = await stat(full).catch(() => undefined);
  if (found === undefined) throw new CommandError(`the path ${JSON.stringify(path)} does not exist`);
  if (!found.isDirectory()) return [{ content: await readWhole(full, found.size, path), source: path }];
  const names = (await readdir(full, { recursive })).filter((name) => extensions.has(extname(name))).toSorted();
  if (names.length > maxFiles)
    throw new CommandError(`the path ${JSON.stringify(path)} has more than ${maxFiles} files`);
  if (names.length === 0) {
    throw new CommandError(`error reading [${path}]: recognized file extensions are [.json .yaml .yml]`);
  }
  const contents: Content[] = [];
  for (const name of names) {
    const { size } = await stat(join(full, name));
    contents.push({ content: await readWhole(join(full, name), size, join(path, name)), source: join(path, name) });
  }
  return contents;
}

/** The objects of the documents of a text; those of a `List` one by one. @throws CommandError */
export const objectsIn = (content: string, source: string): JsonObject[] =>
  documentsIn(content, source).flatMap(itemsOf);

function itemsOf(object: JsonObject): JsonObject[] {
  const { kind, items } = object;
  if (typeof kind !== 'string' || !kind.endsWith('List') || !Array.isArray(items)) return [object];
  return items.filter(isJsonObject).flatMap(itemsOf);
}

/** Finds the resource and the place of a document. @throws CommandError */
export async function placeDocument(cluster: Cluster, { object, source }: Document): Promise<Manifest> {
  const { apiVersion, kind, metadata = {} } = object;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string' || apiVersion === '' || kind === '') {
    const missing = [
      ...(typeof apiVersion === 'string' && apiVersion !== '' ? [] : ['apiVersion not set']),
      ...(typeof kind === 'string' && kind !== '' ? [] : ['kind not set']),
    ];
    const shown = missing.length === 1 ? missing[0] : `[${missing.join(', ')}]`;
    throw new CommandError(
      `error validating ${JSON.stringify(source)}: error validating data: ${shown}; if you choose to ignore these errors, turn validation off with --validate=false`,
    );
  }
  const { name = '', namespace = '' } = isJsonObject(metadata) ? metadata : {};
  const resource = await (await cluster.discovery()).findKind(apiVersion, kind);
  if (resource === undefined) {
    throw new CommandError(
      `resource mapping not found for name: "${jsonText(name)}" namespace: "${jsonText(namespace)}" from "${source}": no matches for kind "${kind}" in version "${apiVersion}"\nensure CRDs are installed first`,
    );
  }
  if (!resource.namespaced) return { object, source, resource, namespace: undefined, name: jsonText(name) };
  if (cluster.isNamespaceSet && namespace !== '' && namespace !== cluster.namespace) {
    throw new CommandError(
      `the namespace from the provided object "${jsonText(namespace)}" does not match the namespace "${cluster.namespace}". You must pass '--namespace=${jsonText(namespace)}' to perform this operation.`,
    );
  }
  const place = namespace === '' ? cluster.namespace : jsonText(namespace);
  const placed = { ...object, metadata: { ...(isJsonObject(metadata) ? metadata : {}), namespace: place } };
  return { object: placed, source, resource, namespace: place, name: jsonText(name) };
}
