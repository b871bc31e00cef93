/** Reads manifests from files, folders and standard input. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { type ParsedBody, parseYaml } from '../../codec/index.ts';
import { StatusError } from '../../meta/index.ts';
import { StartError, systemReason } from '../start-error.ts';

/** Maximum size of a file or of standard input in bytes, and maximum number of files below a folder. */
const maxFile = 16 * 1024 * 1024;
const maxFiles = 10_000;

const extensions = new Set(['.yaml', '.yml', '.json']);

/** The file itself, or all YAML and JSON files below a folder, sorted by name. `name`: the path in errors. @throws StartError */
export async function filesAt(path: string, name: string): Promise<string[]> {
  try {
    if (!(await stat(path)).isDirectory()) return [path];
    const entries = (await readdir(path, { recursive: true })).filter((entry) => extensions.has(extname(entry)));
    if (entries.length > maxFiles) throw new StartError(`${name} has more than ${maxFiles} files`);
    return entries.toSorted().map((entry) => join(path, entry));
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(`${name} cannot be read: ${systemReason(error)}`, error);
  }
}

/** The documents of a file. @throws StartError */
export async function documentsOf(file: string): Promise<ParsedBody[]> {
  return readAs(file, async () => {
    const { size } = await stat(file);
    if (size > maxFile) throw tooLarge(file);
    return parseDocuments(await readFile(file, 'utf8'));
  });
}

/** The documents of a stream, such as standard input. `name`: the stream in errors. @throws StartError */
export async function documentsOfStream(stream: AsyncIterable<Uint8Array>, name: string): Promise<ParsedBody[]> {
  return readAs(name, async () => {
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of stream) {
      size += chunk.length;
      if (size > maxFile) throw tooLarge(name);
      chunks.push(chunk);
    }
    return parseDocuments(Buffer.concat(chunks).toString());
  });
}

const tooLarge = (name: string) => new StartError(`${name} is larger than ${maxFile / 1024 / 1024} MiB`);

/** A line that begins with either marker always ends a document. */
const parseDocuments = (text: string): ParsedBody[] =>
  text.split(/^(?:---|\.\.\.)(?=\s|$)/m).map((document) => parseYaml(Buffer.from(document)));

async function readAs<T>(name: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof StartError) throw error;
    const why = error instanceof StatusError ? error.message : systemReason(error);
    throw new StartError(`${name} cannot be read: ${why}`, error);
  }
}
