import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { connect } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { serverTurns } from '../../meta/index.ts';
import { dial, dialFailure } from './dial.ts';

/** Begins a request to a host, and takes it back before anything is sent. */
function begin(host: string, guarded: boolean): void {
  const endpoint = { scheme: 'http', host, port: '80', path: '', peer: 'anyone' } as const;
  const { signal } = new AbortController();
  const request = dial(endpoint, {}, { method: 'GET', path: '/', headers: {}, signal, guarded, turns: serverTurns() });
  request.on('error', () => {});
  request.destroy();
}

// Addresses that are not global unicast in the sense of the reference server's proxies, also where an IPv4 address stands
// inside an IPv6 one: mapped (RFC 4291, 2.5.5.2), compatible (2.5.5.1), translated (RFC 2765), behind NAT64 (RFC 6052), 6to4
// (RFC 3056).
const refused = [
  ...['0.0.0.0', '0.1.2.3', '127.0.0.1', '127.255.255.254', '169.254.169.254', '224.0.0.1', '239.255.255.255'],
  ...['255.255.255.255', '::', '::1', 'fe80::1', 'febf::1', 'ff02::1', 'fe80::1%eth0', '::1%lo'],
  ...['::ffff:127.0.0.1', '::ffff:7f00:1', '::FFFF:7F00:1', '0:0:0:0:0:ffff:a9fe:a9fe', '::ffff:127.0.0.1%lo'],
  ...['::127.0.0.1', '::a9fe:a9fe', '::ffff:0:127.0.0.1', '::ffff:0:a9fe:a9fe'],
  ...['64:ff9b::127.0.0.1', '64:ff9b::7f00:1', '64:ff9b::a9fe:a9fe', '64:ff9b::', '64:ff9b::224.0.0.1'],
  ...['2002:7f00:1::', '2002:7fff:ffff:1:2:3:4:5', '2002:a9fe:a9fe::1', '2002::1', '2002:e000:1::'],
  '',
];

const others = [
  ...['10.0.0.1', '172.16.0.1', '192.168.0.1', '8.8.8.8', '126.255.255.255', '128.0.0.1', '169.253.0.1'],
  ...['2600::1', 'fd00::1', 'fec0::1', '::ffff:10.0.0.1', '::10.0.0.1', '64:ff9b::8.8.8.8', '2002:a00:1::1'],
];

describe('a connection to a global unicast address only', () => {
  it.each(refused)('is refused to "%s"', (host) => {
    expect(() => begin(host, true)).toThrow('address not allowed');
  });

  it.each(others)('is opened to %s', (host) => {
    expect(() => begin(host, true)).not.toThrow();
  });
});

it('connects to the kubelet of a node at any address', () => {
  for (const host of ['127.0.0.1', '::1', ...others]) expect(() => begin(host, false)).not.toThrow();
});

it('names an endpoint that does not speak TLS without what OpenSSL says', async () => {
  const server = createServer((socket) => void socket.on('error', () => {}).end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const [error] = (await once(connect({ host: '127.0.0.1', port }), 'error')) as [Error];
  server.close();
  const endpoint = { scheme: 'https', host: '127.0.0.1', port: String(port), path: '/', peer: 'anyone' } as const;
  expect(dialFailure(error, endpoint)).toBe('tls: first record does not look like a TLS handshake');
});
