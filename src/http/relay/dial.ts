import { type LookupAddress, lookup } from 'node:dns';
import { type ClientRequest, type OutgoingHttpHeaders, request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import { BlockList, connect, isIP, type LookupFunction, type TcpNetConnectOpts } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { addressBytes, statusError, type Turns } from '../../meta/index.ts';
import type { Endpoint } from '../../registry/index.ts';
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
}

/**
 * A request to an endpoint over its own connection, a {@link PacedSocket}. The caller ends it.
 * @throws StatusError 400 for a forbidden address; a forbidden address behind a name is an error of the request
 */
export function dial({ scheme, host, port, peer }: Endpoint, trust: KubeletTrust, options: DialOptions): ClientRequest {
  const { guarded, turns, ...rest } = options;
  const family = isIP(host);
  if (guarded && (host === '' || (family !== 0 && isRefused(host, family)))) throw notAllowed();
  const common = {
    ...rest,
    host,
    ...(port === '' ? {} : { port }),
    ...(guarded ? { lookup: guardedLookup } : {}),
  } as const;
  if (scheme === 'http') {
    return plainRequest({
      ...common,
      createConnection: (to) => new PacedSocket(connect(to as TcpNetConnectOpts), turns),
    });
  }
  const { cert, key, ca } = trust;
  const shown = peer !== 'anyone' && cert !== undefined && key !== undefined ? { cert, key } : {};
  const known = peer === 'kubelet' && ca !== undefined ? { ca } : { rejectUnauthorized: false };
  // The server name is that of the endpoint, whatever the `host` header.
  return secureRequest({
    ...common,
    ...shown,
    ...known,
    servername: family === 0 ? host : '',
    createConnection: (to) => new PacedSocket(connectTls(to as ConnectionOptions), turns),
  });
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

/** Resolves a name and rejects it if any of its addresses is forbidden. */
const guardedLookup: LookupFunction = (host, options, done) => {
  lookup(host, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
    const [first] = addresses ?? [];
    if (error !== null || first === undefined) {
      done(Object.assign(statusError.badRequest(`lookup ${host}: no such host`), { code: 400 }) as never, '');
    } else if (addresses.some(({ address, family }) => isRefused(address, family))) {
      done(notAllowed() as never, '');
    } else if (options.all === true) done(null, addresses);
    else done(null, first.address, first.family);
  });
};

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
  const refusal = refusals[code];
  if (refusal !== undefined) return `dial tcp ${isIP(host) === 6 ? `[${host}]` : host}:${port}: ${refusal}`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `dial tcp: lookup ${host}: no such host`;
  if (unknownAuthority.has(code)) {
    return 'tls: failed to verify certificate: x509: certificate signed by unknown authority';
  }
  // Closed without a response.
  if (code === 'ECONNRESET') return 'EOF';
  return error.message;
}
