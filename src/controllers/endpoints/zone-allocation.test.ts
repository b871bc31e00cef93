import { describe, expect, it } from 'vitest';
import type { Slice } from './slices.ts';
import { allocateZones } from './zone-allocation.ts';

/** A slice of ready endpoints in these zones: `a`, or `a>b` for one in `a` with a hint for `b`; `-` for one that is not ready. */
const slice = (text: string): Slice => ({
  metadata: { name: text },
  endpoints: (text === '' ? [] : text.split(' ')).map((one) => {
    const [zone = '', hint] = one.split('>');
    return {
      conditions: { ready: zone !== '-' },
      ...(zone === '' || zone === '-' ? {} : { zone }),
      ...(hint === undefined ? {} : { hints: { forZones: [{ name: hint }] } }),
    };
  }),
});
const allocate = (shares: { [zone: string]: number }, changed: string[], unchanged: string[] = []) => {
  const actual = allocateZones(new Map(Object.entries(shares)), changed.map(slice), unchanged.map(slice));
  if ('failure' in actual) return actual.failure;
  return [[...actual.zones.values()].join(' '), Object.fromEntries(actual.counts)];
};

const halves = { a: 0.45, b: 0.55 };
const thirds = { a: 0.35, b: 0.35, c: 0.3 };

describe('the zones of endpoints', () => {
  it.each<[string, { [zone: string]: number }, string[], string[], unknown]>([
    ['are their own, if each zone has its share', halves, ['a b'], [], ['a b', { a: 1, b: 1 }]],
    ['are those of ready endpoints alone', halves, ['a b - -'], [], ['a b', { a: 1, b: 1 }]],
    [
      'are others where a zone has too many',
      thirds,
      ['a b', 'c c a', 'a a', 'b c a'],
      [],
      ['b b c c a a a b c a', { a: 4, b: 3, c: 3 }],
    ],
    ['stay in slices that do not change', halves, ['a'], ['b>b'], ['a', { a: 1, b: 1 }]],
    ['are set in slices without hints', halves, ['a'], ['b'], ['a b', { a: 1, b: 1 }]],
    ['are set in slices with hints for unknown zones', halves, ['a'], ['b>c'], ['a b', { a: 1, b: 1 }]],
    ['are set again where a zone would have too many', halves, ['b'], ['a>a a>a a>a'], ['b b a a', { a: 2, b: 2 }]],
  ])('%s', (_, shares, changed, unchanged, expected) => {
    expect(allocate(shares, changed, unchanged)).toEqual(expected);
  });

  it.each<[string, { [zone: string]: number }, string[], string]>([
    ['there are fewer than zones', thirds, ['a b'], 'Insufficient number of endpoints (2 endpoints, 3 zones)'],
    ['one has no zone', halves, [' b'], 'One or more endpoints do not have a zone specified'],
    [
      'the minima of the zones are more than there are',
      { a: 0.1, b: 0.1, c: 0.8 },
      ['a b c'],
      'Unable to allocate minimum required endpoints to each zone without exceeding overload threshold (3 endpoints, 3 zones)',
    ],
  ])('are not allocated when %s', (_, shares, changed, expected) => {
    expect(allocate(shares, changed)).toBe(expected);
  });

  it('are not allocated without the shares of zones', () => {
    expect(allocateZones(undefined, [], [])).toEqual({
      failure: 'Insufficient Node information: allocatable CPU or zone not specified on one or more nodes',
    });
  });
});
