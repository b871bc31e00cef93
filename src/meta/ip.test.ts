import { describe, expect, it, vi } from 'vitest';
import {
  addressBytes,
  canonicalIp,
  clientNetwork,
  firstAddress,
  formatCidr,
  formatIp,
  parseCidr,
  parseNetwork,
  readIp,
  socketAddress,
} from './ip.ts';

describe('CIDRs', () => {
  it('are not looked for behind the second slash', () => {
    const split = vi.spyOn(String.prototype, 'split');
    expect(parseCidr('/'.repeat(1_000_000))).toBeUndefined();
    expect(parseCidr('10.0.0.0/8/8')).toBeUndefined();
    expect(split).not.toHaveBeenCalled();
  });

  it.each([
    ['10.0.0.0/24', { address: '10.0.0.0', prefix: 24 }],
    ['10.0.0.128/25', { address: '10.0.0.128', prefix: 25 }],
    ['0.0.0.0/0', { address: '0.0.0.0', prefix: 0 }],
    ['fd00::/108', { address: 'fd00::', prefix: 108 }],
  ])('%s is a network', (text, cidr) => {
    expect(parseCidr(text)).toEqual(cidr);
    expect(parseNetwork(text)).toEqual(cidr);
    expect(formatCidr(cidr)).toBe(text);
  });

  it.each([
    ['10.0.0.1/24', { address: '10.0.0.1', prefix: 24 }],
    ['fd00::1/108', { address: 'fd00::1', prefix: 108 }],
    ['::1/0', { address: '::1', prefix: 0 }],
  ])('%s has host bits and is not a network', (text, cidr) => {
    expect(parseCidr(text)).toEqual(cidr);
    expect(parseNetwork(text)).toBeUndefined();
  });

  it.each([
    '',
    '10.0.0.0',
    '10.0.0.0/33',
    '10.0.0.0/08',
    '10.0.0/24',
    'fd00::/129',
    'fe80::%eth0/64',
    '10.0.0.0/24/1',
    '10.0.0.0/',
    '10.0.0.0/x',
    'a/1',
  ])('%j is neither', (text) => {
    expect(parseCidr(text)).toBeUndefined();
    expect(parseNetwork(text)).toBeUndefined();
  });
});

describe('addresses', () => {
  it.each([
    ['10.0.0.0/24', '10.0.0.1'],
    ['fd00::/108', 'fd00::1'],
    ['2001:db8:0:1::/112', '2001:db8:0:1::1'],
  ])('the first address of %s is %s', (block, address) => expect(firstAddress(parseNetwork(block)!)).toBe(address));

  it('are converted to bytes', () => {
    expect([...addressBytes('192.0.2.7')]).toEqual([192, 0, 2, 7]);
    expect(addressBytes('::1').toString('hex')).toBe('00000000000000000000000000000001');
    expect(addressBytes('2001:db8::8:800:200c:417a').toString('hex')).toBe('20010db80000000000080800200c417a');
    expect(addressBytes('::ffff:192.0.2.7').toString('hex')).toBe('00000000000000000000ffffc0000207');
  });
});

describe('the network of a client', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8::8:800:200c:417a', '20010db800000000::/64'],
    ['2001:db8:0:0:1::', '20010db800000000::/64'],
    ['2001:db8:0:1::1', '20010db800000001::/64'],
    ['fe80::1%eth0', 'fe80000000000000::/64'],
    [undefined, ''],
  ])('of a socket to %s is %s', (remoteAddress, network) => {
    expect(clientNetwork(socketAddress({ remoteAddress }))).toBe(network);
  });
});

describe('numbers of addresses', () => {
  it.each([
    ['10.0.0.1', 0x0a000001n, 32, '10.0.0.1'],
    ['255.255.255.255', 0xffffffffn, 32, '255.255.255.255'],
    ['::1', 1n, 128, '::1'],
    ['2001:DB8:0:0:1:0:0:0', 0x20010db8000000000001000000000000n, 128, '2001:db8:0:0:1::'],
    ['::ffff:10.0.0.1', 0x0a000001n, 32, '10.0.0.1'],
  ])('%s', (text, bits, size, shortest) => {
    expect(readIp(text)).toEqual({ bits, size });
    expect(formatIp({ bits, size: size as 32 | 128 })).toBe(shortest);
  });

  it.each(['', 'x', '10.0.0', '10.0.0.256', 'fe80::1%eth0', '1::2::3'])('%j is not an address', (text) => {
    expect(readIp(text)).toBeUndefined();
    expect(canonicalIp(text)).toBe(text);
  });
});
