import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { statusError, type User } from '../../meta/index.ts';
import type { Endpoint } from '../../registry/index.ts';
import type { ApiRequest, Trailers } from '../types.ts';
import { offeredProtocols } from './web-socket.ts';

/** The path of a proxied request, as it was sent. */
export interface ProxiedPath {
  /** Up to the subresource, without a trailing slash. */
  readonly prefix: string;
  /** The path and query sent to the backend. */
  readonly there: string;
}

type Headers = { [name: string]: string | string[] };

/** Hop-by-hop headers (RFC 9110, 7.6.1). */
const hops: readonly string[] = [
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
];

/** The subprotocols of a WebSocket request. One may carry a bearer token. */
const protocolHeader = 'sec-websocket-protocol';

/** Credentials, which are not forwarded, and `expect`, which this server has answered. */
const own: readonly string[] = ['authorization', 'expect', protocolHeader];

/** CORS headers: only this server sets them for its origin. */
const crossOrigin: readonly string[] = ['credentials', 'headers', 'methods', 'origin'].map(
  (what) => `access-control-allow-${what}`,
);

function without(headers: IncomingHttpHeaders | ApiRequest['headers'], dropped: readonly string[]): Headers {
  const named = String(headers['connection'] ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim());
  const gone = new Set([...hops, ...dropped, ...named]);
  const out: Headers = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !gone.has(name) && !name.startsWith(':')) out[name] = value;
  }
  return out;
}

/** Whether a header, by its lower-case name, says who the user is, and is thus not forwarded. */
export type IsIdentity = (name: string) => boolean;

/** The forwarded headers of a request: no credentials, but the address of the client. */
function passedHeaders({ headers, peer }: ApiRequest, isIdentity: IsIdentity): Headers {
  const out = without(headers, [...own, ...Object.keys(headers).filter(isIdentity)]);
  const host = headers[':authority'] ?? headers['host'];
  if (host !== undefined) out['host'] = host;
  const protocols = offeredProtocols(headers[protocolHeader]);
  if (protocols.length > 0) out[protocolHeader] = protocols.join(', ');
  const forwarded = [headers['x-forwarded-for'], peer.address].filter((part) => part !== undefined && part !== '');
  if (forwarded.length > 0) out['x-forwarded-for'] = forwarded.join(', ');
  return out;
}

/** The headers of a proxied request. */
export function proxiedHeaders(
  request: ApiRequest,
  { prefix, there }: ProxiedPath,
  hasBody: boolean,
  isIdentity: IsIdentity,
): Headers {
  const out: Headers = { ...passedHeaders(request, isIdentity), 'x-forwarded-uri': prefix + pathOf(there) };
  return hasBody && out['content-length'] === undefined ? { ...out, 'transfer-encoding': 'chunked' } : out;
}

/** The headers of an upgrade request. */
export function upgradeHeaders(request: ApiRequest, isIdentity: IsIdentity): Headers {
  return { ...passedHeaders(request, isIdentity), connection: 'Upgrade', upgrade: request.headers['upgrade'] ?? '' };
}

interface RelayedRequest {
  readonly request: ApiRequest;
  readonly user: User;
  /** The Audit-ID. */
  readonly id: string;
}

/**
 * The headers of a request that is relayed to another API server at `address`: the user in the headers of an authenticating
 * proxy. @throws StatusError 503 for a user that no header can hold
 */
export function relayedHeaders(
  { request, user, id }: RelayedRequest,
  address: string,
  path: string,
  hasBody: boolean,
  isIdentity: IsIdentity,
): Headers {
  const { headers, method } = request;
  const out: Headers = { ...passedHeaders(request, isIdentity), ...userHeaders(user), host: address, 'audit-id': id };
  if (request.upgrades) return { ...out, connection: 'Upgrade', upgrade: headers['upgrade'] ?? '' };
  Object.assign(out, addressedTo(address, path));
  if (acceptsTrailers.test(headers['te'] ?? '')) out['te'] = 'trailers';
  if (acceptsAny(headers) && method !== 'HEAD') out['accept-encoding'] = 'gzip';
  return hasBody && out['content-length'] === undefined ? { ...out, 'transfer-encoding': 'chunked' } : out;
}

const acceptsTrailers = /(?:^|,)\s*trailers\s*(?:;|,|$)/i;

/** Whether a response may be compressed on the way here: the client has not said what it accepts. */
export const acceptsAny = (headers: ApiRequest['headers']): boolean =>
  headers['accept-encoding'] === undefined && headers['range'] === undefined;

/** How this server addressed a request. */
export const addressedTo = (address: string, path: string): Headers => ({
  'x-forwarded-host': address,
  'x-forwarded-proto': 'https',
  'x-forwarded-uri': pathOf(path),
});

/** The user in the headers of an authenticating proxy; keys of `extra` are percent-encoded. @throws StatusError 503 */
export function userHeaders({ name, uid = '', groups, extra = {} }: User): Headers {
  const out: Headers = { 'x-remote-user': headerText('X-Remote-User', name) };
  if (uid !== '') out['x-remote-uid'] = headerText('X-Remote-Uid', uid);
  if (groups.length > 0) out['x-remote-group'] = groups.map((group) => headerText('X-Remote-Group', group));
  for (const [key, values] of Object.entries(extra)) {
    const encoded = encodeURIComponent(Buffer.from(key).toString()).replace(
      /[()]/g,
      (c) => `%${c.charCodeAt(0).toString(16)}`,
    );
    out[`x-remote-extra-${encoded.toLowerCase()}`] = values.map((value) => headerText('X-Remote-Extra', value));
  }
  return out;
}

/** A text as the value of a header, in UTF-8. @throws StatusError 503 for control characters */
function headerText(header: string, text: string): string {
  if (/[\0-\x08\n-\x1f\x7f]/.test(text)) {
    throw statusError.unavailable(`error trying to reach service: invalid header field value for "${header}"`);
  }
  return Buffer.from(text).toString('latin1');
}

/** The forwarded headers of the response of another API server, after those of this one. */
export function relayedBackHeaders(headers: IncomingHttpHeaders): Headers {
  const out = without(headers, crossOrigin);
  const caching = ['no-cache, private', headers['cache-control']].filter((part) => part !== undefined);
  return { ...out, 'cache-control': caching.join(', ') };
}

/** Fields that describe the body or its transfer are no trailers (RFC 9110, 6.5.1). */
const noTrailers: ReadonlySet<string> = new Set([
  ...hops,
  ...crossOrigin,
  ...['content-encoding', 'content-length', 'content-range', 'content-type', 'cache-control', 'set-cookie'],
]);

/** The trailers that a response of another API server announces; undefined: none that may be forwarded. */
export function relayedTrailers(incoming: IncomingMessage): Trailers | undefined {
  const announced = (incoming.headers['trailer'] ?? '').toLowerCase().split(',');
  const names = announced.map((name) => name.trim()).filter((name) => /^[\w-]+$/.test(name) && !noTrailers.has(name));
  if (names.length === 0) return undefined;
  const read = () => {
    const sent = names.flatMap((name) => {
      const value = incoming.trailers[name];
      return value === undefined ? [] : [[name, value] as const];
    });
    return Object.fromEntries(sent);
  };
  // The spelling of the reference server: X-Sum.
  const announces = names.map((name) => name.replace(/(?<![^-])[a-z]/g, (letter) => letter.toUpperCase())).join(', ');
  return { announces, read };
}

/** The forwarded headers of a response. */
export const answeredHeaders = (headers: IncomingHttpHeaders): Headers => without(headers, []);

/** The same for a proxied request, with redirects rewritten to lead through the proxy. */
export function backHeaders(
  headers: IncomingHttpHeaders,
  endpoint: Endpoint,
  request: ApiRequest,
  path: ProxiedPath,
): Headers {
  const out = without(headers, crossOrigin);
  if (headers.location !== undefined) out['location'] = through(headers.location, endpoint, request, path);
  return out;
}

/** Rewrites a redirect to an absolute path on the same host so that it leads through the proxy. */
function through(link: string, { host, port }: Endpoint, { headers }: ApiRequest, { prefix }: ProxiedPath): string {
  const [, scheme = '', authority, rest = ''] = /^([a-z][a-z0-9+.-]*:)?(?:\/\/([^/?#]*))?(.*)$/is.exec(link) ?? [];
  const client = headers[':authority'] ?? headers['host'];
  const there = port === '' ? host : `${host.includes(':') ? `[${host}]` : host}:${port}`;
  if (authority !== undefined && authority !== there && authority !== client) return link;
  if (!rest.startsWith('/')) return link;
  const start = authority !== undefined && authority === client ? `${scheme}//${authority}` : '';
  return start + (rest.startsWith(prefix) ? rest : prefix + rest);
}

const pathOf = (url: string): string => url.slice(0, url.search(/[?#]|$/));
