import { describe, expect, it } from 'vitest';
import type { ResourceList } from '../../rules/index.ts';
import { withMissing } from './resource-list.ts';

describe('withMissing', () => {
  const all: ResourceList = { b: '1', c: '2' };

  it('adds missing resources, sorted by name', () => {
    expect(Object.entries(withMissing(all, { a: '3', c: '9' }))).toEqual([
      ['a', '3'],
      ['b', '1'],
      ['c', '2'],
    ]);
  });

  it('returns the same list when nothing is missing', () => {
    expect(withMissing(all, { c: '9' })).toBe(all);
    expect(withMissing(undefined, undefined)).toEqual({});
  });
});
