import type { SimulatedWorld } from '../../src/server/harness/index.ts';

const deployment = (name: string, replicas: number, labels = { app: name }) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace: 'default' },
  spec: {
    replicas,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web' }] } },
  },
});

/** Three servers with all controllers and fake nodes, on which a client scales deployments: an hour without faults. */
export const hourWorld: SimulatedWorld = {
  servers: 3,
  clients: 1,
  options: { controllers: '*', fakeNodes: 2 },
  operations: {
    scale: ({ client, random }) => {
      const object = deployment(`web-${random.integer(3)}`, random.integer(5));
      const place = {
        apiVersion: 'apps/v1',
        resource: 'deployments',
        namespace: 'default',
        name: object.metadata.name,
      };
      return client.apply(place, object, { fieldManager: 'hour', force: true });
    },
  },
  duration: '1h',
  operationEvery: '10s',
  faults: [],
  atRest: {
    'every deployment has its replicas': (state) =>
      state.list('deployments.apps').every(({ spec, status }) => {
        const { replicas: wanted } = spec as { readonly replicas: number };
        return ((status as { readonly readyReplicas?: number }).readyReplicas ?? 0) === wanted;
      }),
  },
};
