import type { ApiObject } from '../../src/server/index.ts';

// The places and the objects of the scenarios.
const inDefault = { apiVersion: 'v1', namespace: 'default' };
export const configMaps = { ...inDefault, resource: 'configmaps' };
export const secrets = { ...inDefault, resource: 'secrets' };
export const services = { ...inDefault, resource: 'services' };
export const pods = { ...inDefault, resource: 'pods' };
export const deployments = { ...inDefault, apiVersion: 'apps/v1', resource: 'deployments' };
export const replicaSets = { ...deployments, resource: 'replicasets' };
const nodes = { apiVersion: 'v1', resource: 'nodes' };

/** An object in the namespace `default`, with further metadata and its other members. */
function objectOf(apiVersion: string, kind: string, name: string, members: object, metadata: object = {}): ApiObject {
  return { apiVersion, kind, metadata: { name, namespace: 'default', ...metadata }, ...members };
}

export const configMap = (name: string, data: { readonly [key: string]: string } = {}, metadata?: object): ApiObject =>
  objectOf('v1', 'ConfigMap', name, { data }, metadata);

export const secret = (name: string, stringData: { readonly [key: string]: string }): ApiObject =>
  objectOf('v1', 'Secret', name, { stringData });

export const service = (name: string, spec: object): ApiObject => objectOf('v1', 'Service', name, { spec });

/** A pod with two containers. */
export const pod = (name: string, spec: object = {}, metadata?: object): ApiObject => {
  const containers = ['main', 'side'].map((container) => ({ name: container, image: 'i' }));
  return objectOf('v1', 'Pod', name, { spec: { containers, ...spec } }, metadata);
};

const workloadSpec = (name: string) => ({
  replicas: 1,
  selector: { matchLabels: { app: name } },
  template: {
    metadata: { labels: { app: name } },
    spec: { containers: [{ name: 'web', image: 'web:1', args: ['--verbose'] }] },
  },
});

/** A deployment of one container. */
export const deployment = (name: string): ApiObject =>
  objectOf('apps/v1', 'Deployment', name, { spec: workloadSpec(name) });

export const replicaSet = (name: string, metadata: object): ApiObject =>
  objectOf('apps/v1', 'ReplicaSet', name, { spec: workloadSpec(name) }, metadata);

/** The metadata of a dependent. */
export const ownedBy = ({ apiVersion, kind, metadata: { name = '', uid = '' } }: ApiObject): object => ({
  ownerReferences: [{ apiVersion, kind, name, uid, controller: true }],
});

/** The node of an agent that listens at a port of this machine, with its place. */
export const agentNode = (name: string, port: number): readonly [place: typeof nodes, node: ApiObject] => {
  const addresses = [{ type: 'InternalIP', address: '127.0.0.1' }];
  const status = { addresses, daemonEndpoints: { kubeletEndpoint: { Port: port } } };
  return [nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name }, status } as ApiObject];
};
