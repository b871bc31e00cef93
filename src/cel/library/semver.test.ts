import { describe, expect, it } from 'vitest';
import { CelError } from '../values.ts';
import { type SemverValue, semverLibrary } from './semver.ts';
import { callOf } from './testing/calls.ts';

const call = callOf(semverLibrary);
const semver = (text: string, normalize = false) => call('string_bool_to_semver', text, normalize) as SemverValue;
const elements = (version: SemverValue) => ['major', 'minor', 'patch'].map((name) => call(`semver_${name}`, version));

describe('semver', () => {
  it.each([
    ['1.2.3', [1, 2, 3]],
    ['0.0.0', [0, 0, 0]],
    ['1.2.3-beta.1+build.1', [1, 2, 3]],
    ['1.2.3+00.-', [1, 2, 3]],
    ['1.2.3--', [1, 2, 3]],
    ['9223372036854775807.9007199254740993.1', [9223372036854775807n, 9007199254740993n, 1]],
    // Numbers of 64 bits without a sign become ints.
    ['18446744073709551615.0.0', [-1, 0, 0]],
  ])('parses %s', (text, expected) => {
    expect(call('is_semver_string', text)).toBe(true);
    expect(elements(call('string_to_semver', text) as SemverValue)).toEqual(expected);
    expect(elements(semver(text, true))).toEqual(expected);
  });

  it.each([
    ['', 'Version string empty'],
    ['v1.0', 'No Major.Minor.Patch elements found'],
    ['1', 'No Major.Minor.Patch elements found'],
    ['1.1', 'No Major.Minor.Patch elements found'],
    ['v1.0.0', 'Invalid character(s) found in major number "v1"'],
    [' 1.0.0', 'Invalid character(s) found in major number " 1"'],
    ['1. 0.0', 'Invalid character(s) found in minor number " 0"'],
    ['1.0.0 ', 'Invalid character(s) found in patch number "0 "'],
    ['1.0.0\n', 'Invalid character(s) found in patch number "0\\n"'],
    ['1.2.3.4', 'Invalid character(s) found in patch number "3.4"'],
    ['01.1.1', 'Major number must not contain leading zeroes "01"'],
    ['1.01.1', 'Minor number must not contain leading zeroes "01"'],
    ['1.1.01', 'Patch number must not contain leading zeroes "01"'],
    ['.1.1', 'strconv.ParseUint: parsing "": invalid syntax'],
    ['18446744073709551616.0.0', 'strconv.ParseUint: parsing "18446744073709551616": value out of range'],
    ['1.2.3-', 'Prerelease is empty'],
    ['1.2.3-a..b', 'Prerelease is empty'],
    ['1.2.3-a_b', 'Invalid character(s) found in prerelease "a_b"'],
    ['1.2.3-01', 'Numeric PreRelease version must not contain leading zeroes "01"'],
    ['1.2.3+', 'Build meta data is empty'],
    ['1.2.3+a+b', 'Invalid character(s) found in build meta data "a+b"'],
  ])('refuses %j', (text, message) => {
    expect(call('is_semver_string', text)).toBe(false);
    expect(() => call('string_to_semver', text)).toThrow(new CelError(message));
  });

  it.each([
    ['v1.0.0', '1.0.0'],
    ['1', '1.0.0'],
    ['v1.1', '1.1.0'],
    ['01.01.01', '1.1.1'],
    ['00.000.0', '0.0.0'],
    ['1.2.03-alpha.1', '1.2.3-alpha.1'],
    ['1.2.0-alpha.1', '1.2.0-alpha.1'],
  ])('normalizes %s to %s', (text, expected) => {
    expect(call('is_semver_string_bool', text, true)).toBe(true);
    expect(semver(text, true).equals(semver(expected))).toBe(true);
    expect(call('is_semver_string_bool', text, false)).toBe(text === expected);
  });

  it.each([
    ['', 'strconv.ParseUint: parsing "": invalid syntax'],
    [' 1.0.0', 'Invalid character(s) found in major number " 1"'],
    ['vv1.0.0', 'Invalid character(s) found in major number "v1"'],
    ['1.2-alpha', 'short version cannot contain PreRelease/Build meta data'],
    ['1+build', 'short version cannot contain PreRelease/Build meta data'],
    ['0x.1.1', 'Invalid character(s) found in major number "0x"'],
  ])('refuses to normalize %j', (text, message) => {
    expect(call('is_semver_string_bool', text, true)).toBe(false);
    expect(() => semver(text, true)).toThrow(new CelError(message));
  });

  it('orders versions as semver.org does', () => {
    const ascending = [
      '0.9.9',
      '1.0.0-1',
      '1.0.0-2',
      '1.0.0-11',
      '1.0.0-alpha',
      '1.0.0-alpha.1',
      '1.0.0-alpha.beta',
      '1.0.0-beta',
      '1.0.0-beta.2',
      '1.0.0-beta.11',
      '1.0.0-rc.1',
      '1.0.0',
      '1.0.1',
      '1.1.0',
      '10.0.0',
    ].map((text) => semver(text));
    for (const [i, a] of ascending.entries()) {
      for (const [j, b] of ascending.entries()) {
        expect(call('semver_compare_to', a, b)).toBe(Math.sign(i - j));
        expect(call('semver_is_less_than', a, b)).toBe(i < j);
        expect(call('semver_is_greater_than', a, b)).toBe(i > j);
        expect(a.equals(b)).toBe(i === j);
      }
    }
  });

  it('has no order of build metadata', () => {
    expect(semver('1.0.0+a').equals(semver('1.0.0+b'))).toBe(true);
    expect(call('semver_compare_to', semver('1.0.0+a'), semver('1.0.0'))).toBe(0);
  });

  it('reads long input in linear time', () => {
    const digits = '1'.repeat(2_000_000);
    expect(call('is_semver_string', `${digits}.0.0`)).toBe(false);
    expect(call('is_semver_string', `1.0.0-${digits}`)).toBe(false);
    expect(call('is_semver_string_bool', `${'0'.repeat(2_000_000)}x.0.0`, true)).toBe(false);
    expect(call('is_semver_string', `1.0.0-${'a.'.repeat(1_000_000)}a`)).toBe(true);
  });

  it('costs a tenth of the length of its text', () => {
    const [overload] = semverLibrary.functions['semver'] ?? [];
    const [comparing] = semverLibrary.functions['compareTo'] ?? [];
    const long = semver(`1.0.0-${'a.'.repeat(100_000)}a`);
    expect(comparing?.cost?.([semver('1.0.0'), long], -1)).toBe(1);
    expect(comparing?.cost?.([long, long], 0)).toBe(201);
    expect(overload?.cost?.(['1.0.0'], null)).toBe(1);
    expect(overload?.cost?.(['1234.56789012345.67890123456789'], null)).toBe(4);
  });
});
