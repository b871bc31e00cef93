import type { Fields, Item, Selection } from '../../src/server/harness/checks/history.ts';
import type { Random } from './random.ts';

/*
 * What the clients of a trial write and read: a few names of two resources, a built-in one and a custom one, in two
 * namespaces.
 */

const group = 'torture.example.com';

interface Resource {
  readonly apiVersion: string;
  readonly kind: string;
  /** Where the API has it, and where etcd has it. */
  readonly path: string;
  readonly prefix: string;
}

const resources: { readonly [name: string]: Resource } = {
  configmaps: { apiVersion: 'v1', kind: 'ConfigMap', path: '/api/v1', prefix: '/registry/configmaps' },
  widgets: {
    apiVersion: `${group}/v1`,
    kind: 'Widget',
    path: `/apis/${group}/v1`,
    prefix: `/registry/${group}/widgets`,
  },
};

const namespaces = ['t0', 't1'];
const names = ['n0', 'n1', 'n2', 'n3', 'n4', 'n5'];
const tiers = ['x', 'y', 'z'];

/** Objects that exist before the clients start: paths with the objects that are posted to them. */
export const prerequisites: readonly (readonly [path: string, object: object])[] = [
  ...namespaces.map((name) => ['/api/v1/namespaces', { metadata: { name } }] as const),
  [
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    {
      metadata: { name: `widgets.${group}` },
      spec: {
        group,
        names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
        scope: 'Namespaced',
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: {
              openAPIV3Schema: {
                type: 'object',
                properties: { data: { type: 'object', additionalProperties: { type: 'string' } } },
              },
            },
          },
        ],
      },
    },
  ],
];

const resourceOf = (name: string): Resource => resources[name] as Resource;

/** Every place in which there are objects. */
export const collections: readonly Selection[] = Object.keys(resources).flatMap((resource) =>
  namespaces.map((namespace) => ({ resource, namespace })),
);

/** The key of an object in the history, by its key in etcd; undefined: it is none of the trial. */
export function keyOf(stored: string): string | undefined {
  for (const [resource, { prefix }] of Object.entries(resources)) {
    const [namespace = '', ...rest] = stored.startsWith(`${prefix}/`) ? stored.slice(prefix.length + 1).split('/') : [];
    if (namespaces.includes(namespace)) return [resource, namespace, ...rest].join('/');
  }
  return undefined;
}

export function randomKey({ pick }: Random): string {
  return [pick(Object.keys(resources)), pick(namespaces), pick(names)].join('/');
}

export function randomSelection({ pick, chance }: Random): Selection {
  return {
    resource: pick(Object.keys(resources)),
    ...(chance(2) ? { namespace: pick(namespaces) } : {}),
    ...(chance(3) ? { tier: pick(tiers) } : {}),
  };
}

export const randomTier = ({ pick }: Random): string => pick(tiers);

/** The path of an object, or of the collection it belongs to. */
export function pathOf(key: string): { readonly object: string; readonly collection: string } {
  const [resource = '', namespace, name] = key.split('/');
  const collection = `${resourceOf(resource).path}/namespaces/${namespace}/${resource}`;
  return { collection, object: `${collection}/${name}` };
}

/** The path of a list or watch. Across namespaces it selects what has the label: there may be objects of others. */
export function listPath({ resource, namespace, tier }: Selection, query: { readonly [name: string]: string }): string {
  const place = namespace === undefined ? '' : `/namespaces/${namespace}`;
  const labels = tier === undefined ? (namespace === undefined ? 'tier' : undefined) : `tier=${tier}`;
  const search = new URLSearchParams({ ...(labels === undefined ? {} : { labelSelector: labels }), ...query });
  return `${resourceOf(resource).path}${place}/${resource}?${search.toString()}`;
}

/** An object with these fields; with those of another one that it replaces. */
export function objectOf(key: string, { tier, data }: Fields, replaced?: Item): object {
  const [resource = '', namespace, name] = key.split('/');
  const { apiVersion, kind } = resourceOf(resource);
  return { apiVersion, kind, metadata: { ...replaced?.metadata, name, namespace, labels: { tier } }, data };
}
