import { isJsonObject, type Json, type Status, type StatusDetails, StatusError } from '../../meta/index.ts';
import { joined, textOf } from './bytes.ts';
import type { ClientResponse } from './transport.ts';

/** Reads the body as text. */
export async function readAll(response: ClientResponse): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body) chunks.push(chunk);
  return textOf(joined(chunks));
}

/** Reads the text of a successful response. @throws StatusError of a failed one */
export async function readText(response: ClientResponse): Promise<string> {
  const text = await readAll(response);
  if (response.status >= 300) throw failure(response.status, text);
  return text;
}

/** Reads the JSON value of a successful response. @throws StatusError of a failed one; 500 when the body is not JSON */
export async function readJson(response: ClientResponse): Promise<Json> {
  return parseBody(await readText(response));
}

/** Reads a successful response to its end and discards it. @throws StatusError of a failed one */
export async function discard(response: ClientResponse): Promise<void> {
  if (response.status >= 300) throw failure(response.status, await readAll(response));
  const chunks = response.body[Symbol.asyncIterator]();
  while ((await chunks.next()).done !== true);
}

/** @throws StatusError 500 when the text is not JSON */
function parseBody(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (cause) {
    throw new StatusError(500, 'InternalError', `the answer is not JSON: ${excerpt(text)}`, undefined, { cause });
  }
}

/** Returns the error of a failed response: its Status, or its text as the message. */
export function failure(code: number, text: string): StatusError {
  let body: Json = null;
  try {
    body = JSON.parse(text) as Json;
  } catch {
    // The response comes from a proxy or a health check.
  }
  return statusFailure(body) ?? new StatusError(code, '', excerpt(text));
}

/** Returns the error of a Status; undefined for any other value. */
export function statusFailure(value: Json): StatusError | undefined {
  if (!isJsonObject(value) || value['kind'] !== 'Status') return undefined;
  const { code, reason, message, details, metadata } = value as unknown as Partial<Status>;
  return new StatusError(code ?? 500, reason ?? '', message ?? '', details as StatusDetails | undefined, {
    metadata: metadata ?? {},
  });
}

const excerpt = (text: string) => (text.length <= 1000 ? text : `${text.slice(0, 1000)}…`);

/** The texts of the warnings `299 - "text"` of a response (RFC 9111, 5.5). */
export function warningsOf({ headers }: ClientResponse): string[] {
  const header = headers['warning'] ?? '';
  return [...header.matchAll(/\b299 \S+ "((?:[^"\\]|\\.)*)"/g)].map(([, quoted = '']) =>
    quoted.replaceAll(/\\(.)/g, '$1'),
  );
}
