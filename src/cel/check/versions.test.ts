import { describe, expect, test } from 'vitest';
import type { Library } from '../library.ts';
import { librariesOfNew, librariesOfStored, type VersionedLibrary } from './versions.ts';

const library = (name: string): Library => ({ name, functions: {} });

const libraries: readonly VersionedLibrary[] = [
  { library: library('standard'), since: '1.0' },
  { library: library('strings-0'), since: '1.0', removed: '1.29' },
  { library: library('strings-2'), since: '1.29' },
  { library: library('format'), since: '1.31' },
  { library: library('alpha'), since: '1.31', enabled: false },
  { library: library('gated'), since: '1.34', enabled: true },
  { library: library('semver'), since: '1.33' },
];
const names = (selected: readonly Library[]): string[] => selected.map(({ name }) => name);

describe('libraries of a release', () => {
  test.each([
    ['1.28', ['standard', 'strings-0', 'gated']],
    ['1.29', ['standard', 'strings-2', 'gated']],
    ['1.32', ['standard', 'strings-2', 'format', 'gated']],
    ['1.33', ['standard', 'strings-2', 'format', 'gated', 'semver']],
    ['1.100', ['standard', 'strings-2', 'format', 'gated', 'semver']],
  ] as const)('an expression written with %s may use what that release has', (release, expected) => {
    expect(names(librariesOfNew(libraries, release))).toEqual(expected);
  });

  test('a stored expression may use all that is not removed, whatever the gates', () => {
    expect(names(librariesOfStored(libraries))).toEqual([
      'standard',
      'strings-2',
      'format',
      'alpha',
      'gated',
      'semver',
    ]);
  });
});
