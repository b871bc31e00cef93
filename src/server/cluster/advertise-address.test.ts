import { describe, expect, it } from 'vitest';
import { advertisedAddress, type Interfaces } from './advertise-address.ts';

const face = (address: string, internal = false) => ({
  address,
  internal,
  family: address.includes(':') ? ('IPv6' as const) : ('IPv4' as const),
  netmask: '',
  mac: '',
  cidr: null,
  ...(address.includes(':') ? { scopeid: 0 } : {}),
});
const loopback = { lo: [face('127.0.0.1', true), face('::1', true)] } as Interfaces;
const machine = {
  ...loopback,
  eth0: [face('fe80::1'), face('169.254.1.1'), face('2001:db8::7'), face('192.0.2.7'), face('192.0.2.8')],
} as Interfaces;

describe('advertised address', () => {
  const v4 = [{ address: '10.0.0.0', prefix: 24 }];
  const v6 = [{ address: 'fd00::', prefix: 112 }];
  // As the help of the reference server describes its flag.
  it.each([
    ['the given one', { advertiseAddress: '203.0.113.1', bindAddress: '192.0.2.8' }, v4, machine, '203.0.113.1'],
    ['the one where it listens', { bindAddress: '192.0.2.8' }, v4, machine, '192.0.2.8'],
    ['that of the machine when it listens everywhere', { bindAddress: '0.0.0.0' }, v4, machine, '192.0.2.7'],
    ['that of the machine for a loopback address', { bindAddress: '127.0.0.1' }, v4, machine, '192.0.2.7'],
    ['of the family of the services', { bindAddress: '::' }, v6, machine, '2001:db8::7'],
    ['of another one where there is none', { bindAddress: '::1' }, v6, { a: [face('192.0.2.7')] }, '192.0.2.7'],
    // Loopback addresses are invalid in endpoints.
    ['none', { bindAddress: '127.0.0.1' }, v4, loopback, undefined],
    ['none for a given loopback address', { advertiseAddress: '::1', bindAddress: '::' }, v4, loopback, undefined],
  ])('%s', (_, given, serviceClusterIpRange, interfaces, expected) => {
    const settings = { advertiseAddress: undefined, ...given, serviceClusterIpRange };
    expect(advertisedAddress(settings, interfaces as Interfaces)).toBe(expected);
  });
});
