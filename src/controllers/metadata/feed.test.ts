import { describe, expect, it } from 'vitest';
import type { Kind } from '../shared/kind.ts';
import * as kinds from '../shared/kinds.ts';
import { testCluster } from '../testing/cluster.ts';
import type { Controller } from '../types.ts';
import type { MetadataFeed } from './feed.ts';

/** A controller that notes what the feed tells. */
function recorder() {
  const messages: string[] = [];
  let feed: MetadataFeed | undefined;
  const controller: Controller = {
    name: 'recorder',
    account: 'recorder',
    start({ metadata }) {
      feed = metadata;
      metadata.subscribe({
        changed: (type, object, { resource }) => {
          expect(Object.keys(object)).not.toContain('managedFields');
          messages.push(`${type} ${resource} ${object.name} ${(object.finalizers ?? []).join()}`.trimEnd());
        },
        listed: ({ resource }) => messages.push(`listed ${resource}`),
        dropped: ({ resource }) => messages.push(`dropped ${resource}`),
      });
    },
  };
  return { controller, messages, feed: () => feed };
}

const definitions: Kind = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  resource: 'customresourcedefinitions',
  namespaced: false,
};
const version = (name: string, more: { served: boolean; storage: boolean }) => ({
  name,
  ...more,
  schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
});
const definition = {
  apiVersion: definitions.apiVersion,
  kind: definitions.kind,
  metadata: { name: 'nests.gc.example.com' },
  spec: {
    group: 'gc.example.com',
    names: { plural: 'nests', singular: 'nest', kind: 'Nest', listKind: 'NestList' },
    scope: 'Namespaced',
    versions: [version('v1', { served: true, storage: true }), version('v2', { served: true, storage: false })],
  },
};
const nests: Kind = { apiVersion: 'gc.example.com/v1', kind: 'Nest', resource: 'nests', namespaced: true };

describe('the metadata feed', () => {
  it('reports the objects of every resource except events, each in one version', async () => {
    const { controller, messages, feed } = recorder();
    const cluster = await testCluster([controller]);
    try {
      const listed = messages.filter((line) => line.startsWith('listed ')).map((line) => line.slice(7));
      expect(new Set(listed).size).toBe(listed.length);
      expect(listed).toEqual(
        expect.arrayContaining(['configmaps', 'deployments', 'clusterroles', 'namespaces', 'leases']),
      );
      expect(listed).not.toContain('events');
      expect(listed).not.toContain('componentstatuses');
      expect(messages).toContain('ADDED namespaces kube-system');
      const { find } = feed()?.served ?? {};
      expect(find?.('autoscaling/v1', 'HorizontalPodAutoscaler')?.resource).toBe('horizontalpodautoscalers');
      expect(find?.('autoscaling/v0', 'HorizontalPodAutoscaler')).toBeUndefined();

      messages.length = 0;
      const metadata = { namespace: 'default', name: 'one', finalizers: ['example.com/hold'] };
      await cluster.client.kind(kinds.configMaps).create({ metadata });
      await cluster.settle();
      await cluster.client.kind(kinds.configMaps).patch(metadata, 'merge', { metadata: { finalizers: null } });
      await cluster.settle();
      await cluster.client.kind(kinds.configMaps).delete(metadata);
      await cluster.settle();
      expect(messages).toEqual([
        'ADDED configmaps one example.com/hold',
        'MODIFIED configmaps one',
        'DELETED configmaps one',
      ]);
    } finally {
      await cluster.close();
    }
  });

  it('follows custom types as they come, change their versions and go', async () => {
    const { controller, messages } = recorder();
    const cluster = await testCluster([controller]);
    const ofNests = () => messages.splice(0).filter((line) => line.includes(' nests') && !line.includes('nests.'));
    try {
      const { client } = cluster;
      await client.kind(definitions).create(definition);
      await cluster.settle();
      await client.kind(nests).create({
        apiVersion: 'gc.example.com/v1',
        kind: 'Nest',
        metadata: { namespace: 'default', name: 'a' },
      });
      await cluster.settle();
      expect(ofNests()).toEqual(['listed nests', 'ADDED nests a']);

      const versions = [
        version('v1', { served: true, storage: true }),
        version('v2', { served: false, storage: false }),
      ];
      await client.kind(definitions).patch(definition.metadata, 'merge', { spec: { versions } });
      await cluster.settle();
      expect(ofNests()).toEqual(['ADDED nests a', 'listed nests']);

      await client.kind(definitions).delete(definition.metadata);
      await cluster.settle();
      expect(ofNests()).toEqual(['DELETED nests a', 'dropped nests']);
    } finally {
      await cluster.close();
    }
  });
});
