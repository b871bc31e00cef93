import { expect, test } from 'vitest';
import { formerGates } from './feature-history.ts';
import { featureList } from './features.ts';
import { apiRelease } from './release.ts';

test('the gates of former releases are gates of this server', () => {
  const known = new Set(featureList.map(([name]) => name));
  const former = [31, 32].flatMap((minor) => [...formerGates({ major: 1, minor }).keys()]);
  expect(former.length).toBeGreaterThan(90);
  expect(former.filter((name) => !known.has(name))).toEqual([]);
});

test('the latest release has its own gates', () => {
  expect(formerGates(apiRelease).size).toBe(0);
});
