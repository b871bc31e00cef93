import { prettyJson } from '../codec/index.ts';
import { type ByteString, encodeText, type JsonObject } from '../meta/index.ts';
import type { ApiResponse } from './types.ts';

/** The headers of all JSON responses: none may be cached. */
const jsonHeaders = { 'cache-control': 'no-cache, private', 'content-type': 'application/json' } as const;
const textHeaders = {
  'cache-control': 'no-cache, private',
  'content-type': 'text/plain; charset=utf-8',
  'x-content-type-options': 'nosniff',
} as const;

export const emptyBody = '' as ByteString;

export function textAnswer(status: number, text: string): ApiResponse {
  return { status, headers: textHeaders, body: encodeText(text) };
}

/** Indented JSON for any client. */
export function prettyAnswer(status: number, value: JsonObject): ApiResponse {
  return { status, headers: jsonHeaders, body: encodeText(prettyJson(value)) };
}

/** The response for an unknown path. */
export const pageNotFound: ApiResponse = textAnswer(404, '404 page not found\n');
