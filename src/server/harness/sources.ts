import { readdir, readFile, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { parseYaml } from '../../codec/index.ts';
import { type ApiObject, isJsonObject, type Json, type JsonObject } from '../../meta/index.ts';
import { StartError, systemReason } from '../start-error.ts';

/** Objects: one, or the path of a file of YAML or JSON documents, or of a folder with such files. */
export type Source = string | ApiObject;

/** An object, and where it comes from, for messages. */
export interface SourcedObject {
  readonly object: ApiObject;
  readonly where: string;
}

const suffixes = new Set(['.yaml', '.yml', '.json']);

/**
 * The objects of sources in their order: files of a folder by name, lists as their items. `isSelected` selects those of a
 * folder, which may hold other files too; subfolders are not read. @throws StartError that names every bad file
 */
export async function readSources(
  option: string,
  input: Source | readonly Source[],
  isSelected: (object: JsonObject) => boolean = () => true,
): Promise<SourcedObject[]> {
  const sources = Array.isArray(input) ? (input as readonly Source[]) : [input as Source];
  const read = await Promise.allSettled(sources.map((source, i) => readSource(`${option}[${i}]`, source, isSelected)));
  return allOf(read).flat();
}

/** The results of all. @throws StartError with the messages of those that failed */
export function allOf<T>(settled: readonly PromiseSettledResult<T>[]): T[] {
  const failed = settled.filter((one) => one.status === 'rejected').map(({ reason }) => reason as unknown);
  const texts = failed.flatMap((error) => (error instanceof StartError ? [error.message] : []));
  // Anything else is a fault of this program.
  if (texts.length < failed.length) throw failed.find((error) => !(error instanceof StartError));
  if (texts.length > 0) throw new StartError(texts.join('\n'));
  return settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
}

async function readSource(
  where: string,
  source: Source,
  isSelected: (object: JsonObject) => boolean,
): Promise<SourcedObject[]> {
  if (typeof source !== 'string') return objectsOf(source as unknown as Json, where);
  try {
    if (!(await stat(source)).isDirectory()) return documentsOf(source, await readFile(source, 'utf8'));
    const names = (await readdir(source)).filter((name) => suffixes.has(extname(name))).sort();
    const paths = names.map((name) => join(source, name));
    const read = await Promise.allSettled(
      paths.map(async (path) => documentsOf(path, await readFile(path, 'utf8'), isSelected)),
    );
    const objects = allOf(read).flat();
    if (objects.length === 0)
      throw new StartError(`${where}: the folder ${source} has none in its YAML and JSON files`);
    return objects;
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(`${where}: ${source} cannot be read: ${systemReason(error)}`, error);
  }
}

function documentsOf(
  path: string,
  text: string,
  isSelected: (object: JsonObject) => boolean = () => true,
): SourcedObject[] {
  return [...documents(text)].flatMap(({ document, line }) => {
    const where = line === 1 ? path : `${path}, line ${line}`;
    const value = parse(path, document);
    if (value === null || (isJsonObject(value) && !isSelected(value) && !isList(value))) return [];
    return objectsOf(value, where).filter(({ object }) => isSelected(object));
  });
}

/** The documents of a YAML file, each behind as many line feeds as lines are before it, so that errors name its lines. */
function* documents(text: string): Generator<{ readonly document: string; readonly line: number }> {
  let line = 1;
  for (const document of text.split(/^---(?=\s|$)/m)) {
    if (document.trim() !== '') {
      const blank = /^\s*/.exec(document)?.[0].split('\n').length ?? 1;
      yield { document: '\n'.repeat(line - 1) + document, line: line + blank - 1 };
    }
    line += document.split('\n').length - 1;
  }
}

function parse(path: string, text: string): Json {
  try {
    const { value, findings } = parseYaml(Buffer.from(text));
    if (findings.length > 0) throw new Error(findings.join('; '));
    return value;
  } catch (error) {
    throw new StartError(`${path}: ${(error as Error).message}`, error);
  }
}

const isList = (value: JsonObject): boolean => value['kind'] === 'List' && Array.isArray(value['items']);

/** @throws StartError that names the field which is not as in an object */
function objectsOf(value: Json, where: string): SourcedObject[] {
  if (!isJsonObject(value)) throw new StartError(`${where} must be an object with apiVersion, kind and metadata`);
  if (isList(value)) return (value['items'] as Json[]).flatMap((item, i) => objectsOf(item, `${where}, items[${i}]`));
  for (const field of ['apiVersion', 'kind']) {
    const text = value[field];
    if (typeof text !== 'string' || text === '') {
      throw new StartError(`${where}: ${field} must be a text; it is ${JSON.stringify(text) ?? 'missing'}`);
    }
  }
  if (!isJsonObject(value['metadata'] ?? null)) throw new StartError(`${where}: metadata must be an object`);
  return [{ object: value as unknown as ApiObject, where }];
}
