/** The contents of files, URLs and standard input, and the objects in them. */

import { readFile } from 'node:fs/promises';
import { STATUS_CODES } from 'node:http';
import { httpsTransport, proxyOfEnvironment } from '../../client/index.ts';
import { parseYaml } from '../../codec/index.ts';
import { isJsonObject, type JsonObject, StatusError } from '../../meta/index.ts';
import { CommandError } from '../errors.ts';
import type { Io } from '../io.ts';

/** The maximum size of a file, of a response and of standard input in bytes. */
const maxFile = 16 * 1024 * 1024;
/** How long a URL may take (ms). */
const urlMs = 30_000;
const maxRedirects = 10;
const redirectStatuses = new Set([301, 302, 303, 307, 308]);

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

/** Reads a URL, through the proxy of the environment, and follows redirects. @throws CommandError */
export async function readUrl(url: string, { env, signal }: Pick<Io, 'env' | 'signal'>): Promise<string> {
  const failed = (why: string, cause?: unknown) =>
    new CommandError(`unable to read URL ${JSON.stringify(url)}${why}`, { cause });
  const ending = AbortSignal.any([signal, AbortSignal.timeout(urlMs)]);
  let place = URL.canParse(url) ? new URL(url) : undefined;
  for (let redirects = 0; place !== undefined && /^https?:$/.test(place.protocol); redirects++) {
    const proxy = proxyOfEnvironment(place.href, env);
    const transport = httpsTransport({ server: place.origin, ...(proxy === undefined ? {} : { proxy }) });
    try {
      const path = `${place.pathname}${place.search}`;
      const { status, headers, body } = await transport({ method: 'GET', url: path, headers: {}, signal: ending });
      const next: string | undefined = redirectStatuses.has(status) ? headers['location'] : undefined;
      if (status === 200) return await textOfStream(body, url);
      if (next === undefined) {
        throw failed(`, server reported ${status} ${STATUS_CODES[status] ?? ''}, status code=${status}`);
      }
      if (redirects === maxRedirects) throw failed(`: stopped after ${maxRedirects} redirects`);
      place = URL.canParse(next, place.href) ? new URL(next, place.href) : undefined;
    } catch (cause) {
      if (cause instanceof CommandError) throw cause;
      signal.throwIfAborted();
      const why = ending.aborted ? `no answer within ${urlMs / 1000} seconds` : (cause as Error).message;
      throw failed(`: ${why}`, cause);
    } finally {
      transport.close();
    }
  }
  throw failed(': it must have the scheme http or https');
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
