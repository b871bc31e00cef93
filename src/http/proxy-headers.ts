import type { IncomingHttpHeaders } from 'node:http';
import type { Endpoint } from '../registry/index.ts';
import type { ApiRequest } from './types.ts';
import { offeredProtocols } from './web-socket.ts';

/** The path of a proxied request, as it was sent. */
export interface ProxiedPath {
  /** That of the subresource, without a slash at its end. */
  readonly prefix: string;
  /** What follows it, with the query: what is asked for over there. */
  readonly there: string;
}

type Headers = { [name: string]: string | string[] };

/** Headers that belong to one connection (RFC 9110, 7.6.1). */
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

/** The subprotocols of a WebSocket request, one of which may carry a token. */
const protocolHeader = 'sec-websocket-protocol';

/** Those that say who asks, which is nobody else's business, and one that this server has answered itself. */
const own: readonly string[] = ['authorization', 'expect', protocolHeader];

/** Those by which a page of one origin may read another: it is this server that speaks for its origin. */
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
    if (value !== undefined && !gone.has(name) && !/^(?::|impersonate-)/.test(name)) out[name] = value;
  }
  return out;
}

/** What is passed on of a request: not who asks, but from where. */
function passedHeaders({ headers, peer }: ApiRequest): Headers {
  const out = without(headers, own);
  const host = headers['host'] ?? headers[':authority'];
  if (host !== undefined) out['host'] = host;
  const protocols = offeredProtocols(headers[protocolHeader]);
  if (protocols.length > 0) out[protocolHeader] = protocols.join(', ');
  const forwarded = [headers['x-forwarded-for'], peer.address].filter((part) => part !== undefined && part !== '');
  if (forwarded.length > 0) out['x-forwarded-for'] = forwarded.join(', ');
  return out;
}

/** The headers of a proxied request. */
export function proxiedHeaders(request: ApiRequest, { prefix, there }: ProxiedPath, hasBody: boolean): Headers {
  const out: Headers = { ...passedHeaders(request), 'x-forwarded-uri': prefix + pathOf(there) };
  return hasBody && out['content-length'] === undefined ? { ...out, 'transfer-encoding': 'chunked' } : out;
}

/** The headers of a request for another protocol. */
export function upgradeHeaders(request: ApiRequest): Headers {
  return { ...passedHeaders(request), connection: 'Upgrade', upgrade: request.headers['upgrade'] ?? '' };
}

/** What is passed back of an answer. */
export const answeredHeaders = (headers: IncomingHttpHeaders): Headers => without(headers, []);

/** The same for a proxied request: a redirection leads through the proxy, too. */
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

/** Where a link on the other side leads from here: one to the same host by a whole path goes through the proxy. */
function through(link: string, { host, port }: Endpoint, { headers }: ApiRequest, { prefix }: ProxiedPath): string {
  const [, scheme = '', authority, rest = ''] = /^([a-z][a-z0-9+.-]*:)?(?:\/\/([^/?#]*))?(.*)$/is.exec(link) ?? [];
  const client = headers['host'] ?? headers[':authority'];
  const there = port === '' ? host : `${host.includes(':') ? `[${host}]` : host}:${port}`;
  if (authority !== undefined && authority !== there && authority !== client) return link;
  if (!rest.startsWith('/')) return link;
  const start = authority !== undefined && authority === client ? `${scheme}//${authority}` : '';
  return start + (rest.startsWith(prefix) ? rest : prefix + rest);
}

const pathOf = (url: string): string => url.slice(0, url.search(/[?#]|$/));
