import { type Answer, type Client, shown } from '../client.ts';
import { asAdmin, hold, type Scenario } from './scenario.ts';

/** The largest objects in every verb and encoding. */

const patchTypes = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;
const protobuf = 'application/vnd.orch.protobuf';
const accepted = ['application/json', protobuf, 'application/yaml', 'application/json;as=Table;v=v1;g=meta.orch.io'];

const range = (length: number): readonly number[] => Array.from({ length }, (_, i) => i);
const members = (count: number, value: unknown): object =>
  Object.fromEntries(range(count).map((i) => [`k${i}`, value]));

const group = 'large.example.com';
const collectionOf = '/apis/large.example.com/v1/namespaces/default/wides';

/** A definition whose objects have lists and maps of structs with defaults. */
async function define(client: Client): Promise<void> {
  const text = { type: 'string' };
  const struct = { type: 'object', properties: { a: text, d: { ...text, default: 'x' } } };
  const spec = {
    type: 'object',
    properties: {
      list: { type: 'array', items: struct },
      map: { type: 'object', additionalProperties: struct },
      texts: { type: 'object', additionalProperties: text },
    },
  };
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } };
  const versions = [{ name: 'v1', served: true, storage: true, schema }];
  const given = {
    metadata: { name: `wides.${group}` },
    spec: { group, scope: 'Namespaced', names: { plural: 'wides', kind: 'Wide' }, versions },
  };
  const path = '/apis/apiextensions.orch.io/v1/customresourcedefinitions';
  answered('defining', await client.http1(asAdmin('POST', path, given)), 201);
}

/** An object: its kind, and its content, which patches send again. */
interface Large {
  readonly collection: string;
  readonly types: { readonly apiVersion: string; readonly kind: string };
  readonly content: object;
  readonly custom?: boolean;
  /** Its fields are not declared: it cannot be applied. */
  readonly undeclared?: boolean;
}

function largest(size: number): { readonly [name: string]: Large } {
  const core = (kind: string, collection: string, content: object): Large => ({
    collection: `/api/v1/namespaces/default/${collection}`,
    types: { apiVersion: 'v1', kind },
    content,
  });
  const wide = (spec: object): Large => ({
    collection: collectionOf,
    types: { apiVersion: `${group}/v1`, kind: 'Wide' },
    content: { spec },
    custom: true,
  });
  // No map may have more than 16,384 fields.
  const fields = Math.min(size, 16_000);
  const volumes = range(size / 8).map((i) => ({ name: `v${i}`, emptyDir: {} }));
  const containers = [{ name: 'c', image: 'i' }];
  return {
    'config-map': core('ConfigMap', 'configmaps', { data: members(fields, 'v') }),
    secret: core('Secret', 'secrets', { stringData: members(fields, 'v') }),
    labelled: core('ConfigMap', 'configmaps', { metadata: { name: 'labelled', annotations: members(size / 6, 'v') } }),
    pod: core('Pod', 'pods', { spec: { automountServiceAccountToken: false, containers, volumes } }),
    'struct-list': wide({ list: range(size / 2).map(() => ({ a: 'x' })) }),
    'struct-map': wide({ map: members(fields, {}) }),
    texts: wide({ texts: members(fields, 'v') }),
    unknown: { ...wide(members(fields, 'v')), undeclared: true },
  };
}

/** Checks that a request is carried out, or refused for the size of the object or, of a pod, for what changes. */
function answered(what: string, { status, body }: Answer, ...expected: readonly number[]): void {
  hold([200, 413, 422, ...expected].includes(status), `${what} is answered with ${status}: ${shown(body)}`);
}

/** Writes and reads an object in every way; with a dry run before each write if the attack is `full`. */
async function write(client: Client, name: string, large: Large, full: boolean): Promise<void> {
  const { collection, types, content, custom, undeclared } = large;
  const object = { ...types, metadata: { name }, ...content };
  const path = `${collection}/${name}`;
  const ask = async (method: string, url: string, body: unknown, type?: string) =>
    answered(`${method} ${url}`, await client.http1(asAdmin(method, url, body, type)), 201);
  const writes: (readonly [method: string, url: string, body: unknown, type?: string])[] = [
    ['POST', collection, object],
    ['PUT', path, { ...object, metadata: { ...object.metadata, labels: { a: 'b' } } }],
    ['PATCH', path, content, patchTypes.merge],
    ['PATCH', path, [{ op: 'add', path: '/metadata/labels', value: { c: 'd' } }], patchTypes.json],
  ];
  if (undeclared !== true) writes.push(['PATCH', path, object, patchTypes.apply]);
  if (custom !== true) writes.splice(3, 0, ['PATCH', path, content, patchTypes.strategic]);
  for (const [method, url, body, type] of writes) {
    const query = type === patchTypes.apply ? 'fieldManager=m&force=true' : '';
    for (const dryRun of full ? ['dryRun=All', ''] : ['']) await ask(method, `${url}?${query}&${dryRun}`, body, type);
  }
  for (const accept of accepted.filter((one) => custom !== true || one !== protobuf)) {
    for (const url of full ? [path, collection, `${path}?pretty=true`] : [path, collection]) {
      answered(`reading ${url}`, await client.http1({ user: 'admin', method: 'GET', path: url, headers: { accept } }));
    }
  }
  if (custom !== true) {
    const read = { user: 'admin', method: 'GET', path, headers: { accept: protobuf } } as const;
    await ask('PUT', path, (await client.http1(read)).body, protobuf);
  }
  await ask('DELETE', `${path}?dryRun=All`, undefined);
  await ask('DELETE', path, undefined);
}

const largestObjects: Scenario = {
  name: 'largest-objects',
  title: 'the largest objects are written and read in every way while others are served',
  attack: async ({ client, full }) => {
    await define(client);
    await client.http1(
      asAdmin('POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } }),
    );
    for (const [name, large] of Object.entries(largest(full ? 60_000 : 2_000))) await write(client, name, large, full);
  },
};

export const largeObjectScenarios: readonly Scenario[] = [largestObjects];
