import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../meta/index.ts';
import { onCreate, onUpdate, type Row, sorted } from '../testing/kind.ts';
import { immutable, invalid, missing, required, says } from '../testing/messages.ts';
import { leaseCandidates } from './lease-candidates.ts';
import { compareSemver, parseSemver } from './semver.ts';

const candidate = (more: JsonObject = {}) => ({
  spec: {
    leaseName: 'l',
    binaryVersion: '1.33.0',
    emulationVersion: '1.32.0',
    strategy: 'OldestEmulationVersion',
    ...more,
  },
});
const noRelease = 'must be a valid semantic version';

describe('lease candidates', () => {
  const rows: readonly Row[] = [
    ['a candidate', candidate()],
    [
      'an empty spec',
      { spec: {} },
      ['spec.binaryVersion', 'Required', missing],
      ['spec.leaseName', 'Required', missing],
      ['spec.strategy', 'Required', missing],
    ],
    [
      'invalid versions',
      candidate({ binaryVersion: 'v1.33', emulationVersion: '1.02.0' }),
      ['spec.binaryVersion', 'Invalid', invalid('v1.33', noRelease)],
      ['spec.emulationVersion', 'Invalid', invalid('1.02.0', noRelease)],
    ],
    [
      'an emulation version above the binary version',
      candidate({ emulationVersion: '1.34.0' }),
      ['spec.binaryVersion', 'Invalid', invalid('1.33.0', 'must be greater than or equal to `emulationVersion`')],
    ],
    [
      'no emulation version with OldestEmulationVersion',
      candidate({ emulationVersion: '' }),
      ['spec.emulationVersion', 'Required', required("must be specified when `strategy` is 'OldestEmulationVersion'")],
    ],
    ['a strategy with a domain', candidate({ strategy: 'example.com/s', emulationVersion: '' })],
    [
      'an invalid strategy name',
      candidate({ strategy: 'example.com/' }),
      ['spec.strategy.strategy', 'Invalid', invalid('example.com/', 'name part must be non-empty')],
      ['spec.strategy.strategy', 'Invalid', invalid('example.com/', says.qualified)],
    ],
  ];
  test.each(rows)('%s', (_, fragment, ...expected) => {
    expect(onCreate(leaseCandidates, fragment)).toEqual(sorted(expected));
  });

  test('leaseName is immutable', () => {
    expect(onUpdate(leaseCandidates, candidate(), candidate({ leaseName: 'm', binaryVersion: '1.34.0' }))).toEqual([
      ['spec.leaseName', 'Invalid', immutable('m')],
    ]);
  });
});

describe('semantic versions', () => {
  // Section 11 of Semantic Versioning 2.0.0.
  const ordered = [
    '1.0.0-alpha',
    '1.0.0-alpha.1',
    '1.0.0-alpha.beta',
    '1.0.0-beta',
    '1.0.0-beta.2',
    '1.0.0-beta.11',
    '1.0.0-rc.1',
    '1.0.0',
    '2.0.0',
    '2.1.0',
    '2.1.1',
    '10.0.0',
  ].map((text) => parseSemver(text) as NonNullable<ReturnType<typeof parseSemver>>);
  test('are ordered', () => {
    for (const [i, a] of ordered.entries()) {
      for (const [j, b] of ordered.entries()) expect(Math.sign(compareSemver(a, b))).toBe(Math.sign(i - j));
    }
  });
  test.each(['1', '1.2', '01.2.3', '1.2.3-', '1.2.3-01', '1.2.3+', 'v1.2.3', ' 1.2.3', `1.2.${'3'.repeat(300)}`])(
    'are not spelled %j',
    (text) => expect(parseSemver(text)).toBeUndefined(),
  );
  test('ignore build metadata in the order', () => {
    expect(parseSemver('1.2.3-a.1+b.01')).toEqual([
      [1n, 2n, 3n],
      ['a', '1'],
    ]);
  });
});
