import { type IncomingHttpHeaders, request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import { statusError } from '../meta/index.ts';
import type { Endpoint } from '../registry/index.ts';
import type { ApiRequest, ApiResponse } from './types.ts';

/** The largest body that is passed on (bytes). */
const maxBody = 3 * 1024 * 1024;
/** How long an endpoint may be silent before it begins to answer (ms). */
const patienceMs = 30_000;

/** Headers that belong to one connection (RFC 9110, 7.6.1), and those that are meant for this server alone. */
const ownHeaders = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
  'host',
  'content-length',
  'authorization',
]);

/**
 * Passes a request on, `path` being its path and query there, and answers what comes back as it comes. Whether the
 * endpoint is who it says is not checked: it has no name that an authority could vouch for.
 * @throws StatusError 503 when it cannot be reached
 */
export async function relay(request: ApiRequest, { scheme, host, port }: Endpoint, path: string): Promise<ApiResponse> {
  const { method } = request;
  const body = method === 'GET' || method === 'HEAD' ? new Uint8Array(0) : await request.body(maxBody);
  const options = {
    method,
    host,
    path,
    ...(port === '' ? {} : { port }),
    headers: { ...passed(request.headers), ...(body.length === 0 ? {} : { 'content-length': body.length }) },
    signal: request.signal,
    rejectUnauthorized: false,
  };
  return new Promise((resolve, reject) => {
    const outgoing = scheme === 'https' ? secureRequest(options) : plainRequest(options);
    outgoing.setTimeout(patienceMs, () => outgoing.destroy(new Error('no answer in time')));
    outgoing.once('error', (cause) => reject(unreachable(cause)));
    outgoing.once('response', (incoming) => {
      // What streams may be silent for long.
      outgoing.setTimeout(0);
      resolve({ status: incoming.statusCode ?? 502, headers: passed(incoming.headers), body: incoming });
    });
    outgoing.end(body);
  });
}

function passed(headers: IncomingHttpHeaders | ApiRequest['headers']): { [name: string]: string | string[] } {
  const out: { [name: string]: string | string[] } = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !ownHeaders.has(name) && !/^(?::|impersonate-)/.test(name)) out[name] = value;
  }
  return out;
}

function unreachable(cause: Error) {
  const reason = 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.message;
  return statusError.unavailable(`error trying to reach service: ${reason}`);
}
