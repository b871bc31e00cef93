import { mkdtempSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock, VirtualClock } from '../../meta/index.ts';
import { createServer, openLmdbStore, openMemoryStore } from '../../server/index.ts';
import { heldStore } from '../../store/testing/held-store.ts';
import { createClient } from '../create-client.ts';
import type { UntypedObject } from '../kinds/kind.ts';
import { kubeconfigTransport } from '../testing/kubeconfig-transport.ts';
import { inProcessTransport } from '../transport/in-process.ts';
import type { ClientResponse, Transport } from '../transport/transport.ts';
import type { Informer } from './informer.ts';
import { Informers } from './informers.ts';

const silent = { info: () => {}, warn: () => {}, error: () => {} };
const key = (name: string) => ({ namespace: 'default', name });
const ends: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** An informer of the config maps of `default`, what it is messages, and what it asks of the server. */
function follow(transport: Transport) {
  const clock = new VirtualClock();
  const watches: ClientResponse[] = [];
  const recorded: Transport = async (request) => {
    const isWatch = request.url.includes('watch=true');
    const response = await transport(request);
    if (isWatch) watches.push(response);
    return response;
  };
  const client = createClient({ transport: recorded, apiDomain: 'k8s.io' });
  const informers = new Informers({ client, clock, log: silent });
  ends.push(() => informers.stop());
  const informer = informers.of(client.kind('v1', 'ConfigMap'), { namespace: 'default' });
  const messages: string[] = [];
  informer.onChange((object, old) => {
    const what = old === undefined ? 'added' : object === undefined ? 'deleted' : 'changed';
    messages.push(`${what} ${(object ?? old)?.metadata.name}`);
  });
  /** Lets it try again, and returns what it has messages so far. */
  const next = async () => {
    await clock.advance(60_000, () => informer.caughtUp());
    return [...messages];
  };
  return { clock, informer, informers, client, watches, messages, next };
}

const names = (informer: Informer<UntypedObject>) =>
  informer
    .list()
    .map(({ metadata: { name = '' } }) => name)
    .sort((a, b) => (a < b ? -1 : 1));

describe('an informer in process', () => {
  async function open() {
    const clock = new VirtualClock();
    const store = heldStore(openMemoryStore({ clock }));
    const server = await createServer({ apiDomain: 'k8s.io', controllers: '-*' }, { clock, store });
    ends.push(() => server.close());
    const subject = { commonName: 'admin', organizations: ['system:masters'] };
    const followed = follow(inProcessTransport(server.handler, { subject }));
    return { server, store, clock, configMaps: server.client.kind('v1', 'ConfigMap'), followed };
  }
  const objectNamed = (name: string) => ({ metadata: key(name) });

  it('lists again and reports the difference when the server no longer has the missed changes', async () => {
    const { store, clock, configMaps, followed } = await open();
    await configMaps.create(objectNamed('a'));
    await configMaps.create(objectNamed('b'));
    expect(await followed.next()).toEqual(['added a', 'added b']);
    store.cut();
    await configMaps.delete(key('a'));
    await configMaps.create(objectNamed('c'));
    await store.compact(await store.revision());
    // The server itself has to find out first, at its own pace.
    await expect
      .poll(() => {
        clock.set(clock.now() + 10_000);
        followed.clock.set(followed.clock.now() + 10_000);
        return followed.messages;
      })
      .toEqual(['added a', 'added b', 'deleted a', 'added c']);
    expect(names(followed.informer)).toEqual(['b', 'c']);
  });

  it('has a copy of what a typed kind of its client has written as soon as the call returns', async () => {
    const { followed } = await open();
    const { client, informers } = followed;
    const kind = client.kind('v1', 'ConfigMap');
    const informer = informers.of(kind);
    await informer.synced;
    const created = await kind.create({ ...objectNamed('a'), data: { n: '1' } });
    expect(informer.get('default', 'a')).toMatchObject({ data: { n: '1' } });
    created.metadata.labels = { changed: 'by-the-caller' };
    expect(informer.get('default', 'a')?.metadata).not.toHaveProperty('labels');
    expect(informer.get('default', 'a')?.metadata).not.toHaveProperty('managedFields');
    await kind.delete(created.metadata);
    expect(informer.get('default', 'a')).toBeUndefined();
    await kind.create({ ...objectNamed('b'), data: { n: '1' } }, { dryRun: true });
    expect(informer.get('default', 'b')).toBeUndefined();
    await informer.caughtUp();
    expect(informer.size).toBe(0);
  });

  it('is empty while its kind is not served, and lists the kind once it is', async () => {
    const { server, followed } = await open();
    const { client, informers, clock } = followed;
    const informer = informers.of(client.kind('example.com/v1', 'Widget'));
    await informer.synced;
    expect(informer.list()).toEqual([]);
    await server.client.create(
      { apiVersion: 'apiextensions.k8s.io/v1', resource: 'customresourcedefinitions' },
      {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: 'widgets.example.com' },
        spec: {
          group: 'example.com',
          names: { plural: 'widgets', kind: 'Widget' },
          scope: 'Cluster',
          versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
        },
      },
    );
    await expect
      .poll(async () => (await client.request({ method: 'GET', url: '/apis/example.com/v1', headers: {} })).status)
      .toBe(200);
    await client.kind('example.com/v1', 'Widget').create({ metadata: { name: 'w' } });
    await clock.advance(60_000, () => informer.caughtUp());
    expect(informer.get('', 'w')?.apiVersion).toBe('example.com/v1');
  });
});

describe('an informer over sockets', () => {
  const dataDir = () => mkdtempSync(join(tmpdir(), 'orch-'));
  async function listening(options: { dataDir: string; securePort: number }) {
    const server = await createServer({ apiDomain: 'k8s.io', controllers: '-*', store: 'lmdb', ...options });
    const { port, kubeconfig } = await server.listen();
    return { server, port, kubeconfig, configMaps: server.client.kind('v1', 'ConfigMap') };
  }
  const objectNamed = (name: string) => ({ metadata: key(name) });
  const connect = (kubeconfig: string) => {
    const transport = kubeconfigTransport(kubeconfig);
    ends.push(() => transport.close());
    return follow(transport);
  };

  it('resumes the watch after its connection is lost', async () => {
    const { server, kubeconfig, configMaps } = await listening({ dataDir: dataDir(), securePort: 0 });
    ends.push(() => server.close());
    await configMaps.create(objectNamed('a'));
    const { watches, next } = connect(kubeconfig);
    expect(await next()).toEqual(['added a']);
    await expect.poll(() => watches.length).toBe(1);
    const lost = (watches[0]?.body as IncomingMessage | undefined)?.socket;
    lost?.destroy();
    await configMaps.create(objectNamed('b'));
    await configMaps.delete(key('a'));
    await expect.poll(next).toEqual(['added a', 'added b', 'deleted a']);
  });

  it('resumes the watch after a restart of the server, and lists again when its history is gone', async () => {
    const folder = dataDir();
    const first = await listening({ dataDir: folder, securePort: 0 });
    await first.configMaps.create(objectNamed('a'));
    const { informer, next } = connect(first.kubeconfig);
    expect(await next()).toEqual(['added a']);
    await first.server.close();

    const again = { dataDir: folder, securePort: first.port };
    const second = await listening(again);
    await second.configMaps.create(objectNamed('b'));
    await expect.poll(next).toEqual(['added a', 'added b']);
    await second.server.close();

    const store = await openLmdbStore({ path: join(folder, 'store'), clock: systemClock });
    await store.compact(await store.revision());
    await store.close();
    const third = await listening(again);
    ends.push(() => third.server.close());
    await third.configMaps.delete(key('a'));
    await expect.poll(next).toEqual(['added a', 'added b', 'deleted a']);
    expect(names(informer)).toEqual(['b']);
  });
});
