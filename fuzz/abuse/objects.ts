import { shown } from '../client.ts';
import { answered, asAdmin, configMaps, hold, type Scenario, succeeded, usable } from './scenario.ts';

/** Objects that are expensive to store, to read or to delete. */

const jsonPatch = 'application/json-patch+json';

function nested(depth: number): object {
  let out = {};
  for (let i = 0; i < depth; i++) out = { a: out };
  return out;
}

const definitions = '/apis/apiextensions.orch.io/v1/customresourcedefinitions';
/** The JSON pointer of a field in a custom resource definition that may hold any value. */
const example = '/spec/versions/0/schema/openAPIV3Schema/example';

/** A custom resource definition with an example of any value. */
function definition(plural: string, value: unknown): object {
  const schema = { openAPIV3Schema: { type: 'object', 'x-orch-preserve-unknown-fields': true, example: value } };
  const versions = [{ name: 'v1', served: true, storage: true, schema }];
  const kind = plural.toUpperCase();
  const spec = { group: 'example.com', scope: 'Namespaced', names: { plural, kind }, versions };
  return { metadata: { name: `${plural}.example.com` }, spec };
}

const deep = (depth: number) => '/a'.repeat(depth);
const addAt = (at: number) => ({ op: 'add', path: `${example}${deep(at)}/a`, value: nested(400) });
const steps = Array.from({ length: 40 }, (_, i) => i);
const merge = (depth: number) => ({
  spec: { versions: [{ schema: { openAPIV3Schema: { example: nested(depth) } } }] },
});

/** Sequences of patches, by what they do. */
const nestings: { readonly [name: string]: readonly (readonly [body: unknown, type: string])[] } = {
  add: steps.map((step) => [[addAt(step * 400)], jsonPatch]),
  addatonce: [[steps.map((step) => addAt(step * 400)), jsonPatch]],
  move: [
    [[{ op: 'add', path: `${example}/b`, value: nested(400) }], jsonPatch],
    [[{ op: 'add', path: `${example}/c`, value: nested(400) }], jsonPatch],
    [[{ op: 'move', from: `${example}/b`, path: `${example}/c${deep(400)}/b` }], jsonPatch],
  ],
  copy: [
    [[{ op: 'add', path: `${example}/a`, value: nested(200) }], jsonPatch],
    ...[200, 401, 803, 1_607, 3_215].map(
      (at) => [[{ op: 'copy', from: example, path: `${example}${deep(at)}/a` }], jsonPatch] as const,
    ),
  ],
  merge: [300, 450, 490, 500].map((depth) => [merge(depth), 'application/merge-patch+json']),
  strategic: [300, 450, 490, 500].map((depth) => [merge(depth), 'application/strategic-merge-patch+json']),
};

const nestedPatches: Scenario = {
  name: 'nested-patches',
  title: 'no patch nests an object deeper than can be read, and whatever is stored can be deleted',
  sharesServer: true,
  attack: async ({ client }) => {
    for (const [plural, patches] of Object.entries(nestings)) {
      const name = `${plural}.example.com`;
      const created = await client.http1(asAdmin('POST', definitions, definition(plural, { a: {} })));
      succeeded('creating a definition', created);
      for (const [body, type] of patches) {
        answered(`nesting by ${plural}`, await client.http1(asAdmin('PATCH', `${definitions}/${name}`, body, type)));
      }
      await usable(client, definitions, name);
    }
  },
};

const growingPatches: Scenario = {
  name: 'growing-patches',
  title: 'no patch makes an object larger than can be read, and whatever is stored can be deleted',
  sharesServer: true,
  attack: async ({ client }) => {
    const large = definition('large', { a: { b: 'x'.repeat(100_000) }, list: [] });
    succeeded('creating a definition', await client.http1(asAdmin('POST', definitions, large)));
    const copies = Array.from({ length: 12 }, (_, i) => ({
      op: 'copy',
      from: `${example}/a`,
      path: `${example}/a${i}`,
    }));
    const doubled = Array.from({ length: 40 }, () => ({ op: 'copy', from: example, path: `${example}/b` }));
    const members = Array.from({ length: 9_000 }, () => ({ op: 'add', path: `${example}/list/-`, value: nested(8) }));
    for (const patch of [copies, doubled, copies, members, members, copies, copies]) {
      const answer = await client.http1(asAdmin('PATCH', `${definitions}/large.example.com`, patch, jsonPatch));
      answered('growing an object', { ...answer, body: answer.body.subarray(0, 1_000) });
    }
    await usable(client, definitions, 'large.example.com');
  },
};

/** How long an object may block the event loop (ms). */
const most = 250;

/** An object near the size limit of bodies, and a small patch of it. */
interface Large {
  readonly collection: string;
  readonly object: { readonly [key: string]: unknown };
  readonly patch: object;
  /** The short version leaves it out: that its kind's own rules take linear time is tested without a server. */
  readonly fullOnly?: boolean;
}

const address = (i: number) => ({ ip: `10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}` });
const selector = { matchLabels: { a: 'b' } };

const largest: { readonly [name: string]: Large } = {
  endpoints: {
    collection: '/api/v1/namespaces/default/endpoints',
    object: { subsets: [{ addresses: Array.from({ length: 30_000 }, (_, i) => address(i)), ports: [{ port: 80 }] }] },
    patch: { metadata: { labels: { a: 'b' } } },
  },
  service: {
    collection: '/api/v1/namespaces/default/services',
    object: {
      spec: {
        clusterIP: 'None',
        ports: Array.from({ length: 20_000 }, (_, i) => ({ name: `p${i}`, port: (i % 65_535) + 1 })),
      },
    },
    patch: { metadata: { labels: { a: 'b' } } },
    fullOnly: true,
  },
  slice: {
    collection: '/apis/discovery.orch.io/v1/namespaces/default/endpointslices',
    object: {
      addressType: 'IPv4',
      endpoints: Array.from({ length: 1_000 }, (_, i) => ({
        addresses: [address(i).ip],
        targetRef: { kind: 'Pod', name: `p${i}` },
      })),
      ports: Array.from({ length: 20_000 }, (_, i) => ({ name: `p${i}`, port: (i % 65_535) + 1 })),
    },
    patch: { metadata: { labels: { a: 'b' } } },
    fullOnly: true,
  },
  policy: {
    collection: '/apis/networking.orch.io/v1/namespaces/default/networkpolicies',
    object: {
      spec: {
        podSelector: {},
        ingress: [{ from: Array.from({ length: 30_000 }, (_, i) => ({ ipBlock: { cidr: `${address(i).ip}/32` } })) }],
      },
    },
    patch: { metadata: { labels: { a: 'b' } } },
    fullOnly: true,
  },
  role: {
    collection: '/apis/rbac.authorization.orch.io/v1/namespaces/default/roles',
    object: {
      rules: Array.from({ length: 20_000 }, (_, i) => ({ apiGroups: ['g'], resources: [`r${i}`], verbs: ['get'] })),
    },
    patch: { metadata: { labels: { a: 'b' } } },
    fullOnly: true,
  },
  pod: {
    collection: '/api/v1/namespaces/default/pods',
    object: {
      spec: {
        automountServiceAccountToken: false,
        containers: Array.from({ length: 2_000 }, (_, i) => ({
          name: `c${i}`,
          image: 'i',
          env: Array.from({ length: 10 }, (_, j) => ({ name: `E${j}`, value: '$(E0)' })),
        })),
      },
    },
    patch: { metadata: { labels: { a: 'b' } } },
  },
  'config-map': {
    collection: configMaps,
    object: { data: Object.fromEntries(Array.from({ length: 16_000 }, (_, i) => [`k${i}`, 'v'])) },
    patch: { data: { k1: 'w' } },
  },
  deployment: {
    collection: '/apis/apps/v1/namespaces/default/deployments',
    object: {
      spec: {
        selector,
        template: {
          metadata: { labels: { a: 'b' } },
          spec: {
            containers: [
              { name: 'c', image: 'i', env: Array.from({ length: 30_000 }, (_, i) => ({ name: `E${i}`, value: 'v' })) },
            ],
          },
        },
      },
    },
    patch: { metadata: { labels: { a: 'b' } } },
  },
};

const largeObjects: Scenario = {
  name: 'large-objects',
  title: 'the largest allowed objects are written, read and deleted without blocking the event loop',
  sharesServer: true,
  attack: async ({ client, full, longestTurn }) => {
    const before = '/api/v1/namespaces/default/serviceaccounts';
    await client.http1(asAdmin('POST', before, { metadata: { name: 'default' } }));
    const slow: string[] = [];
    for (const [name, { collection, object, patch, fullOnly }] of Object.entries(largest)) {
      if (fullOnly === true && !full) continue;
      const path = `${collection}/${name}`;
      const timed = async <T>(what: string, work: Promise<T>) => {
        const result = await work;
        const turn = await longestTurn();
        if (turn > most) slow.push(`${what} ${name}: ${Math.round(turn)} ms`);
        return result;
      };
      const step = (what: string, ask: ReturnType<typeof asAdmin>) => timed(what, client.http1(ask));
      const created = await step('create', asAdmin('POST', collection, { metadata: { name }, ...object }));
      hold(created.status < 500, `creating ${name} gives ${created.status}: ${shown(created.body)}`);
      if (created.status >= 300) continue;
      const merge = asAdmin('PATCH', path, patch, 'application/merge-patch+json');
      if (full) succeeded(`patching ${name}`, await step('patch', merge));
      const strategic = asAdmin('PATCH', path, patch, 'application/strategic-merge-patch+json');
      succeeded(`patching ${name} again`, await step('patch', strategic));
      const { apiVersion, kind } = JSON.parse(created.body.toString()) as { apiVersion: string; kind: string };
      const intent = { apiVersion, kind, metadata: { name }, ...object };
      const apply = asAdmin('PATCH', `${path}?fieldManager=m&force=true`, intent, 'application/apply-patch+yaml');
      succeeded(`applying ${name}`, await step('apply', apply));
      const headers = { accept: 'application/vnd.orch.protobuf' };
      succeeded(`reading ${name}`, await step('read', { user: 'admin', method: 'GET', path, headers }));
      // In all other media types.
      await timed('use', usable(client, collection, name));
    }
    hold(!full || slow.length === 0, `hold the event loop for more than ${most} ms: ${slow.join(', ')}`);
  },
};

export const objectScenarios: readonly Scenario[] = [nestedPatches, growingPatches, largeObjects];
