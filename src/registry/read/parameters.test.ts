import { describe, expect, it } from 'vitest';
import { readInteger, readVersion, versionFault } from './parameters.ts';

describe('a number in a parameter', () => {
  it.each([
    ['0', 0],
    ['000', 0],
    ['007', 7],
    ['+07', 7],
    ['-10', -10],
    ['100', 100],
  ])('%s is %s', (text, value) => {
    expect(readInteger(text)).toBe(value);
    if (!/[+-]/.test(text)) expect(readVersion(text, 'get')).toBe(value);
  });

  it.each(['', '-', '+-1', '1x', '0x1', ' 1', '1 ', '00a'])('%j is none', (text) => {
    expect(() => readInteger(text)).toThrow('invalid syntax');
    expect(versionFault(text)).toContain('invalid syntax');
  });

  it('is read in time linear in its length', () => {
    for (const digit of ['0', '1']) {
      // With a pattern that tries each number of zeros, these take an hour.
      const long = `${digit.repeat(2_000_000)}!`;
      expect(versionFault(long)).toContain('invalid syntax');
      expect(() => readInteger(long)).toThrow('invalid syntax');
    }
    expect(versionFault('0'.repeat(2_000_000))).toBeUndefined();
    expect(versionFault('1'.repeat(2_000_000))).toContain('out of range');
  });
});
