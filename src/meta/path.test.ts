import { describe, expect, it } from 'vitest';
import { comparePaths, duplicateField, formatPath, unknownField } from './path.ts';

describe('formatPath', () => {
  it.each([
    [['metadata', 'name'], 'metadata.name'],
    [['spec', 'containers', 0, 'ports', 12, 'x'], 'spec.containers[0].ports[12].x'],
    [[1, 'op'], '[1].op'],
    [[], ''],
    [['a.b', '', '__proto__'], 'a.b..__proto__'],
  ])('%j', (path, text) => {
    expect(formatPath(path)).toBe(text);
  });

  it('shows at most 500 characters of a path', () => {
    const shown = `${'k'.repeat(500)}...`;
    expect(formatPath(['k'.repeat(500)])).toBe('k'.repeat(500));
    expect(formatPath(['k'.repeat(501)])).toBe(shown);
    expect(formatPath(['k'.repeat(3_000_000), 'x', 1])).toBe(shown);
    expect(formatPath(Array.from({ length: 500 }, () => 'a'))).toBe(`${'a.'.repeat(250)}...`);
  });
});

describe('comparePaths', () => {
  it('orders by keys, by indexes as numbers, and parents before children', () => {
    const paths = [['b'], ['a', 10, 'x'], ['a', 9, 'y'], ['a'], ['a', 9], ['a', 10, 'B']];
    expect(paths.sort(comparePaths)).toEqual([['a'], ['a', 9], ['a', 9, 'y'], ['a', 10, 'B'], ['a', 10, 'x'], ['b']]);
  });
});

describe('messages', () => {
  it('quote the path', () => {
    expect(unknownField(['a"b', 'é\n'])).toBe(String.raw`unknown field "a\"b.é\n"`);
    expect(duplicateField(['metadata', 'name'])).toBe('duplicate field "metadata.name"');
    expect(unknownField(['\u0000'.repeat(1_000_000)])).toHaveLength('unknown field ""...'.length + 4 * 500);
  });
});
