import { describe, expect, it } from 'vitest';
import { apply } from '../../merge/testing/strategic.ts';
import type { Json, JsonObject } from '../../meta/index.ts';
import type { StructSchema } from '../../schema/index.ts';
import * as types from '../../types/index.ts';
import { mergeKeys, patchLocally } from './local-patch.ts';

/** The lists of the built-in types that merge: `field key`. */
function declaredKeys(): Set<string> {
  const found = new Set<string>();
  for (const group of Object.values(types) as { readonly [name: string]: unknown }[]) {
    for (const type of Object.values(group)) {
      const { fields } = type as Partial<StructSchema>;
      for (const [name, { patchStrategy = '', patchMergeKey = '' }] of Object.entries(fields ?? {})) {
        if (patchStrategy.includes('merge')) found.add(`${name} ${patchMergeKey}`);
      }
    }
  }
  return found;
}

it('the merge keys are those that the built-in types declare', () => {
  const known = Object.entries(mergeKeys).map(([field, key]) => `${field} ${key}`);
  // Ports of containers and of services have different keys, and the rules of a schema are no part of an object.
  const others = ['ports containerPort', 'ports port'];
  expect([...declaredKeys()].filter((each) => !each.startsWith('x-')).sort()).toEqual([...known, ...others].sort());
});

const deployment: JsonObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', labels: { a: '1' }, finalizers: ['a/b', 'c/d'] },
  spec: {
    replicas: 1,
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } },
    template: {
      spec: {
        containers: [
          { name: 'main', image: 'a', args: ['x'], ports: [{ containerPort: 80 }], env: [{ name: 'A', value: '1' }] },
          { name: 'side', image: 'b' },
        ],
        tolerations: [{ key: 'x' }],
      },
    },
  },
};

const containers = (...items: Json[]): JsonObject => ({ spec: { template: { spec: { containers: items } } } });

describe('a strategic merge patch', () => {
  it.each<[string, JsonObject]>([
    ['sets, adds and removes fields', { metadata: { labels: { a: null, b: '2' } }, spec: { replicas: 3 } }],
    ['merges items of their merge key', containers({ name: 'side', image: 'c' })],
    [
      'puts new items where the server puts them',
      containers({ name: 'new', image: 'n' }, { name: 'side', image: 'c' }),
    ],
    ['removes items', containers({ name: 'side', $patch: 'delete' })],
    ['replaces lists', containers({ $patch: 'replace' }, { name: 'only', image: 'o' })],
    [
      'merges lists inside of lists',
      containers({ name: 'main', ports: [{ containerPort: 81 }], env: [{ name: 'B' }] }),
    ],
    ['replaces lists without a merge key', containers({ name: 'main', args: ['y'] })],
    ['replaces atomic lists', { spec: { template: { spec: { tolerations: [{ key: 'y' }] } } } }],
    ['adds scalars to lists', { metadata: { finalizers: ['e/f', 'a/b'] } }],
    ['removes scalars', { metadata: { '$deleteFromPrimitiveList/finalizers': ['a/b'] } }],
    ['keeps the named fields alone', { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } }],
    ['replaces objects', { spec: { strategy: { $patch: 'replace', type: 'Recreate' } } }],
    [
      'orders items as the patch says',
      {
        spec: {
          template: {
            spec: {
              '$setElementOrder/containers': [{ name: 'side' }, { name: 'main' }],
              containers: [{ name: 'side' }],
            },
          },
        },
      },
    ],
  ])('%s, as the server does', (_, patch) => {
    expect(patchLocally(deployment, 'strategic', patch)).toEqual(
      apply(deployment, patch, types.appsV1.Deployment as StructSchema),
    );
  });

  it('needs the merge key of each item', () => {
    expect(() => patchLocally(deployment, 'strategic', containers({ image: 'c' }))).toThrow(
      /does not contain declared merge key: name/,
    );
  });

  it('is none for custom types', () => {
    expect(() => patchLocally({ apiVersion: 'example.com/v1', kind: 'Booking' }, 'strategic', {})).toThrow(
      'custom types have no strategic merge patch: use --type=merge for Booking',
    );
  });
});

it('a JSON patch that does not apply says why', () => {
  const patch = [{ op: 'remove', path: '/data/zz' }];
  expect(() => patchLocally({ data: {} }, 'json', patch)).toThrow(
    "error in remove for path: '/data/zz': Unable to remove nonexistent key: zz: missing value",
  );
});
