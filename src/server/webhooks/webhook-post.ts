/** Calls of webhooks, with the error messages of the reference server. */
import { WebhookFailure } from '../../admission/index.ts';
import { dialFailure } from '../../http/index.ts';
import { type ByteString, isJsonObject, readJsonText } from '../../meta/index.ts';
import type { WebhookAnswer, WebhookCall, WebhookClient } from './webhook-client.ts';

/**
 * Posts to the URL and resolves with the body of a successful response. Rejects with a WebhookFailure for any other response,
 * and with an Error when there is none.
 */
export async function post(
  client: WebhookClient,
  body: ByteString,
  text: string,
  call: Omit<WebhookCall, 'url'>,
  closing: AbortSignal,
): Promise<Uint8Array> {
  const url = new URL(text);
  const answer = await client.post(body, closing, { url, ...call }).catch((error: unknown) => {
    throw new Error(`Post ${JSON.stringify(text)}: ${failureText(error, url)}`, { cause: error });
  });
  return successBody(answer);
}

/** The message when there is no response. */
function failureText(error: unknown, url: URL): string {
  if (!(error instanceof Error)) return 'unknown failure';
  if (error.name === 'AbortError' || error.name === 'TimeoutError') return 'context deadline exceeded';
  // A name may have several addresses, with an attempt for each.
  const cause = error instanceof AggregateError && error.errors[0] instanceof Error ? error.errors[0] : error;
  const { address, port } = cause as { readonly address?: string; readonly port?: number };
  const place = { host: address ?? url.hostname.replace(/^\[|\]$/g, ''), port: String(port ?? (url.port || 443)) };
  return dialFailure(cause, { scheme: 'https', ...place, path: '', peer: 'anyone' });
}

/** Maximum size of an error response that is read as a Status, in bytes. */
const maxStatusBytes = 65_536;
/** Maximum size of the excerpt of an error response in bytes. */
const maxExcerptBytes = 2_048;

const messages: { readonly [status: number]: string } = {
  400: 'the server rejected our request for an unknown reason',
  401: 'the server has asked for the client to provide credentials',
  404: 'the server could not find the requested resource',
  405: 'the server does not allow this method on the requested resource',
  409: 'the server reported a conflict',
  422: 'the server rejected our request due to an error in our request',
  429: 'the server has received too many requests and has asked us to try again later',
  503: 'the server is currently unable to handle the request',
  504: 'the server was unable to return a response in the time allotted, but may still be processing the request',
};

/** The body of a successful response. */
function successBody({ status, contentType, body }: WebhookAnswer): Uint8Array {
  if (status < 200 || status > 206) throw new WebhookFailure(status, statusFailure(status, contentType, body));
  if (body.length > 0) return body;
  throw new Error(`0-length response with status code: ${status} and content type: ${contentType}`);
}

function statusFailure(status: number, contentType: string, body: Buffer): string {
  const payload = body.length > maxStatusBytes ? undefined : readJsonText(body.toString());
  if (isJsonObject(payload ?? null)) {
    const { kind, status: outcome, message } = payload as { readonly [name: string]: unknown };
    if (kind === 'Status' && outcome === 'Failure' && typeof message === 'string') return message;
  }
  const isText = contentType === '' || contentType.startsWith('text/');
  const excerpt = isText ? body.subarray(0, maxExcerptBytes).toString().trim() : 'unknown';
  if (status === 403 || status === 415) return excerpt;
  if (status === 406) {
    const why = 'the server was unable to respond with a content type that the client supports';
    return excerpt === '' || excerpt === 'unknown' ? why : excerpt;
  }
  const message = messages[status];
  if (message !== undefined) return message;
  if (status >= 500)
    return `an error on the server (${JSON.stringify(excerpt)}) has prevented the request from succeeding`;
  return `the server responded with the status code ${status} but did not return more information`;
}
