/** The contents of files, URLs and standard input, and the objects in them. */

import { readFile } from 'node:fs/promises';
import { parseYaml } from '../../codec/index.ts';
import { isJsonObject, type JsonObject, StatusError } from '../../meta/index.ts';
import { CommandError } from '../errors.ts';
import type { Io } from '../io.ts';

/** The maximum size of a file, of a response and of standard input in bytes. */
const maxFile = 16 * 1024 * 1024;
/** How long a URL may take (ms). */
const urlMs = 30_000;

const tooLarge = (source: string) =>
  new CommandError(`${source} is larger than ${maxFile / 1024 / 1024} MiB: split it into several files`);

/** Reads a file of a known size. `source` names it in messages. @throws CommandError */
export async function readWhole(full: string, size: number, source: string): Promise<string> {
  if (size > maxFile) throw tooLarge(source);
  try {
    return await readFile(full, 'utf8');
  } catch (cause) {
    throw new CommandError(`open ${source}: ${(cause as NodeJS.ErrnoException).code ?? String(cause)}`, { cause });
  }
}

/** @throws CommandError */
export async function readUrl(url: string, signal: AbortSignal): Promise<string> {
  try {
    const response = await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(urlMs)]) });
    if (!response.ok) {
      throw new CommandError(
        `unable to read URL ${JSON.stringify(url)}, server reported ${response.status} ${response.statusText}, status code=${response.status}`,
      );
    }
    return await textOfStream(response.body ?? [], url);
  } catch (cause) {
    if (cause instanceof CommandError) throw cause;
    const { message, cause: inner } = cause as Error;
    throw new CommandError(
      `unable to read URL ${JSON.stringify(url)}: ${inner instanceof Error ? inner.message : message}`,
      {
        cause,
      },
    );
  }
}

/** Reads standard input to its end. @throws CommandError */
export const readStdin = ({ stdin }: Pick<Io, 'stdin'>): Promise<string> => textOfStream(stdin, 'standard input');

async function textOfStream(stream: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, source: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.length;
    if (size > maxFile) throw tooLarge(source);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

type YamlOptions = Parameters<typeof parseYaml>[1];

/** The objects of the YAML documents of a text. @throws CommandError */
export function documentsIn(content: string, source: string, options: YamlOptions = {}): JsonObject[] {
  const objects: JsonObject[] = [];
  // A line that begins with either marker always ends a document.
  for (const part of content.split(/^(?:---|\.\.\.)(?=\s|$)/m)) {
    const object = objectIn(part, source, options);
    if (object !== undefined) objects.push(object);
  }
  return objects;
}

function objectIn(part: string, source: string, options: YamlOptions): JsonObject | undefined {
  try {
    const { value, findings } = parseYaml(Buffer.from(part), options);
    if (findings.length > 0) throw new CommandError(`error parsing ${source}: ${findings.join('; ')}`);
    if (value === null) return undefined;
    if (isJsonObject(value)) return value;
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    throw new CommandError(`error parsing ${source}: ${error.message}`, { cause: error });
  }
  throw new CommandError(`error parsing ${source}: each document must be an object`);
}
