import { createHash } from 'node:crypto';
import type { Steps } from '../../meta/index.ts';
import { emptyBody } from '../answers.ts';
import type { ApiResponse } from '../types.ts';

/** A document that is built once and served many times, with its ETag. */
export interface Document {
  /** Bytes are shared by all responses: sockets write slices of them without copying. */
  readonly body: Uint8Array;
  /** A SHA-512 in upper-case hexadecimal, as OpenAPI clients expect. */
  readonly hash: string;
}

/** How many bytes are hashed in one step. */
const hashedBytes = 256 * 1024;

/** A document of moderate size. Its hash is that of its bytes. */
export function* documentOf(bytes: Uint8Array): Steps<Document> {
  const hash = createHash('sha512');
  for (let at = 0; at < bytes.length; at += hashedBytes) {
    if (at > 0) yield;
    hash.update(bytes.subarray(at, at + hashedBytes));
  }
  return { body: bytes, hash: hash.digest('hex').toUpperCase() };
}

/** The hash of what has these hashes. */
export function hashOf(parts: readonly string[]): string {
  return createHash('sha512').update(JSON.stringify(parts)).digest('hex').toUpperCase();
}

type Headers = { readonly [header: string]: string };

/** The headers of every response with a document of this hash, and whether If-None-Match has it: that is a 304. */
export function validated(
  hash: string,
  ifNoneMatch: string | undefined,
  more: Headers = {},
): { readonly headers: Headers; readonly notModified: ApiResponse | undefined } {
  const etag = `"${hash}"`;
  const headers = { 'cache-control': 'no-cache, private', ...more, etag };
  const known = ifNoneMatch?.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag || tag.trim() === '*');
  return { headers, notModified: known === true ? { status: 304, headers, body: emptyBody } : undefined };
}

/** Returns the document, or 304 when If-None-Match has its ETag. */
export function serveDocument(
  { body, hash }: Document,
  contentType: string,
  ifNoneMatch: string | undefined,
  more: Headers = {},
): ApiResponse {
  const { headers, notModified } = validated(hash, ifNoneMatch, more);
  return notModified ?? { status: 200, headers: { ...headers, 'content-type': contentType }, body };
}
