import { describe, expect, it } from 'vitest';
import { formatIp, parseNetwork, readIp } from '../meta/index.ts';
import { type AddressRange, candidates, holds, rangeOf } from './address-range.ts';

const range = (text: string): AddressRange => {
  const cidr = parseNetwork(text);
  const found = cidr && rangeOf(cidr);
  if (found === undefined) throw new Error(text);
  return found;
};
const show = (bits: bigint, { size }: AddressRange) => formatIp({ bits, size });
/** Always the same choice. */
const random = (value: number) => ({ uuid: () => '', integer: (below: number) => Math.min(value, below - 1) });

describe('service CIDR ranges', () => {
  // The size of the static band: min(max(16, size / 16), 256), and none below 17 addresses (KEP-3070).
  it.each([
    ['10.0.0.0/29', '10.0.0.1', '10.0.0.6', '10.0.0.1'],
    ['10.0.0.0/28', '10.0.0.1', '10.0.0.14', '10.0.0.1'],
    ['10.0.0.0/27', '10.0.0.1', '10.0.0.30', '10.0.0.17'],
    ['10.0.0.0/24', '10.0.0.1', '10.0.0.254', '10.0.0.17'],
    ['10.0.0.0/22', '10.0.0.1', '10.0.3.254', '10.0.0.65'],
    ['10.96.0.0/12', '10.96.0.1', '10.111.255.254', '10.96.1.1'],
    // IPv6 has no broadcast address.
    ['fd00::/120', 'fd00::1', 'fd00::ff', 'fd00::11'],
    ['fd00::/64', 'fd00::1', 'fd00::ffff:ffff:ffff:ffff', 'fd00::101'],
  ])('%s', (text, first, last, dynamic) => {
    const found = range(text);
    expect([found.first, found.last, found.dynamic].map((bits) => show(bits, found))).toEqual([first, last, dynamic]);
  });

  it.each([
    ['10.0.0.1', true],
    ['10.0.0.0', false],
    ['10.0.0.31', false],
    ['10.0.0.32', false],
    ['::a00:1', false],
    ['::ffff:10.0.0.1', true],
  ])('10.0.0.0/27 holds %s: %s', (text, expected) => {
    expect(holds(range('10.0.0.0/27'), readIp(text)!)).toBe(expected);
  });

  it('are tried completely, the dynamic band first', () => {
    const found = range('10.0.0.0/27');
    for (const value of [0, 5, 1 << 29]) {
      const tried = [...candidates(found, random(value))].map((bits) => Number(bits & 0xffn));
      expect([...tried.slice(0, 14)].sort((a, b) => a - b)).toEqual(Array.from({ length: 14 }, (_, i) => 17 + i));
      expect([...tried.slice(14)].sort((a, b) => a - b)).toEqual(Array.from({ length: 16 }, (_, i) => 1 + i));
    }
  });

  it('are tried from a random start', () => {
    const [first] = candidates(range('fd00::/64'), random(1 << 29));
    expect(first).toBeGreaterThan(range('fd00::/64').dynamic);
  });
});
