import { isIP } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CelError, type Value } from '../values.ts';
import { cidrLibrary } from './cidr.ts';
import { IpValue, ipLibrary } from './ip.ts';

const overload = (name: string, id?: string) => {
  const all = [...(ipLibrary.functions[name] ?? []), ...(cidrLibrary.functions[name] ?? [])];
  const found = id === undefined ? all[0] : all.find((each) => each.id === id);
  if (found === undefined) throw new Error(`no function ${name}`);
  return found;
};
const call = (name: string, ...args: Value[]): Value => overload(name).call(...args);
const ip = (text: string) => call('ip', text) as IpValue;
const cidr = (text: string) => call('cidr', text);
const string = (value: Value) =>
  overload('string', value instanceof IpValue ? 'ip_to_string' : 'cidr_to_string').call(value);

describe('ip', () => {
  it.each([
    ['192.168.0.1', '192.168.0.1', 4],
    ['0.0.0.0', '0.0.0.0', 4],
    ['::', '::', 6],
    ['::1', '::1', 6],
    ['1::', '1::', 6],
    ['2001:DB8::68', '2001:db8::68', 6],
    ['2001:db8:0:0:0:0:0:1', '2001:db8::1', 6],
    ['2001:db8::0:0:1', '2001:db8::1', 6],
    ['1:2:3:4:5:6:7:8', '1:2:3:4:5:6:7:8', 6],
    ['1:2:3:4:5:6:1.2.3.4', '1:2:3:4:5:6:102:304', 6],
    ['64:ff9b::192.0.2.1', '64:ff9b::c000:201', 6],
    ['1:0:0:2:0:0:0:3', '1:0:0:2::3', 6],
    ['1:0:2:3:4:5:6:7', '1:0:2:3:4:5:6:7', 6],
  ])('%s is %s', (text, canonical, family) => {
    expect(call('isIP', text)).toBe(true);
    expect(string(ip(text))).toBe(canonical);
    expect(call('family', ip(text))).toBe(family);
    expect(call('ip.isCanonical', text)).toBe(text === canonical);
    expect(ip(text).equals(ip(canonical))).toBe(true);
  });

  const parse = (text: string, why: string) =>
    `IP Address "${text}" parse error during conversion from string: ParseAddr("${text}"): ${why}`;
  it.each([
    ['', parse('', 'unable to parse IP')],
    ['nope', parse('nope', 'unable to parse IP')],
    ['192.168.0.1.0', parse('192.168.0.1.0', 'IPv4 address too long')],
    ['192.168.0', parse('192.168.0', 'IPv4 address too short')],
    ['192.168.0.256', parse('192.168.0.256', 'IPv4 field has value >255')],
    ['192.168.00.1', parse('192.168.00.1', 'IPv4 field has octet with leading zero')],
    ['192.168..1', parse('192.168..1', 'IPv4 field must have at least one digit (at ".1")')],
    ['1.2.3.', parse('1.2.3.', 'IPv4 field must have at least one digit (at ".")')],
    ['1.2.3.x', parse('1.2.3.x', 'unexpected character (at "x")')],
    ['1.2.3.4 ', parse('1.2.3.4 ', 'unexpected character (at " ")')],
    ['2001:db8:::68', parse('2001:db8:::68', 'each colon-separated field must have at least one digit (at ":68")')],
    ['12345::', parse('12345::', 'each group must have 4 or less digits (at "12345::")')],
    ['1::2::3', parse('1::2::3', 'multiple :: in address (at ":3")')],
    ['1:2', parse('1:2', 'address string too short')],
    ['1:2:3:4:5:6:7:8:9', parse('1:2:3:4:5:6:7:8:9', 'trailing garbage after address (at "9")')],
    ['1:2:3:4:5:6:7::8', parse('1:2:3:4:5:6:7::8', 'the :: must expand to at least one field of zeros')],
    ['1:g', parse('1:g', 'each colon-separated field must have at least one digit (at "g")')],
    ['1::a.1.1.1', parse('1::a.1.1.1', 'unexpected character (at "a.1.1.1")')],
    ['1:', parse('1:', 'colon must be followed by more characters (at ":")')],
    ['1;:', parse('1;:', 'unexpected character, want colon (at ";:")')],
    [
      '1:1.2.3.4',
      parse('1:1.2.3.4', 'embedded IPv4 address must replace the final 2 fields of the address (at "1.2.3.4")'),
    ],
    ['%eth0', parse('%eth0', 'missing IPv6 address')],
    ['fe80::1%', parse('fe80::1%', 'zone must be a non-empty string')],
    ['fe80::1%eth0', 'IP address "fe80::1%eth0" with zone value is not allowed'],
    ['::ffff:1.2.3.4', 'IPv4-mapped IPv6 address "::ffff:1.2.3.4" is not allowed'],
    ['::ffff:102:304', 'IPv4-mapped IPv6 address "::ffff:102:304" is not allowed'],
  ])('refuses %j', (text, message) => {
    expect(call('isIP', text)).toBe(false);
    expect(() => ip(text)).toThrow(new CelError(message));
    expect(() => call('ip.isCanonical', text)).toThrow(new CelError(message));
  });

  it('accepts what the sockets of Node accept, without zones and mapped addresses', () => {
    const isMapped = (text: string) =>
      isIP(text) === 6 && /^\[::ffff:[\da-f]+:[\da-f]+\]$/.test(new URL(`http://[${text}]`).hostname);
    const groups = fc.array(fc.constantFrom('0', '1', 'a', 'ffff', '', '', '00001', '1.2.3.4'), { maxLength: 10 });
    const quads = fc.array(fc.constantFrom('0', '1', '255', '256', '01', ''), { minLength: 3, maxLength: 5 });
    fc.assert(
      fc.property(
        fc.oneof(
          groups.map((g) => g.join(':')),
          quads.map((q) => q.join('.')),
        ),
        (text) => {
          if (!isMapped(text)) expect(call('isIP', text)).toBe(isIP(text) !== 0);
        },
      ),
      { numRuns: 2000 },
    );
  });

  it.each([
    ['isUnspecified', ['0.0.0.0', '::'], ['127.0.0.1', '::1']],
    ['isLoopback', ['127.0.0.1', '127.255.0.1', '::1'], ['1.2.3.4', '2001:db8::abcd', '::2']],
    ['isLinkLocalMulticast', ['224.0.0.1', 'ff02::1', 'ff12::1'], ['224.0.1.1', 'fd00::1', 'ff05::1']],
    ['isLinkLocalUnicast', ['169.254.169.254', 'fe80::1', 'febf::1'], ['192.168.0.1', 'fd80::1', 'fec0::1']],
    [
      'isGlobalUnicast',
      ['192.168.0.1', '10.0.0.1', '2001:db8::abcd', 'fd00::1'],
      ['255.255.255.255', '0.0.0.0', '127.0.0.1', '224.0.1.1', '169.254.0.1', 'ff00::1', '::', '::1', 'fe80::1'],
    ],
  ])('%s', (name, members, others) => {
    expect(members.map((text) => call(name, ip(text)))).toEqual(members.map(() => true));
    expect(others.map((text) => call(name, ip(text)))).toEqual(others.map(() => false));
  });

  it('of one family equals none of the other', () => {
    expect(ip('0.0.0.0').equals(ip('::'))).toBe(false);
    expect(ip('1.2.3.4').equals(ip('1.2.3.5'))).toBe(false);
  });
});

describe('cidr', () => {
  it.each([
    ['192.168.0.0/24', '192.168.0.0/24', 24, '192.168.0.0'],
    ['192.168.0.1/24', '192.168.0.0/24', 24, '192.168.0.1'],
    ['10.1.2.3/0', '0.0.0.0/0', 0, '10.1.2.3'],
    ['2001:DB8:1::/32', '2001:db8::/32', 32, '2001:db8:1::'],
    ['::1/128', '::1/128', 128, '::1'],
  ])('%s masked is %s', (text, network, length, address) => {
    const value = cidr(text);
    expect(call('isCIDR', text)).toBe(true);
    expect(string(call('masked', value))).toBe(network);
    expect(call('prefixLength', value)).toBe(length);
    expect(string(overload('ip', 'cidr_ip').call(value))).toBe(address);
    expect(string(value)).toBe(`${address}/${length}`);
  });

  const failure = 'network address parse error during conversion from string';
  const parse = (text: string, why: string) => `${failure}: ${failure}: netip.ParsePrefix("${text}"): ${why}`;
  it.each([
    ['192.168.0.0', parse('192.168.0.0', "no '/'")],
    ['192.168.0.0/', parse('192.168.0.0/', 'bad bits after slash: ""')],
    ['192.168.0.0/08', parse('192.168.0.0/08', 'bad bits after slash: "08"')],
    ['192.168.0.0/+8', parse('192.168.0.0/+8', 'bad bits after slash: "+8"')],
    ['192.168.0.0/33', parse('192.168.0.0/33', 'prefix length out of range')],
    ['::1/129', parse('::1/129', 'prefix length out of range')],
    ['fe80::1%eth0/64', parse('fe80::1%eth0/64', 'IPv6 zones cannot be present in a prefix')],
    ['1.2.3/8', parse('1.2.3/8', 'ParseAddr("1.2.3"): IPv4 address too short')],
    ['::ffff:1.2.3.4/128', `${failure}: IPv4-mapped IPv6 address "::ffff:1.2.3.4/128" is not allowed`],
  ])('refuses %j', (text, message) => {
    expect(call('isCIDR', text)).toBe(false);
    expect(() => cidr(text)).toThrow(new CelError(message));
  });

  it.each([
    ['192.168.0.0/24', '192.168.0.1', true],
    ['192.168.0.77/24', '192.168.0.1', true],
    ['192.168.0.0/24', '192.168.1.1', false],
    ['0.0.0.0/0', '1.2.3.4', true],
    ['0.0.0.0/0', '::1', false],
    ['2001:db8::/32', '2001:db8::1', true],
    ['2001:db8::/32', '2001:dc8::1', false],
    ['::/0', '1.2.3.4', false],
  ])('%s contains %s: %s', (network, address, contains) => {
    const byText = overload('containsIP', 'cidr_contains_ip_string');
    const byIp = overload('containsIP', 'cidr_contains_ip_ip');
    expect(byText.call(cidr(network), address)).toBe(contains);
    expect(byIp.call(cidr(network), ip(address))).toBe(contains);
  });

  it.each([
    ['192.168.0.0/24', '192.168.0.0/25', true],
    ['192.168.0.0/24', '192.168.0.0/24', true],
    ['192.168.0.0/24', '192.168.0.1/32', true],
    ['192.168.0.0/24', '192.168.0.0/23', false],
    ['192.168.0.0/24', '192.169.0.1/32', false],
    ['0.0.0.0/0', '10.0.0.0/8', true],
    ['::/0', '10.0.0.0/8', false],
    ['2001:db8::/32', '2001:db8::/33', true],
    ['2001:db8::/32', '2001:db8::/31', false],
  ])('%s contains %s: %s', (network, inner, contains) => {
    expect(overload('containsCIDR', 'cidr_contains_cidr_string').call(cidr(network), inner)).toBe(contains);
    expect(overload('containsCIDR', 'cidr_contains_cidr').call(cidr(network), cidr(inner))).toBe(contains);
  });

  it('fails for what is not an address or network', () => {
    const network = cidr('10.0.0.0/8');
    // The reference server gives the reason for networks only.
    expect(() => call('containsIP', network, 'nope')).toThrow(new CelError('no such overload'));
    expect(() => call('containsCIDR', network, 'nope')).toThrow(new CelError(parse('nope', "no '/'")));
  });

  it('compares with its host bits', () => {
    const equal = (a: string, b: string) => (cidr(a) as IpValue).equals(cidr(b) as IpValue);
    expect(equal('192.168.0.0/24', '192.168.0.0/24')).toBe(true);
    expect(equal('192.168.0.1/24', '192.168.0.0/24')).toBe(false);
    expect(equal('0.0.0.0/0', '::/0')).toBe(false);
    expect(equal('10.0.0.0/8', '10.0.0.0/9')).toBe(false);
  });
});

describe('costs', () => {
  const runtime = (name: string, id: string | undefined, ...args: Value[]) =>
    overload(name, id).cost?.(args, null) ?? 1;
  it.each([
    ['ip', undefined, ['2001:db8:3333:4444:5555:6666:7777:8888'], 4],
    ['isIP', undefined, ['192.168.0.1'], 2],
    ['ip.isCanonical', undefined, ['192.168.0.1'], 3],
    ['ip.isCanonical', undefined, ['2001:db8:3333:4444:5555:6666:7777:8888'], 8],
    ['cidr', undefined, ['192.168.0.0/16'], 2],
    ['ip', 'cidr_ip', [cidr('10.0.0.0/8')], 1],
    ['containsIP', 'cidr_contains_ip_ip', [cidr('192.168.0.0/16'), ip('192.0.0.1')], 1],
    ['containsIP', 'cidr_contains_ip_string', [cidr('192.168.0.0/16'), '192.169.0.1'], 3],
    ['containsIP', 'cidr_contains_ip_ip', [cidr('2001:db8::/64'), ip('::1')], 2],
    ['containsCIDR', 'cidr_contains_cidr', [cidr('192.168.0.0/16'), cidr('192.0.0.0/30')], 3],
    ['containsCIDR', 'cidr_contains_cidr_string', [cidr('192.168.0.0/16'), '192.0.0.0/30'], 5],
  ] as const)('%s (%s) of %s', (name, id, args, cost) => {
    expect(runtime(name, id, ...args)).toBe(cost);
  });

  const argument = (size: number) => {
    const range = { min: size, max: size };
    return { size: range, type: { kind: 'dyn' }, literal: undefined, elementSize: undefined } as const;
  };
  it.each([
    ['ip.isCanonical', undefined, [11], { min: 3, max: 3 }],
    ['containsIP', 'cidr_contains_ip_ip', [0, 0], { min: 1, max: 4 }],
    ['containsIP', 'cidr_contains_ip_string', [0, 11], { min: 3, max: 6 }],
    ['containsCIDR', 'cidr_contains_cidr', [0, 0], { min: 3, max: 7 }],
    ['containsCIDR', 'cidr_contains_cidr_string', [0, 12], { min: 5, max: 9 }],
  ] as const)('%s (%s) of sizes %s is estimated', (name, id, sizes, cost) => {
    expect(overload(name, id).estimate?.(sizes.map(argument))).toEqual({ cost });
  });
});
