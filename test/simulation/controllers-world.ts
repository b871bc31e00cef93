import type { SimulatedContext, SimulatedOperation, WorldObject } from '../../src/server/harness/index.ts';
import type { OwnWorld } from '../../src/server/harness/simulation/world.ts';
import type { ApiObject } from '../../src/server/index.ts';

/*
 * The world in which the project tests controllers, quotas and allocations: clients write deployments, owners with dependents,
 * services from small ranges, objects under a quota, and namespaces.
 */

const namespace = 'work';
const limit = 4;

const nameOf = ({ random }: SimulatedContext, prefix: string, count: number): string =>
  `${prefix}-${random.integer(count)}`;

const core = (resource: string, of?: string) => ({
  apiVersion: 'v1',
  resource,
  ...(of === undefined ? {} : { namespace: of }),
});
const deployments = { apiVersion: 'apps/v1', resource: 'deployments', namespace };
const policies = ['Background', 'Foreground', 'Orphan'] as const;

const deploymentOf = (name: string, replicas: number, release: number): ApiObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: '100%' } },
    template: {
      metadata: { labels: { app: name }, annotations: { release: String(release) } },
      spec: { containers: [{ name: 'main', image: 'image' }] },
    },
  },
});

const configMap = (metadata: ApiObject['metadata']): ApiObject => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata });

const operations: { readonly [name: string]: SimulatedOperation } = {
  deploy: (context) => {
    const { client, random } = context;
    const name = nameOf(context, 'web', 2);
    const object = deploymentOf(name, random.integer(3), random.integer(2));
    return client.apply({ ...deployments, name }, object, { fieldManager: context.name, force: true });
  },
  undeploy: (context) => {
    const place = { ...deployments, name: nameOf(context, 'web', 2) };
    return context.client.delete(place, { propagationPolicy: context.random.pick(policies) });
  },
  own: async (context) => {
    const name = nameOf(context, 'owner', 2);
    context.memory.set(name, await context.client.create(core('secrets', namespace), secret(name)));
  },
  depend: async (context) => {
    // The client's view of the owner is often out of date: it may be gone, and another one may have its name.
    const { client, random, memory } = context;
    const name = nameOf(context, 'owner', 2);
    if (random.chance(0.5)) memory.set(name, await client.get({ ...core('secrets', namespace), name }));
    const uid = (memory.get(name) as ApiObject | undefined)?.metadata.uid;
    if (uid === undefined) return;
    const owner = { apiVersion: 'v1', kind: 'Secret', name, uid, blockOwnerDeletion: random.chance(0.5) };
    const metadata = { generateName: 'dependent-', ownerReferences: [owner] };
    await client.create(core('configmaps', namespace), configMap(metadata));
  },
  disown: (context) => {
    const place = { ...core('secrets', namespace), name: nameOf(context, 'owner', 2) };
    return context.client.delete(place, { propagationPolicy: context.random.pick(policies) });
  },
  serve: (context) => {
    const name = nameOf(context, 'service', 6);
    const spec = { type: context.random.pick(['ClusterIP', 'NodePort']), ports: [{ port: 80 }] };
    return context.client.create(core('services', namespace), {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name },
      spec,
    });
  },
  unserve: (context) => context.client.delete({ ...core('services', namespace), name: nameOf(context, 'service', 6) }),
  claim: (context) =>
    context.client.create(core('configmaps', 'limited'), configMap({ name: nameOf(context, 'claim', 8) })),
  unclaim: (context) => context.client.delete({ ...core('configmaps', 'limited'), name: nameOf(context, 'claim', 8) }),
  open: async (context) => {
    const name = nameOf(context, 'space', 2);
    await context.client.create(core('namespaces'), namespaceOf(name)).catch(() => {});
    await context.client.create(core('configmaps', name), configMap({ generateName: 'item-' }));
  },
  close: (context) => context.client.delete({ ...core('namespaces'), name: nameOf(context, 'space', 2) }),
};

const secret = (name: string): ApiObject => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name } });
const namespaceOf = (name: string): ApiObject => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });

interface Templated {
  readonly template: { readonly metadata: { readonly annotations?: { readonly [name: string]: string } } };
}

interface Replicated {
  readonly spec?: { readonly replicas?: number };
}

/** A world with controllers: a new one for each run. */
export function controllersWorld(parts: Partial<OwnWorld> = {}): OwnWorld {
  return {
    servers: 2,
    clients: 3,
    operations,
    options: {
      controllers:
        'garbage-collector-controller,namespace-controller,resourcequota-controller,deployment-controller,replicaset-controller',
      serviceClusterIpRange: '10.0.0.0/28',
      serviceNodePortRange: '30000-30003',
      objects: [
        namespaceOf(namespace),
        namespaceOf('limited'),
        {
          apiVersion: 'v1',
          kind: 'ResourceQuota',
          metadata: { name: 'limit', namespace: 'limited' },
          spec: { hard: { 'count/configmaps': String(limit) } },
        },
      ],
    },
    duration: '8s',
    operationEvery: 100,
    faultEvery: '1s',
    invariants: {
      'a template of a deployment has one replica set': (state, { resource, after }) => {
        if (resource !== 'replicasets.apps' || after?.metadata.ownerReferences === undefined) return;
        const identity = ({ metadata, spec }: WorldObject) =>
          JSON.stringify([
            metadata.ownerReferences?.[0]?.uid,
            (spec as unknown as Templated).template.metadata.annotations,
          ]);
        const others = state.list('replicasets.apps', namespace).filter((set) => identity(set) === identity(after));
        if (others.length > 1) return others.map(({ metadata }) => metadata.name).join(' and ');
        return;
      },
    },
    atRest: {
      'deployments have their pods': (state) => {
        for (const deployment of state.list('deployments.apps', namespace)) {
          const { name, uid } = deployment.metadata;
          const replicas = (deployment as Replicated).spec?.replicas ?? 1;
          const ofOwner = (resource: string, owner?: string) =>
            state
              .list(resource, namespace)
              .filter(({ metadata }) => metadata.ownerReferences?.some((reference) => reference.uid === owner));
          const active = ofOwner('replicasets.apps', uid).filter((set) => (set as Replicated).spec?.replicas !== 0);
          const pods = active.flatMap(({ metadata }) => ofOwner('pods', metadata.uid));
          if (active.length > 1) return `${name} has ${active.length} active replica sets`;
          if (pods.length !== replicas) return `${name} has ${pods.length} of ${replicas} pods`;
        }
        return undefined;
      },
    },
    ...parts,
  };
}
