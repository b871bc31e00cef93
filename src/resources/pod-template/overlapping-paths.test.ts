import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_WARNINGS } from '../shared/field-rules.ts';
import { overlappingPathWarnings } from './overlapping-paths.ts';

const volume = (paths: readonly string[]) => ({
  name: 'v',
  secret: { secretName: 's', items: paths.map((path, i) => ({ key: `k${i}`, path })) },
});
const shown = (path: string) => JSON.stringify(path.replace(/\/+$/, ''));

/** Compares each file with all earlier ones. */
function expected(paths: readonly string[]): string[] {
  const prefixes = paths.map((path) => `${path.replace(/\/+$/, '')}/`);
  return paths.flatMap((path, i) =>
    paths.slice(0, i).flatMap((other, j) => {
      const [a = '', b = ''] = [prefixes[i], prefixes[j]];
      if (a === '/' || b === '/' || !(a.startsWith(b) || b.startsWith(a))) return [];
      return [`volume "v" (Secret "s"): overlapping paths: ${shown(path)} with ${shown(other)}`];
    }),
  );
}

describe('overlappingPathWarnings', () => {
  it('finds the same overlaps as a comparison of all pairs, in the same order', () => {
    const step = fc.constantFrom('a', 'b', 'a!', 'a.b', '', 'é');
    const path = fc.array(step, { maxLength: 4 }).map((steps) => steps.join('/'));
    fc.assert(
      fc.property(fc.array(path, { maxLength: 12 }), (paths) => {
        expect(overlappingPathWarnings(volume(paths))).toEqual(expected(paths));
      }),
      { numRuns: 1000 },
    );
  });

  it('limits the number of warnings', () => {
    const same = Array.from({ length: 20_000 }, () => 'p');
    expect(overlappingPathWarnings(volume(same))).toHaveLength(MAX_WARNINGS);
  });

  it('trims a path of slashes in linear time', () => {
    const long = `a${'/'.repeat(1_000_000)}b`;
    expect(overlappingPathWarnings(volume([long, long]))).toHaveLength(1);
  });
});
