import type { Answer } from '../client.ts';
import { asAdmin, configMaps, hold, type Scenario } from './scenario.ts';

/** Writes of large objects, which take long after their bodies have been decoded. */

/** Checks that a write was carried out or refused. Objects that are returned are large. */
function answered(what: string, { status }: Answer): void {
  hold(status >= 200 && status < 500, `${what} is answered with ${status}`);
}

const range = (length: number): readonly number[] => Array.from({ length }, (_, i) => i);
const members = <T>(count: number, value: (i: number) => T): object =>
  Object.fromEntries(range(count).map((i) => [`k${i}`, value(i)]));

const apply = 'application/apply-patch+yaml';
const merge = 'application/merge-patch+json';
const strategic = 'application/strategic-merge-patch+json';

const types = { apiVersion: 'v1', kind: 'ConfigMap' };
const pods = '/api/v1/namespaces/default/pods';
const roles = '/apis/rbac.authorization.orch.io/v1/namespaces/default/roles';

/** Objects of many parts, by their collection. */
const manyParts = (size: number): readonly (readonly [collection: string, object: object])[] => {
  const metadata = { name: 'parts' };
  const container = { name: 'c', image: 'i' };
  const volumes = range(size / 6).map((i) => ({ name: `v${i}`, emptyDir: {} }));
  const env = range(size / 4).map((i) => ({ name: `E${i}`, value: 'v' }));
  const limits = Object.fromEntries(range(size / 2).map((i) => [`example.com/r${i}`, '1']));
  const owners = range(size / 4).map((i) => ({ apiVersion: 'v1', kind: 'Pod', name: `p${i}`, uid: `u${i}` }));
  return [
    [configMaps, { metadata, data: members(size, (i) => `v${i}`) }],
    ['/api/v1/namespaces/default/secrets', { metadata, data: members(size, () => 'eA==') }],
    [configMaps, { metadata: { name: 'owned', ownerReferences: owners } }],
    [configMaps, { metadata: { name: 'labelled', labels: members(size, () => 'v') } }],
    [pods, { metadata, spec: { containers: [container], volumes } }],
    [pods, { metadata: { name: 'env' }, spec: { containers: [{ ...container, env }] } }],
    [pods, { metadata: { name: 'limits' }, spec: { containers: [{ ...container, resources: { limits } }] } }],
    [
      roles,
      { metadata, rules: range(size / 3).map((i) => ({ verbs: ['get'], apiGroups: [''], resources: [`r${i}`] })) },
    ],
  ];
};

const manyPartsScenario: Scenario = {
  name: 'objects-of-many-parts',
  title: 'the validation, comparison and encoding of a large object keep no other client waiting',
  attack: async ({ client, full }) => {
    const size = full ? 60_000 : 30_000;
    for (const [collection, object] of manyParts(size)) {
      answered(`creating in ${collection}`, await client.http1(asAdmin('POST', collection, object)));
    }
    const path = `${configMaps}/parts`;
    const changed = { ...types, metadata: { name: 'parts' }, data: members(size, (i) => `w${i}`) };
    answered('replacing', await client.http1(asAdmin('PUT', path, changed)));
    for (const type of [merge, strategic]) {
      answered(type, await client.http1(asAdmin('PATCH', path, { data: members(size, (i) => `${type}${i}`) }, type)));
    }
    for (const manager of ['one', 'two', 'one']) {
      const url = `${path}?fieldManager=${manager}&force=true`;
      answered('applying', await client.http1(asAdmin('PATCH', url, JSON.stringify(changed), apply)));
    }
  },
};

const contested: Scenario = {
  name: 'contested-large-object',
  title: 'many patches of one large object make progress without keeping another client waiting',
  attack: async ({ client, full }) => {
    const size = full ? 20_000 : 8_000;
    const object = { metadata: { name: 'contested' }, data: members(size, () => 'v') };
    answered('creating', await client.http1(asAdmin('POST', configMaps, object)));
    const path = `${configMaps}/contested`;
    const patches = range(full ? 60 : 10).map(async (i) => {
      const patch = { metadata: { annotations: { [`a${i}`]: 'yes' } } };
      answered('patching', await client.http1(asAdmin('PATCH', path, patch, merge)));
    });
    await Promise.all(patches);
  },
};

export const writeScenarios: readonly Scenario[] = [manyPartsScenario, contested];
