import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';
import { isJsonObject, type JsonObject, readJsonText, StatusError, statusError } from '../../meta/index.ts';
import { pageNotFound, prettyAnswer } from '../answers.ts';
import type { Call } from '../call.ts';
import type { ApiRequest, ApiResponse } from '../types.ts';
import { validated } from './documents.ts';

/** Where the page of the console is served. */
const root = '/console';

/** Whether a path belongs to the page of the console, which everybody may read: its files have no data of the cluster. */
export const isConsolePath = (path: string): boolean => path === root || path.startsWith(`${root}/`);

/** The settings that the page needs before anybody signs in. Everybody may read them. */
export interface ConsoleSettings {
  /** The API domain. */
  readonly domain: string;
  /** The scopes that the page requests from issuers. */
  readonly scopes: readonly string[];
  readonly issuers: readonly ConsoleIssuer[];
}

/** An OpenID Connect provider with which users may sign in. */
export interface ConsoleIssuer {
  readonly url: string;
  readonly clientId: string;
  /** Where its discovery document is. */
  readonly discoveryUrl: string;
  /** The origins to which the page may connect for it, as a content security policy names them. */
  readonly origins: readonly string[];
}

/** The page of the console, below `/console/`. */
export interface Console {
  /** Undefined when the path is not one of its own. @throws StatusError */
  serve(call: Pick<Call, 'info' | 'request'>): Promise<ApiResponse> | undefined;
}

/** A file of the page, by its path below the root. */
interface PageFile {
  readonly type: string;
  /** The hash of its bytes. */
  readonly hash: string;
  /** Whether its name has the hash, so that it never changes. */
  readonly hashed: boolean;
}

/** The table of the files, which the build writes. */
const tableName = 'files.json';

/** The page loads from its own origin only, connects to that and to those of the issuers, and cannot be framed. */
const pagePolicy = (issuers: readonly ConsoleIssuer[]): string => {
  const connected = new Set(issuers.flatMap(({ origins }) => origins));
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    `connect-src ${["'self'", ...connected].join(' ')}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
};

const fixedHeaders = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
} as const;

const moved: ApiResponse = { status: 301, headers: { ...fixedHeaders, location: `${root}/` }, body: new Uint8Array() };

/**
 * Serves the files of a folder that the build has written, each of them compressed. Only names in its table are files, and
 * nothing is read before the first request.
 */
export function createConsole(folder: URL, settings: () => ConsoleSettings): Console {
  let table: Promise<ReadonlyMap<string, PageFile>> | undefined;
  const serveFile = async (name: string, request: ApiRequest): Promise<ApiResponse> => {
    table ??= readTable(folder);
    table.catch(() => {
      table = undefined;
    });
    const file = (await table).get(name);
    if (file === undefined) return pageNotFound;
    return answerOf(file, new URL(`${name}.br`, folder), pagePolicy(settings().issuers), request);
  };
  return {
    serve({ info: { path }, request }) {
      if (!isConsolePath(path)) return undefined;
      if (request.method !== 'GET' && request.method !== 'HEAD') throw statusError.methodNotAllowed();
      if (path === root) return Promise.resolve(moved);
      const name = path.slice(root.length + 1);
      if (name === 'settings.json') return Promise.resolve(prettyAnswer(200, settings() as unknown as JsonObject));
      return serveFile(name === '' ? 'index.html' : name, request);
    },
  };
}

/** @throws StatusError 503 when there is no table */
async function readTable(folder: URL): Promise<ReadonlyMap<string, PageFile>> {
  let text: string;
  try {
    text = await readFile(new URL(tableName, folder), 'utf8');
  } catch (cause) {
    throw new StatusError(
      503,
      'ServiceUnavailable',
      'the page of the console is not built: run npm run build',
      undefined,
      {
        cause,
      },
    );
  }
  const table = readJsonText(text) ?? {};
  return new Map(isJsonObject(table) ? (Object.entries(table) as unknown as [string, PageFile][]) : []);
}

const decompress = promisify(brotliDecompress);

async function answerOf(
  { type, hash, hashed }: PageFile,
  file: URL,
  policy: string,
  { headers }: ApiRequest,
): Promise<ApiResponse> {
  // A browser that has the page under another policy must get it again.
  const version = hashed ? hash : createHash('sha256').update(`${hash} ${policy}`).digest('base64url');
  const { headers: found, notModified } = validated(version, headers['if-none-match'], {
    ...fixedHeaders,
    'content-security-policy': policy,
    'cache-control': hashed ? 'public, max-age=31536000, immutable' : 'no-cache',
    vary: 'Accept-Encoding',
  });
  if (notModified !== undefined) return notModified;
  const bytes = await readFile(file);
  const whole = { ...found, 'content-type': type };
  if (acceptsBrotli(headers['accept-encoding'])) {
    return { status: 200, headers: { ...whole, 'content-encoding': 'br' }, body: bytes };
  }
  return { status: 200, headers: whole, body: await decompress(bytes) };
}

/** Whether a client accepts Brotli (RFC 9110, 12.5.3). */
const acceptsBrotli = (accepted = ''): boolean =>
  accepted.split(',').some((coding) => /^\s*br\s*(?:;\s*q=(?!0(?:\.0*)?\s*$).*)?$/i.test(coding));
