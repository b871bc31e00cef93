import { describe, expect, test } from 'vitest';
import { atOnce, defaultFeatures, parseRelease } from '../../meta/index.ts';
import { baseLibraries } from '../base-libraries.ts';
import type { Library } from '../library.ts';
import { checkNewInSteps, expressionLibraries, type VersionedLibrary } from './versions.ts';

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
    expect(names(expressionLibraries(libraries).ofNew(parseRelease(release)))).toEqual(expected);
  });

  test('a stored expression may use all that is not removed, whatever the gates', () => {
    expect(names(expressionLibraries(libraries).ofStored)).toEqual([
      'standard',
      'strings-2',
      'format',
      'alpha',
      'gated',
      'semver',
    ]);
  });
});

describe('an expression that is written', () => {
  const all = expressionLibraries(baseLibraries(defaultFeatures));
  const messageOf = (source: string, release: `1.${number}`): string | undefined => {
    try {
      atOnce(checkNewInSteps({ variables: [] }, all, parseRelease(release), source));
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  };

  test.each([
    ["semver('1.2.3').major() == 1", '1.33', '1.32'],
    ['[1].all(i, v, i < v)', '1.32', '1.31'],
    ["ip('::1').isLoopback()", '1.30', '1.29'],
  ] as const)('may use what its release has: %s of %s', (source, since, before) => {
    expect(messageOf(source, since)).toBeUndefined();
    expect(messageOf(source, before)).toMatch(
      new RegExp(
        `'\\w+'.*\nIt is valid from release ${since} on; new expressions must be valid in release ${before} \\(--min-compatibility-version\\)\\.$`,
        's',
      ),
    );
  });

  test('that no release accepts is refused without naming a release', () => {
    expect(messageOf('unknown(1)', '1.31')).not.toContain('release');
  });
});
