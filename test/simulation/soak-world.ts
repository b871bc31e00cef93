import type { SimulatedContext, SimulatedOperation } from '../../src/server/harness/index.ts';
import type { OwnWorld } from '../../src/server/harness/simulation/world.ts';
import { type ApiObject, type Clock, startController } from '../../src/server/index.ts';

/*
 * The world in which the project tests itself: clients write and read a few config maps and custom objects, and two processes
 * follow them. Every write is marked with the number of its request, so that the history can be checked whole.
 */

const group = 'soak.example.com';
const namespaces = ['t0', 't1'];
const names = ['n0', 'n1', 'n2', 'n3'];
const tiers = ['x', 'y', 'z'];
const kinds = [
  { apiVersion: 'v1', kind: 'ConfigMap', resource: 'configmaps', id: 'configmaps' },
  { apiVersion: `${group}/v1`, kind: 'Widget', resource: 'widgets', id: `widgets.${group}` },
] as const;

const text = { type: 'object', additionalProperties: { type: 'string' } };
const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
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
        schema: { openAPIV3Schema: { type: 'object', properties: { data: text } } },
      },
    ],
  },
} as unknown as ApiObject;

interface Target {
  readonly kind: (typeof kinds)[number];
  readonly place: { readonly apiVersion: string; readonly resource: string; readonly namespace: string };
  readonly name: string;
  readonly key: string;
}

function targetOf({ random }: SimulatedContext): Target {
  const [kind, namespace, name] = [random.pick(kinds), random.pick(namespaces), random.pick(names)];
  const { apiVersion, resource } = kind;
  return { kind, place: { apiVersion, resource, namespace }, name, key: `${resource}/${namespace}/${name}` };
}

/** Marks a write: the number of a client's request, which no other request has. */
function marksOf({ name, memory }: SimulatedContext): { readonly [name: string]: string } {
  const count = ((memory.get('writes') as number | undefined) ?? 0) + 1;
  memory.set('writes', count);
  const write = String(Number(name.split('-')[1]) * 1_000_000 + count);
  return { write, [name]: write };
}

const objectOf = (
  { kind: { apiVersion, kind }, place, name }: Target,
  context: SimulatedContext,
  known?: ApiObject,
) => ({
  apiVersion,
  kind,
  metadata: {
    ...known?.metadata,
    name,
    namespace: place.namespace,
    labels: { tier: context.random.pick(tiers) },
  },
  data: { ...(known?.['data'] as object | undefined), ...marksOf(context) },
});

const knownBy = ({ memory }: SimulatedContext, key: string) => memory.get(key) as ApiObject | undefined;

const clockPause = (clock: Clock, ms: number) => new Promise<void>((resolve) => void clock.after(ms, resolve));

/** Remembers what a request has returned. */
async function remember(context: SimulatedContext, { key }: Target, request: Promise<ApiObject>): Promise<void> {
  context.memory.set(key, await request);
}

const operations: { readonly [name: string]: SimulatedOperation } = {
  create: (context) => {
    const target = targetOf(context);
    return remember(context, target, context.client.create(target.place, objectOf(target, context)));
  },
  update: async (context) => {
    const target = targetOf(context);
    const { place, name, key } = target;
    const { client, random } = context;
    // The client's view is often out of date.
    if (knownBy(context, key) === undefined || random.chance(0.5)) {
      await remember(context, target, client.get({ ...place, name }));
    }
    await remember(
      context,
      target,
      client.update({ ...place, name }, objectOf(target, context, knownBy(context, key))),
    );
  },
  patch: (context) => {
    const target = targetOf(context);
    const { metadata, data } = objectOf(target, context);
    const patch = { metadata: { labels: metadata.labels }, data };
    return remember(context, target, context.client.patch({ ...target.place, name: target.name }, 'merge', patch));
  },
  apply: (context) => {
    const target = targetOf(context);
    const options = { fieldManager: context.name, force: true };
    const place = { ...target.place, name: target.name };
    return remember(context, target, context.client.apply(place, objectOf(target, context), options));
  },
  delete: (context) => {
    const { place, name, key } = targetOf(context);
    const { uid, resourceVersion } = knownBy(context, key)?.metadata ?? {};
    const preconditions = context.random.pick([
      {},
      uid === undefined ? {} : { uid },
      { resourceVersion: resourceVersion ?? '1' },
    ]);
    return context.client.delete({ ...place, name }, { preconditions });
  },
  get: (context) => {
    const target = targetOf(context);
    return remember(context, target, context.client.get({ ...target.place, name: target.name }));
  },
  list: (context) => {
    const { place } = targetOf(context);
    const { apiVersion, resource } = place;
    const selected = context.random.chance(0.3) ? { labelSelector: `tier=${context.random.pick(tiers)}` } : {};
    const old = context.random.chance(0.3) ? { resourceVersion: '0' } : {};
    return context.client.list(context.random.chance(0.5) ? place : { apiVersion, resource }, { ...selected, ...old });
  },
  watch: async (context) => {
    const { client, clock, random } = context;
    const { place } = targetOf(context);
    const selected = random.chance(0.5) ? { labelSelector: `tier=${random.pick(tiers)}` } : {};
    const { metadata } = await client.list(place, selected);
    // Some begin in the past.
    await clockPause(clock, random.integer(random.pick([1, 500])));
    const stopping = new AbortController();
    clock.after(random.integer(random.pick([300, 2_000])), () => stopping.abort());
    const { resourceVersion } = metadata;
    const options = { ...selected, resourceVersion, allowWatchBookmarks: true, signal: stopping.signal };
    for await (const { type } of await client.watch(place, options)) {
      if (type === 'BOOKMARK' && random.chance(0.1)) break;
    }
  },
};

/** Follows the objects of a kind, and writes down how it sees them. */
const follower =
  ({ apiVersion, kind, resource, id }: (typeof kinds)[number], seen: Map<string, Map<string, string>>) =>
  ({ client, clock, random, log }: SimulatedContext): void => {
    const versions = new Map<string, string>();
    seen.set(id, versions);
    startController({
      client,
      clock,
      random,
      log,
      kind: { apiVersion, kind },
      firstBackoffMs: 500,
      // Takes time, and fails while no server is reached. The object is read again and must not be older.
      reconcile: async ({ namespace, name }, { object }) => {
        const key = `${namespace}/${name}`;
        if (object === undefined) {
          versions.delete(key);
          return;
        }
        await client.list({ apiVersion, resource, namespace }, { limit: 1 });
        versions.set(key, object.metadata?.resourceVersion ?? '');
      },
    });
  };

/** A new world: each run has its own. */
export function soakWorld(parts: Partial<OwnWorld> = {}): OwnWorld {
  const seen = new Map<string, Map<string, string>>();
  return {
    servers: 2,
    clients: 4,
    operations,
    processes: Object.fromEntries(kinds.map((kind) => [`follower-of-${kind.resource}`, follower(kind, seen)])),
    options: {
      definitions: definition,
      objects: namespaces.map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })),
    },
    duration: '10s',
    operationEvery: 150,
    marked: (key) => kinds.some(({ id }) => namespaces.some((namespace) => key.startsWith(`${id}/${namespace}/`))),
    atRest: {
      'followers see what is stored': (state) =>
        kinds.every(({ id }) => {
          const stored = state.list(id).filter(({ metadata }) => namespaces.includes(metadata.namespace ?? ''));
          const versions = seen.get(id);
          return (
            stored.every(({ metadata: { namespace, name, resourceVersion } }) => {
              return versions?.get(`${namespace}/${name}`) === resourceVersion;
            }) && stored.length === [...(versions?.keys() ?? [])].filter((key) => /^t\d\//.test(key)).length
          );
        }),
    },
    ...parts,
  };
}
