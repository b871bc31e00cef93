import { describe, expect, it } from 'vitest';
import * as kinds from '../shared/kinds.ts';
import { testCluster } from '../testing/cluster.ts';
import { stepFor, ttlController } from './ttl.ts';

describe('ttl-controller', () => {
  it.each([
    [1, 0, 0],
    [100, 0, 0],
    [101, 0, 1],
    [100, 1, 1],
    [90, 1, 1],
    [89, 1, 0],
    [92, 1, 1],
    [1799, 4, 3],
    [10_000, 0, 4],
    [9_999, 4, 4],
    [0, 4, 0],
  ])('goes for %i nodes from step %i to step %i', (count, current, expected) => {
    expect(stepFor(count, current)).toBe(expected);
  });

  it('annotates every node, also when somebody else changes that', async () => {
    const cluster = await testCluster([ttlController]);
    const ttl = async () => {
      await cluster.settle();
      return (await cluster.client.kind(kinds.nodes).get({ name: 'one' })).metadata.annotations?.[
        'node.alpha.kubernetes.io/ttl'
      ];
    };
    const node = await cluster.client.kind(kinds.nodes).create({ metadata: { name: 'one' } });
    expect(await ttl()).toBe('0');
    const metadata = { annotations: { 'node.alpha.kubernetes.io/ttl': 'soon' } };
    await cluster.client.kind(kinds.nodes).patch(node.metadata, 'merge', { metadata });
    expect(await ttl()).toBe('0');
    expect(cluster.logged).toEqual([]);
    await cluster.close();
  });
});
