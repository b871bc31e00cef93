import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject } from '../../src/meta/index.ts';
import type { Answer, RunningServer } from './server.ts';

/*
 * Work for controllers that takes them a while, with a single correct outcome however often they are interrupted: a
 * rollout, scaling, a stateful set, the deletion of a namespace, and deletions of owners with each propagation policy.
 */

/** A request of a user, to be repeated until it is answered. */
export interface Step {
  readonly method: 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: JsonObject;
}

type Policy = 'Background' | 'Foreground' | 'Orphan';

const core = '/api/v1/namespaces/work';
const apps = '/apis/apps/v1/namespaces/work';
const group = 'disturbed.example.com';
const things = `/apis/${group}/v1/namespaces/work/things`;
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** Owners, each with the number of its dependents. */
const dependents = 48;
const owners: readonly { readonly name: string; readonly isCustom: boolean; readonly policy: Policy }[] = [
  { name: 'background', isCustom: false, policy: 'Background' },
  { name: 'foreground', isCustom: false, policy: 'Foreground' },
  { name: 'orphan', isCustom: false, policy: 'Orphan' },
  { name: 'custom-background', isCustom: true, policy: 'Background' },
  { name: 'custom-foreground', isCustom: true, policy: 'Foreground' },
];

interface Dependent {
  readonly name: string;
  readonly isCustom: boolean;
  /** It blocks the foreground deletion of its owner. */
  readonly blocks: boolean;
  /** It has another owner, which stays. */
  readonly isShared: boolean;
  /** It has a dependent of its own. */
  readonly isOwner: boolean;
}

const dependentsOf = (owner: string): Dependent[] =>
  Array.from({ length: dependents }, (_, i) => ({
    name: `${owner}-${i}`,
    isCustom: i % 2 === 0,
    blocks: i % 4 < 2,
    isShared: i % 5 === 0,
    isOwner: i % 6 === 0,
  }));

const container = (version: number) => ({ name: 'main', image: `example.com/app:${version}` });
const workload = (kind: string, name: string, replicas: number, part: JsonObject = {}) => ({
  kind,
  metadata: { name },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [container(1)] } },
    ...part,
  },
});
const create = (path: string, body: JsonObject): Step => ({ method: 'POST', path, body });
const patch = (path: string, spec: JsonObject): Step => ({ method: 'PATCH', path, body: { spec } });
const image = (version: number) => ({ template: { spec: { containers: [container(version)] } } });
const remove = (name: string): Step => {
  const owner = owners.find((one) => one.name === name);
  const path = owner?.isCustom === true ? `${things}/${name}` : `${core}/configmaps/${name}`;
  return { method: 'DELETE', path: `${path}?propagationPolicy=${owner?.policy ?? 'Background'}` };
};

/** The user's steps while the controllers are disturbed. */
export const steps: readonly Step[] = [
  create(`${apps}/deployments`, workload('Deployment', 'web', 3)),
  create(`${apps}/replicasets`, workload('ReplicaSet', 'many', 2)),
  create(`${apps}/statefulsets`, workload('StatefulSet', 'db', 2, { serviceName: 'db' })),
  patch(`${apps}/replicasets/many`, { replicas: 20 }),
  remove('background'),
  patch(`${apps}/deployments/web`, image(2)),
  remove('foreground'),
  patch(`${apps}/deployments/web`, { replicas: 8 }),
  remove('orphan'),
  patch(`${apps}/statefulsets/db`, { replicas: 3, ...image(2) }),
  remove('custom-foreground'),
  { method: 'DELETE', path: '/api/v1/namespaces/doomed' },
  patch(`${apps}/deployments/web`, image(3)),
  remove('custom-background'),
  patch(`${apps}/replicasets/many`, { replicas: 12 }),
];

/** Makes the request of a step. @throws Error when there is no answer, or one that says that it cannot be done */
export async function take(server: RunningServer, { method, path, body }: Step): Promise<void> {
  const headers = method === 'PATCH' ? { 'content-type': 'application/strategic-merge-patch+json' } : {};
  const { status, text } = await server.request(method, path, body, headers);
  const isDone = status < 300 || (method === 'POST' && status === 409) || (method === 'DELETE' && status === 404);
  if (!isDone) throw new Error(`${method} ${path}: ${status} ${text}`);
}

/** Creates what the steps are about. */
export async function prepare(server: RunningServer): Promise<void> {
  const post = async (path: string, body: JsonObject): Promise<Answer['body']> => {
    const { status, text, body: created } = await server.request('POST', path, body);
    if (status !== 201) throw new Error(`POST ${path}: ${status} ${text}`);
    return created;
  };
  for (const name of ['work', 'doomed']) await post('/api/v1/namespaces', { metadata: { name } });
  const names = { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' };
  const schema = { openAPIV3Schema: { type: 'object' } };
  const versions = [{ name: 'v1', served: true, storage: true, schema }];
  await post(definitions, {
    metadata: { name: `things.${group}` },
    spec: { group, names, scope: 'Namespaced', versions },
  });
  while ((await server.request('GET', things)).status !== 200) await sleep(20);
  const object = (isCustom: boolean, name: string, ownerReferences: JsonObject[] = []) => {
    const kind = isCustom ? { apiVersion: `${group}/v1`, kind: 'Thing' } : {};
    return post(isCustom ? things : `${core}/configmaps`, { ...kind, metadata: { name, ownerReferences } });
  };
  const reference = ({ apiVersion, kind, metadata: { name, uid } }: Answer['body'], blockOwnerDeletion = false) => ({
    apiVersion,
    kind,
    name,
    uid,
    blockOwnerDeletion,
  });
  const stays = reference(await object(false, 'stays'));
  for (const { name, isCustom } of owners) {
    const owner = await object(isCustom, name);
    await Promise.all(
      dependentsOf(name).map(async (dependent) => {
        const references = [reference(owner, dependent.blocks), ...(dependent.isShared ? [stays] : [])];
        const created = await object(dependent.isCustom, dependent.name, references);
        if (dependent.isOwner) await object(!dependent.isCustom, `${dependent.name}-own`, [reference(created, true)]);
      }),
    );
  }
  const doomed = '/api/v1/namespaces/doomed/configmaps';
  await Promise.all(Array.from({ length: 30 }, (_, i) => post(doomed, { metadata: { name: `gone-${i}` } })));
}

/** The objects with owners or dependents that outlive the steps: the names of their owners, by their own names. */
const survivors: { readonly [name: string]: readonly string[] } = Object.fromEntries([
  ['kube-root-ca.crt', []],
  ['stays', []],
  ...owners.flatMap(({ name: owner, policy }) =>
    dependentsOf(owner)
      .filter(({ isShared }) => isShared || policy === 'Orphan')
      .flatMap(({ name, isShared, isOwner }) => [
        [name, isShared ? ['stays'] : []],
        ...(isOwner ? [[`${name}-own`, [name]]] : []),
      ]),
  ),
]) as { [name: string]: string[] };

const itemsOf = async (server: RunningServer, path: string): Promise<Answer['body'][]> => {
  const { status, body } = await server.request('GET', path);
  if (status !== 200) throw new Error(`GET ${path}: ${status}`);
  return body.items;
};

async function owned(server: RunningServer): Promise<Answer['body'][]> {
  return [...(await itemsOf(server, `${core}/configmaps`)), ...(await itemsOf(server, things))];
}

/** Forbidden states: an object that lives is absent, or an owner went before dependents that block it. */
export async function violations(server: RunningServer): Promise<string[]> {
  const configMaps = await itemsOf(server, `${core}/configmaps`);
  const before = new Set([...configMaps, ...(await itemsOf(server, things))].map(({ metadata }) => metadata.name));
  const absent = Object.keys(survivors).filter((name) => name !== 'kube-root-ca.crt' && !before.has(name));
  const left = new Set(owners.filter(({ name, policy }) => policy === 'Foreground' && !before.has(name)));
  const early = (await owned(server)).filter(({ metadata: { ownerReferences = [] } }) =>
    ownerReferences.some(({ name, blockOwnerDeletion }: Answer['body']) => {
      return blockOwnerDeletion === true && [...left].some((owner) => owner.name === name);
    }),
  );
  return [...absent, ...early.map(({ metadata }) => `${metadata.name} blocks an owner that is gone`)];
}

/** The state, as far as the steps decide it. */
export async function stateOf(server: RunningServer): Promise<object> {
  const [pods, sets, objects] = await Promise.all([
    itemsOf(server, `${core}/pods`),
    itemsOf(server, `${apps}/replicasets`),
    owned(server),
  ]);
  const controllerOf = ({ metadata }: Answer['body']) =>
    metadata.ownerReferences?.find(({ controller }: Answer['body']) => controller === true)?.name;
  const ofWeb = sets.filter((set) => controllerOf(set) === 'web');
  const current = ofWeb.filter(({ spec }) => spec.replicas > 0).map(({ metadata }) => metadata.name);
  const isReady = ({ metadata, status }: Answer['body']) =>
    metadata.deletionTimestamp === undefined &&
    status.conditions?.some((one: Answer['body']) => one.type === 'Ready' && one.status === 'True');
  const podsOf = (controller: string) => {
    const found = pods.filter((pod) => controllerOf(pod) === controller);
    return {
      images: found.map(({ spec }) => spec.containers[0].image.at(-1)).join(''),
      ready: found.filter(isReady).length,
    };
  };
  const controllers = [current[0], 'many', 'db'];
  const isOdd = (pod: Answer['body']) => !isReady(pod) || !controllers.includes(controllerOf(pod));
  const statusOf = async (path: string, ...fields: string[]) => {
    const { metadata, status } = (await server.request('GET', `${apps}/${path}`)).body;
    return [status.observedGeneration === metadata.generation, ...fields.map((field) => status[field] ?? 0)];
  };
  const images = ofWeb.map(({ spec }) => spec.template.spec.containers[0].image);
  return {
    doomed: (await server.request('GET', '/api/v1/namespaces/doomed')).status,
    web: await statusOf('deployments/web', 'replicas', 'updatedReplicas', 'availableReplicas'),
    webSets: { current: current.length, alike: images.length - new Set(images).size },
    webPods: podsOf(current[0]),
    many: await statusOf('replicasets/many', 'replicas', 'readyReplicas'),
    manyPods: podsOf('many'),
    db: await statusOf('statefulsets/db', 'replicas', 'updatedReplicas', 'readyReplicas'),
    dbPods: podsOf('db'),
    otherPods: pods.filter(isOdd).map(({ metadata, spec, status }) => ({
      metadata: { ...metadata, managedFields: undefined },
      nodeName: spec.nodeName,
      status,
    })),
    objects: Object.fromEntries(
      objects.map(({ metadata: { name, deletionTimestamp, ownerReferences = [] } }) => [
        name,
        [
          ...ownerReferences.map((owner: Answer['body']) => owner.name),
          ...(deletionTimestamp === undefined ? [] : ['deleted']),
        ],
      ]),
    ),
  };
}

/** The state that the steps lead to. */
export const outcome = {
  doomed: 404,
  web: [true, 8, 8, 8],
  webSets: { current: 1, alike: 0 },
  webPods: { images: '33333333', ready: 8 },
  many: [true, 12, 12],
  manyPods: { images: '111111111111', ready: 12 },
  db: [true, 3, 3, 3],
  dbPods: { images: '222', ready: 3 },
  otherPods: [],
  objects: survivors,
};

/** Resolves when the garbage collector has done all that it knew of when this was called. */
export async function collected(server: RunningServer): Promise<void> {
  const path = `${core}/secrets`;
  const { body: owner } = await server.request('POST', path, { metadata: { name: 'last-owner' } });
  const { metadata } = owner;
  const ownerReferences = [{ apiVersion: 'v1', kind: 'Secret', name: metadata.name, uid: metadata.uid }];
  await server.request('POST', path, { metadata: { name: 'last', ownerReferences } });
  await server.request('DELETE', `${path}/last-owner`);
  while ((await server.request('GET', `${path}/last`)).status !== 404) await sleep(50);
}
