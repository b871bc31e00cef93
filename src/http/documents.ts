import { createHash } from 'node:crypto';
import { emptyBody } from './answers.ts';
import type { ApiResponse } from './types.ts';

/** A text that is made once and then served to many, with a tag by which a client knows that it has it already. */
export interface Document {
  /** Shared by all answers: sockets take views of it without a copy. */
  readonly body: Uint8Array;
  /** Of the bytes: SHA-512 in upper-case hexadecimal, as clients of OpenAPI expect it. */
  readonly hash: string;
}

export function documentOf(text: string | Uint8Array): Document {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  const hash = createHash('sha512').update(bytes).digest('hex').toUpperCase();
  return { body: bytes, hash };
}

/** Answers with a document, or with 304 when the client has it. */
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
