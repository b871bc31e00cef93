import type { LookupAddress } from 'node:dns';
import { type ClientRequest, type OutgoingHttpHeaders, request as plainRequest } from 'node:http';
import { type Agent, request as secureRequest } from 'node:https';
import { BlockList, connect, isIP, type LookupFunction, type TcpNetConnectOpts } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { addressBytes, statusError, type Turns } from '../../meta/index.ts';
import type { Endpoint } from '../../registry/index.ts';
import { connectionLookup, Lookups } from './lookups.ts';
import { PacedSocket } from './paced-socket.ts';

/** The authorities that kubelet certificates are verified with, and the client certificate shown to kubelets. PEM. */
export interface KubeletTrust {
  /** Without authorities, kubelet certificates are not verified. */
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

export interface DialOptions {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  readonly signal: AbortSignal;
  /** Connects to global unicast addresses only: no loopback, link-local or multicast address. */
  readonly guarded: boolean;
  /** Timeout for the response headers (ms). */
  readonly timeout?: number;
  /** The turns in which the response is parsed. */
  readonly turns: Turns;
  /** How an https endpoint is verified, and the client certificate that it gets. Default: by the peer of the endpoint. */
  readonly tls?: EndpointTls;
  /** Whose connections an https request may use; they are of `PacedSocket`s. Undefined: the request has its own connection. */
  readonly agent?: Agent | undefined;
}

/** The options of a TLS connection to an endpoint. */
export type EndpointTls = Pick<
  ConnectionOptions,
  'ca' | 'cert' | 'key' | 'servername' | 'rejectUnauthorized' | 'allowPartialTrustChain'
>;

/** The names of nodes and backends are looked up one at a time: the other thread is for what the server calls itself. */
const lookups = new Lookups(1);

/**
 * A request to an endpoint over a {@link PacedSocket}, by default a connection of its own. The caller ends it.
 * @throws StatusError 400 for a forbidden address; a forbidden address behind a name is an error of the request
 */
export function dial(endpoint: Endpoint, trust: KubeletTrust, options: DialOptions): ClientRequest {
  const { host } = endpoint;
  const family = isIP(host);
  if (options.guarded && (host === '' || (family !== 0 && isRefused(host, family)))) throw notAllowed();
  const { lookup, leave } = connectionLookup(lookups, options.guarded ? refusalOf : undefined);
  const request = requestTo(endpoint, trust, { ...options, lookup });
  request.once('close', leave);
  return request;
}

function requestTo(
  { scheme, host, port, peer }: Endpoint,
  trust: KubeletTrust,
  { guarded: _, turns, tls, agent, ...rest }: DialOptions & { readonly lookup: LookupFunction },
): ClientRequest {
  const common = { ...rest, host, ...(port === '' ? {} : { port }) } as const;
  if (scheme === 'http') {
    return plainRequest({
      ...common,
      createConnection: (to) => new PacedSocket(connect(to as TcpNetConnectOpts), turns),
    });
  }
  const request = secureRequest({
    ...common,
    // The server name is that of the endpoint, whatever the `host` header.
    ...(tls ?? { ...trustIn(peer, trust), servername: isIP(host) === 0 ? host : '' }),
    ...(agent === undefined
      ? { createConnection: (to) => new PacedSocket(connectTls(to as ConnectionOptions), turns) }
      : { agent }),
  });
  request.once('socket', (socket) => (socket as unknown as PacedSocket).serve(turns));
  // API servers are asked as by a client that keeps its connection.
  if (tls !== undefined && !request.hasHeader('connection')) request.removeHeader('connection');
  return request;
}

function trustIn(peer: Endpoint['peer'], { cert, key, ca }: KubeletTrust): EndpointTls {
  const shown = peer !== 'anyone' && cert !== undefined && key !== undefined ? { cert, key } : {};
  const known = peer === 'kubelet' && ca !== undefined ? { ca } : { rejectUnauthorized: false };
  return { ...shown, ...known };
}

const notAllowed = () => statusError.badRequest('address not allowed');

/** Addresses that are not global unicast: loopback, link-local, multicast, broadcast and "this network". */
const refused = new BlockList();
for (const [address, prefix] of [
  ['0.0.0.0', 8],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['224.0.0.0', 4],
  ['255.255.255.255', 32],
] as const) {
  // An IPv4-mapped IPv6 address is checked as IPv4.
  refused.addSubnet(address, prefix, 'ipv4');
  // IPv4-compatible, IPv4-translated, NAT64.
  for (const outer of ['::', '::ffff:0:', '64:ff9b::']) refused.addSubnet(outer + address, 96 + prefix, 'ipv6');
  const [high, low] = addressBytes(address).toString('hex').match(/..../g) ?? [];
  refused.addSubnet(`2002:${high}:${low}::`, 16 + prefix, 'ipv6');
}
for (const [address, prefix] of [
  ['fe80::', 10],
  ['ff00::', 8],
] as const) {
  refused.addSubnet(address, prefix, 'ipv6');
}

const isRefused = (address: string, family: number): boolean =>
  refused.check(address.replace(/%.*$/s, ''), family === 6 ? 'ipv6' : 'ipv4');

/** Why a name is refused: it has no address, or a forbidden one. */
function refusalOf(name: string, error: Error | null, addresses: readonly LookupAddress[]): Error | undefined {
  if (error !== null || addresses.length === 0) {
    return Object.assign(statusError.badRequest(`lookup ${name}: no such host`), { code: 400 });
  }
  return addresses.some(({ address, family }) => isRefused(address, family)) ? notAllowed() : undefined;
}

const refusals: { readonly [code: string]: string } = {
  ECONNREFUSED: 'connect: connection refused',
  EHOSTUNREACH: 'connect: no route to host',
  ENETUNREACH: 'connect: network is unreachable',
  ETIMEDOUT: 'i/o timeout',
};

const unknownAuthority = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** The error text for an endpoint that could not be reached or did not respond, as in the reference server. */
export function dialFailure(error: Error, { host, port }: Endpoint): string {
  const code = 'code' in error ? String(error.code) : '';
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return otherHostFailure(error);
  const refusal = refusals[code];
  if (refusal !== undefined) return `dial tcp ${isIP(host) === 6 ? `[${host}]` : host}:${port}: ${refusal}`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `dial tcp: lookup ${host}: no such host`;
  if (unknownAuthority.has(code)) {
    return 'tls: failed to verify certificate: x509: certificate signed by unknown authority';
  }
  // The endpoint does not speak TLS. The message of OpenSSL has an address in memory.
  if (/wrong.version.number/i.test(`${code} ${error.message}`)) {
    return 'tls: first record does not look like a TLS handshake';
  }
  // Closed without a response.
  if (code === 'ECONNRESET') return 'EOF';
  return error.message;
}

/** The message about a certificate of another host. */
function otherHostFailure(error: Error): string {
  const { host = '', cert = {} } = error as { host?: string; cert?: { readonly subjectaltname?: string } };
  const prefix = isIP(host) === 0 ? 'DNS:' : 'IP Address:';
  const known = (cert.subjectaltname ?? '').split(', ').filter((name) => name.startsWith(prefix));
  const names = known.map((name) => name.slice(prefix.length)).join(', ');
  const x509 = 'tls: failed to verify certificate: x509:';
  if (names !== '') return `${x509} certificate is valid for ${names}, not ${host}`;
  if (isIP(host) === 0) return `${x509} certificate is not valid for any names, but wanted to match ${host}`;
  return `${x509} cannot validate certificate for ${host} because it doesn't contain any IP SANs`;
}
