import { describe, expect, test } from 'vitest';
import { allErrors, type JsonObject } from '../../meta/index.ts';
import { keyPairs } from '../testing/key-pairs.ts';
import { created, onCreate, onUpdate, type Row, sorted, testContext } from '../testing/kind.ts';
import { immutable, invalid, says } from '../testing/messages.ts';
import { clusterTrustBundles } from './cluster-trust-bundles.ts';

const [a, b] = keyPairs.map(({ certificate }) => `${certificate}\n`) as [string, string];
const bundle = (name: string, spec: JsonObject) => ({ metadata: { name }, spec: { trustBundle: a, ...spec } });
const about = (why: string) => ['spec.trustBundle', 'Invalid', invalid('<value omitted>', why)] as const;

describe('cluster trust bundles', () => {
  const rows: readonly Row[] = [
    ['a bundle without a signer', bundle('x', { trustBundle: `text\n${a}between\n${b}` })],
    ['a bundle of a signer', bundle('example.com:s:x', { signerName: 'example.com/s' })],
    [
      'the name of another signer',
      bundle('other.com:s:x', { signerName: 'example.com/s' }),
      [
        'metadata.name',
        'Invalid',
        invalid(
          'other.com:s:x',
          'ClusterTrustBundle for signerName example.com/s must be named with prefix example.com:s:',
        ),
      ],
    ],
    [
      'an empty suffix after the signer',
      bundle('example.com:s:X', { signerName: 'example.com/s' }),
      ['metadata.name', 'Invalid', invalid('example.com:s:X', says.subdomain)],
    ],
    [
      'a colon without a signer',
      bundle('a:b', {}),
      [
        'metadata.name',
        'Invalid',
        invalid('a:b', 'ClusterTrustBundle without signer name must not have ":" in its name'),
      ],
    ],
    ['no certificate', bundle('x', { trustBundle: 'text' }), about('at least one trust anchor must be provided')],
    [
      'more than 1 MiB',
      bundle('x', { trustBundle: ' '.repeat(1024 * 1024) + a }),
      ['spec.trustBundle', 'TooLong', 'Too long: may not be more than 1048576 bytes'],
    ],
    [
      'a duplicate certificate',
      bundle('x', { trustBundle: a + b + a }),
      about('duplicate trust anchor (indices [0 2])'),
    ],
    [
      'other PEM blocks',
      bundle('x', {
        trustBundle: `${a}${keyPairs[0].key}\n-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n${a.replace('-----\n', '-----\na: b\n\n')}`,
      }),
      about('entry 1 has bad block type: PRIVATE KEY'),
      about('entry 2 does not parse as X.509'),
      about('entry 3 has PEM block headers'),
    ],
  ];
  test.each(rows)('%s', (_, fragment, ...expected) => {
    expect(onCreate(clusterTrustBundles, fragment)).toEqual(sorted(expected));
  });

  test('the signer name is immutable', () => {
    const before = bundle('example.com:s:x', { signerName: 'example.com/s' });
    expect(onUpdate(clusterTrustBundles, before, bundle('example.com:s:x', { signerName: 'example.com/t' }))).toEqual(
      sorted([
        [
          'metadata.name',
          'Invalid',
          invalid(
            'example.com:s:x',
            'ClusterTrustBundle for signerName example.com/t must be named with prefix example.com:t:',
          ),
        ],
        ['spec.signerName', 'Invalid', immutable('example.com/t')],
      ]),
    );
  });

  test('an unchanged bundle is not validated again', () => {
    const odd = bundle('x', { trustBundle: 'text' });
    expect(onUpdate(clusterTrustBundles, odd, odd)).toEqual([]);
    expect(onUpdate(clusterTrustBundles, bundle('x', {}), odd)).toEqual([
      about('at least one trust anchor must be provided'),
    ]);
  });
});

test('a bundle is checked in steps of a few certificates', () => {
  const validation = () =>
    clusterTrustBundles.strategy.validate?.(
      created(clusterTrustBundles, bundle('x', { trustBundle: a.repeat(100) })),
      testContext,
    ) ?? [];
  const steps = allErrors(validation);
  let count = 0;
  let step = steps.next();
  for (; step.done !== true; step = steps.next()) count++;
  expect(count).toBeGreaterThanOrEqual(10);
  expect(step.value).toMatchObject([{ message: expect.stringContaining('duplicate trust anchor') }]);
});
