import type { IncomingHttpHeaders } from 'node:http';
import type { Endpoint } from '../../registry/index.ts';
import type { ApiRequest } from '../types.ts';
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
