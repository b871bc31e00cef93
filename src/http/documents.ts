import { createHash } from 'node:crypto';
import { emptyBody } from './answers.ts';
import type { ApiResponse } from './types.ts';

/** A text that is made once and served to many, with its ETag. */
export interface Document {
  /** Shared by all responses: sockets write slices of it without copying. */
  readonly body: Uint8Array;
  /** The SHA-512 of the bytes in upper-case hexadecimal, as OpenAPI clients expect. */
  readonly hash: string;
}

export function documentOf(text: string | Uint8Array): Document {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  const hash = createHash('sha512').update(bytes).digest('hex').toUpperCase();
  return { body: bytes, hash };
}

/** Returns the document, or 304 when If-None-Match has its ETag. */
export function serveDocument(
  document: Document,
  contentType: string,
  ifNoneMatch: string | undefined,
  more: { readonly [header: string]: string } = {},
): ApiResponse {
  const etag = `"${document.hash}"`;
  const headers = { 'cache-control': 'no-cache, private', ...more, etag };
  if (ifNoneMatch?.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag || tag.trim() === '*')) {
    return { status: 304, headers, body: emptyBody };
  }
  return { status: 200, headers: { ...headers, 'content-type': contentType }, body: document.body };
}
