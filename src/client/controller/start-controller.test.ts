import { afterEach, describe, expect, it } from 'vitest';
import { VirtualClock } from '../../meta/index.ts';
import { createServer, type OrchServer } from '../../server/index.ts';
import { createClient } from '../create-client.ts';
import { controllerReference } from '../kinds/owner-references.ts';
import { silentLog as silent } from '../runtime/log.ts';
import { inProcessTransport } from '../transport/in-process.ts';
import { predicates } from './predicates.ts';
import { type RunningController, startController } from './start-controller.ts';

interface Meta {
  name: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  deletionTimestamp?: string;
  finalizers?: string[];
  ownerReferences?: { apiVersion: string; kind: string; name: string; uid: string }[];
}

interface ConfigMap {
  apiVersion?: string;
  kind?: string;
  metadata: Meta;
  data?: { [key: string]: string };
}

interface Secret {
  metadata: Meta;
  type?: string;
  stringData?: { [key: string]: string };
}

/** One that counts generations, has a status and declares its apiVersion and kind, as generated types do. */
interface Budget {
  apiVersion: 'policy/v1';
  kind: 'PodDisruptionBudget';
  metadata: Meta & { labels?: { [key: string]: string } };
  spec?: { minAvailable?: number };
  status?: { observedGeneration?: number };
}

let clock: VirtualClock;
let server: OrchServer;
const running: RunningController[] = [];

async function open() {
  clock = new VirtualClock();
  server = await createServer({ apiDomain: 'k8s.io', controllers: '-*' }, { clock });
  const { client } = server;
  return {
    client,
    configMaps: client.kind<ConfigMap>('v1', 'ConfigMap'),
    secrets: client.kind<Secret>('v1', 'Secret'),
  };
}

/** Stopped at the end of the test. */
function started(controller: RunningController): RunningController {
  running.push(controller);
  return controller;
}

const idle = () => Promise.all(running.map((controller) => controller.idle()));

afterEach(async () => {
  for (const controller of running.splice(0)) await controller.stop();
  await server.close();
});

describe('a controller', () => {
  it('skips changes that its predicates exclude, but not retries, due keys and owned objects', async () => {
    const { client, configMaps } = await open();
    const budgets = client.kind<Budget>('policy/v1', 'PodDisruptionBudget');
    const key = { namespace: 'default', name: 'a' };
    const seen: (number | undefined)[] = [];
    let next: (() => Promise<{ requeueAfterMs: number } | undefined>) | undefined;
    started(
      startController({
        client,
        kind: budgets,
        clock,
        owns: [configMaps],
        log: silent,
        predicates: [predicates.generationChanged, predicates.labelsMatch('app=web')],
        reconcile: async (_, { object }) => {
          seen.push(object?.spec?.minAvailable);
          const run = next;
          next = undefined;
          return run?.();
        },
      }),
    );
    await idle();
    const reconciled = async () => {
      await idle();
      return seen.splice(0);
    };
    const created = await budgets.create({ metadata: { ...key, labels: { app: 'web' } }, spec: { minAvailable: 1 } });
    expect(await reconciled()).toEqual([1]);
    await budgets.subresource('status').patch(key, 'merge', { status: { observedGeneration: 1 } });
    expect(await reconciled()).toEqual([]);
    await budgets.patch(key, 'merge', { spec: { minAvailable: 2 } });
    expect(await reconciled()).toEqual([2]);
    await configMaps.create({ metadata: { ...key, ownerReferences: [controllerReference(created)] } });
    expect(await reconciled()).toEqual([2]);

    next = () => Promise.reject(new Error('again'));
    await budgets.patch(key, 'merge', { spec: { minAvailable: 3 } });
    expect(await reconciled()).toEqual([3]);
    next = async () => ({ requeueAfterMs: 60_000 });
    await clock.advance(10, idle);
    expect(await reconciled()).toEqual([3]);
    await budgets.subresource('status').patch(key, 'merge', { status: { observedGeneration: 2 } });
    expect(await reconciled()).toEqual([]);
    await clock.advance(60_000, idle);
    expect(await reconciled()).toEqual([3]);

    await budgets.create({ metadata: { namespace: 'default', name: 'b', labels: { app: 'db' } } });
    expect(await reconciled()).toEqual([]);
    await budgets.delete(key);
    expect(await reconciled()).toEqual([undefined]);
  });

  it('skips its own writes and none of other clients', async () => {
    const { configMaps } = await open();
    const own = createClient({
      transport: inProcessTransport(server.handler, {
        subject: { commonName: 'controller', organizations: ['system:masters'] },
      }),
      apiDomain: 'k8s.io',
    });
    const key = { namespace: 'default', name: 'a' };
    const seen: (string | undefined)[] = [];
    const kind = own.kind<ConfigMap>('v1', 'ConfigMap');
    started(
      startController({
        client: own,
        kind,
        clock,
        selection: { namespace: 'default' },
        predicates: [predicates.notOwn],
        reconcile: async (_, { object }) => {
          seen.push(object?.data?.['colour']);
          if (object !== undefined) await kind.patch(key, 'merge', { data: { count: String(seen.length) } });
        },
      }),
    );
    await configMaps.create({ metadata: key, data: { colour: 'green' } });
    await idle();
    expect(seen.splice(0)).toEqual(['green']);
    await configMaps.patch(key, 'merge', { data: { colour: 'blue' } });
    await idle();
    expect(seen).toEqual(['blue']);
  });

  it('reconciles every object at the start, after each change and after its deletion', async () => {
    const { client, configMaps } = await open();
    await configMaps.create({ metadata: { namespace: 'default', name: 'old' } });
    const seen: string[] = [];
    const controller = started(
      startController({
        client,
        kind: configMaps,
        clock,
        selection: { namespace: 'default' },
        reconcile: async ({ namespace, name }, { object }) => {
          seen.push(`${namespace}/${name} ${object?.data?.['colour'] ?? (object === undefined ? 'gone' : 'none')}`);
        },
      }),
    );
    await controller.idle();
    await configMaps.create({ metadata: { namespace: 'default', name: 'new' }, data: { colour: 'red' } });
    await controller.idle();
    await configMaps.patch({ namespace: 'default', name: 'new' }, 'merge', { data: { colour: 'blue' } });
    await controller.idle();
    await configMaps.delete({ namespace: 'default', name: 'old' });
    await controller.idle();
    expect(seen).toEqual(['default/old none', 'default/new red', 'default/new blue', 'default/old gone']);
  });

  it('retries a failed reconcile with backoff, and reconciles again after requeueAfterMs', async () => {
    const { client, configMaps } = await open();
    const seen: number[] = [];
    const began = clock.now();
    started(
      startController({
        client,
        kind: configMaps,
        clock,
        log: silent,
        selection: { namespace: 'default' },
        firstBackoffMs: 1_000,
        reconcile: async () => {
          seen.push(clock.now() - began);
          if (seen.length < 4) throw new Error('not yet');
          return seen.length === 4 ? { requeueAfterMs: 60_000 } : undefined;
        },
      }),
    );
    await configMaps.create({ metadata: { namespace: 'default', name: 'a' } });
    await clock.advance(120_000, idle);
    expect(seen).toEqual([0, 1_000, 3_000, 7_000, 67_000]);
  });

  it('reconciles the controller of owned objects, and the objects that other kinds map to', async () => {
    const { client, configMaps, secrets } = await open();
    const seen: string[] = [];
    const controller = started(
      startController({
        client,
        kind: configMaps,
        clock,
        selection: { labelSelector: 'site' },
        owns: [secrets],
        watches: [
          {
            kind: client.kind<{ metadata: Meta; spec?: object }>('v1', 'Node'),
            map: ({ metadata: { name } }) => [{ namespace: 'default', name }],
          },
        ],
        reconcile: async ({ name }, { object }) => {
          seen.push(name);
          if (object === undefined) return;
          const metadata = {
            namespace: 'default',
            name: `${name}-token`,
            ownerReferences: [controllerReference(object)],
          };
          const current = controller.informers.of(secrets).get('default', metadata.name);
          if (current === undefined) await secrets.create({ metadata });
        },
      }),
    );
    const labelled = { metadata: { namespace: 'default', name: 'a', labels: { site: 'x' } } };
    await configMaps.create(labelled);
    await controller.idle();
    expect(await secrets.get({ namespace: 'default', name: 'a-token' })).toMatchObject({
      metadata: { ownerReferences: [{ kind: 'ConfigMap', name: 'a', controller: true }] },
    });
    seen.length = 0;
    await secrets.delete({ namespace: 'default', name: 'a-token' });
    await controller.idle();
    expect(await secrets.find({ namespace: 'default', name: 'a-token' })).toBeDefined();
    seen.length = 0;
    await client.create(
      { apiVersion: 'v1', resource: 'nodes' },
      { kind: 'Node', apiVersion: 'v1', metadata: { name: 'a' } },
    );
    await client.create(
      { apiVersion: 'v1', resource: 'nodes' },
      { kind: 'Node', apiVersion: 'v1', metadata: { name: 'b' } },
    );
    await controller.idle();
    // No config map of the name b is selected.
    expect(seen).toEqual(['a']);
  });

  it('acts before an object is deleted, through a finalizer', async () => {
    const { client, configMaps } = await open();
    const cleaned: string[] = [];
    const finalizer = 'example.com/clean';
    const controller = started(
      startController({
        client,
        kind: configMaps,
        clock,
        selection: { namespace: 'default' },
        reconcile: async ({ name }, { object }) => {
          if (object === undefined) return;
          const { finalizers = [], deletionTimestamp } = object.metadata;
          if (deletionTimestamp === undefined) {
            if (finalizers.includes(finalizer)) return;
            await configMaps.patch(object.metadata, 'merge', { metadata: { finalizers: [...finalizers, finalizer] } });
          } else if (finalizers.includes(finalizer)) {
            cleaned.push(name);
            const rest = finalizers.filter((one) => one !== finalizer);
            await configMaps.patch(object.metadata, 'merge', { metadata: { finalizers: rest } });
          }
        },
      }),
    );
    const key = { namespace: 'default', name: 'a' };
    await configMaps.create({ metadata: key });
    await controller.idle();
    const pending = await configMaps.delete(key);
    expect(pending?.metadata.finalizers).toEqual([finalizer]);
    await controller.idle();
    expect([cleaned, await configMaps.find(key)]).toEqual([['a'], undefined]);
  });

  it('reconciles in one of several processes, and another one takes over when it stops', async () => {
    const { client, configMaps } = await open();
    const seen: string[] = [];
    const start = (identity: string) =>
      started(
        startController({
          client,
          kind: configMaps,
          clock,
          selection: { namespace: 'default' },
          leaderElection: { namespace: 'default', name: 'painter', identity },
          reconcile: async ({ name }) => {
            seen.push(`${identity} ${name}`);
          },
        }),
      );
    const first = start('a');
    await first.idle();
    const second = start('b');
    await configMaps.create({ metadata: { namespace: 'default', name: 'x' } });
    await clock.advance(30_000, idle);
    expect([seen, first.leads, second.leads]).toEqual([['a x'], true, false]);
    await first.stop();
    await clock.advance(10_000, () => second.idle());
    expect([seen, second.leads]).toEqual([['a x', 'b x'], true]);
  });

  it('records events, and reconciles all objects again after the resync period', async () => {
    const { client, configMaps } = await open();
    let reconciled = 0;
    started(
      startController({
        client,
        kind: configMaps,
        clock,
        name: 'painter',
        selection: { namespace: 'default' },
        resyncMs: 600_000,
        reconcile: async (_, { object, events }) => {
          reconciled++;
          if (object !== undefined) events.record(object, 'Normal', 'Painted', 'it is green');
        },
      }),
    );
    await configMaps.create({ metadata: { namespace: 'default', name: 'a' } });
    await clock.advance(1_200_000, idle);
    expect(reconciled).toBe(3);
    const events = client.kind('v1', 'Event');
    const { items } = await events.list({ namespace: 'default', fieldSelector: 'reason=Painted' });
    expect(items).toMatchObject([
      {
        involvedObject: { apiVersion: 'v1', kind: 'ConfigMap', name: 'a' },
        count: 3,
        source: { component: 'painter' },
      },
    ]);
  });
});
