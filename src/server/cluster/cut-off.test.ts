import { text } from 'node:stream/consumers';
import { afterEach, expect, it } from 'vitest';
import type { ApiObject } from '../../meta/index.ts';
import { settled } from '../../meta/testing/settled.ts';
import { openMemoryStore } from '../../store/index.ts';
import { type DrivenClock, drivenClock } from '../../store/testing/driven-clock.ts';
import { createServer, type OrchServer } from '../server.ts';
import { type StoreLink, storeLink } from '../testing/store-link.ts';

// Two servers over one store; the connection of the first one is cut.
const servers: OrchServer[] = [];
const clocks: DrivenClock[] = [];
afterEach(async () => {
  // A request of the server itself may still wait for the store, until its timeout.
  const passing = setInterval(() => clocks.at(-1)?.advance(500), 5);
  await Promise.all(servers.splice(0).map((server) => server.close()));
  clearInterval(passing);
});

interface Replica {
  readonly client: OrchServer['client'];
  readonly link: StoreLink;
  readonly clock: DrivenClock;
}

async function replicas(): Promise<[Replica, Replica]> {
  const clock = drivenClock();
  clocks.push(clock);
  const store = openMemoryStore({ clock });
  const start = async () => {
    const link = storeLink(store);
    const server = await createServer({ apiDomain: 'k8s.io', controllers: '-*' }, { clock, store: link.store });
    servers.push(server);
    return { client: server.client, link, clock };
  };
  const started: [Replica, Replica] = [await start(), await start()];
  clock.advance(0);
  for (const replica of started) await expect.poll(() => ask(replica, '/readyz')).toMatchObject({ status: 200 });
  return started;
}

/** Status, body and Retry-After of a request. The clock goes on while it takes. */
async function ask({ client, clock }: Replica, url: string, method = 'GET', body?: object) {
  const passing = setInterval(() => clock.advance(500), 5);
  try {
    const headers = { accept: 'application/json', 'content-type': 'application/json' };
    const sent = body === undefined ? {} : { body: Buffer.from(JSON.stringify(body)) };
    const answer = await client.request({ method, url, headers, ...sent });
    const { status, headers: fields } = answer;
    return { status, retry: fields['retry-after'], body: await text(answer.body) };
  } finally {
    clearInterval(passing);
  }
}

const maps = { apiVersion: 'v1', resource: 'configmaps', namespace: 'default' };
const path = '/api/v1/namespaces/default/configmaps';
const map = (name: string, value: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data: { value },
});
const versionOf = ({ metadata }: ApiObject) => metadata.resourceVersion ?? '';
const dataOf = (body: string) => (JSON.parse(body) as { data: { value: string } }).data.value;

it('a server that is cut off from the store is not ready, and names the check that fails', async () => {
  const [cut, other] = await replicas();
  for (const state of ['refused', 'silent'] as const) {
    cut.link.become(state);
    // A store that has just answered may be silent for a while.
    if (state === 'silent') {
      expect(await ask(cut, '/readyz')).toMatchObject({ status: 200 });
      cut.clock.advance(5_000);
    }
    for (const endpoint of ['/readyz', '/livez', '/healthz']) {
      const { status, body } = await ask(cut, endpoint);
      expect([status, body]).toEqual([500, expect.stringContaining('[-]etcd failed: reason withheld')]);
    }
    expect((await ask(cut, '/readyz')).body).toContain('[-]etcd-readiness failed: reason withheld');
    expect(await ask(cut, '/readyz/etcd')).toMatchObject({ status: 500 });
    expect(await ask(other, '/readyz')).toMatchObject({ status: 200 });
    cut.link.become('up');
    expect(await ask(cut, '/readyz')).toMatchObject({ status: 200 });
  }
});

it('a server that is cut off answers reads of versions that it has, and refuses all else in bounded time', async () => {
  const [cut, other] = await replicas();
  const old = versionOf(await cut.client.create<ApiObject>(maps, map('a', 'old')));
  const known = versionOf(await cut.client.update<ApiObject>({ ...maps, name: 'a' }, map('a', 'known')));
  await cut.client.create(maps, map('b', ''));
  const page = (await ask(cut, `${path}?limit=1`)).body;
  const { metadata } = JSON.parse(page) as { metadata: { continue: string } };
  cut.link.become('refused');
  const latest = versionOf(await other.client.update<ApiObject>({ ...maps, name: 'a' }, map('a', 'latest')));

  // Any version, and versions up to that of the cache.
  for (const query of ['resourceVersion=0', `resourceVersion=${old}`, `resourceVersion=${known}`]) {
    const one = await ask(cut, `${path}/a?${query}`);
    expect([one.status, dataOf(one.body)]).toEqual([200, 'known']);
  }
  for (const query of ['resourceVersion=0', `resourceVersion=${known}&resourceVersionMatch=NotOlderThan`]) {
    const all = await ask(cut, `${path}?${query}`);
    expect([all.status, all.body]).toEqual([200, expect.stringContaining('"known"')]);
  }
  // The page after one that it has read.
  expect(await ask(cut, `${path}?limit=1&continue=${encodeURIComponent(metadata.continue)}`)).toMatchObject({
    status: 200,
  });
  // A version that it has not.
  for (const url of [`${path}/a?resourceVersion=${latest}`, `${path}?resourceVersion=${latest}`]) {
    const refused = await ask(cut, url);
    expect(refused).toMatchObject({ status: 504, retry: '1' });
    expect(refused.body).toContain('Too large resource version');
  }
  // The latest version, versions before that of the cache, and writes.
  const refused = [
    await ask(cut, `${path}/a`),
    await ask(cut, path),
    await ask(cut, `${path}?resourceVersion=${old}&resourceVersionMatch=Exact`),
    await ask(cut, `${path}?watch=1`),
    await ask(cut, path, 'POST', map('c', '')),
    await ask(cut, `${path}/a`, 'PUT', map('a', 'mine')),
    await ask(cut, `${path}/a`, 'DELETE'),
    await ask(cut, `${path}?fieldSelector=metadata.name=a`, 'DELETE'),
  ];
  expect(refused.map(({ status, retry }) => [status, retry])).toEqual(refused.map(() => [503, '1']));
  expect(dataOf((await ask(other, `${path}/a`)).body)).toBe('latest');
});

it('a server that was cut off is whole within a second after it has the store again; its watches go on', async () => {
  const [cut, other] = await replicas();
  const known = versionOf(await cut.client.create<ApiObject>(maps, map('a', 'known')));
  const watching = await cut.client.watch<ApiObject>(maps, { resourceVersion: known });
  for (const state of ['refused', 'silent'] as const) {
    cut.link.become(state);
    // Long enough for every backoff to be at its longest.
    for (let seconds = 0; seconds < 60; seconds++) {
      cut.clock.advance(1_000);
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
    await other.client.update({ ...maps, name: 'a' }, map('a', state));
    const before = cut.clock.now();
    cut.link.become('up');
    const read = cut.client.get<ApiObject>({ ...maps, name: 'a' });
    let answered = false;
    void read.then(() => {
      answered = true;
    });
    while (!answered) {
      cut.clock.advance(50);
      await settled(10);
    }
    expect((await read)['data']).toEqual({ value: state });
    expect(cut.clock.now() - before).toBeLessThanOrEqual(1_000);
    expect(await ask(cut, '/readyz')).toMatchObject({ status: 200 });
    const { value } = await watching[Symbol.asyncIterator]().next();
    expect(value).toMatchObject({ type: 'MODIFIED', object: { data: { value: state } } });
  }
  watching.close();
});

it('a version from another server is waited for', async () => {
  const [late, other] = await replicas();
  await late.client.create(maps, map('a', 'old'));
  await expect.poll(() => ask(late, `${path}?resourceVersion=0`)).toMatchObject({ status: 200 });
  const release = late.link.holdWatches('/configmaps/');
  const version = versionOf(await other.client.update<ApiObject>({ ...maps, name: 'a' }, map('a', 'new')));
  expect(dataOf((await ask(late, `${path}/a?resourceVersion=0`)).body)).toBe('old');
  const url = `${path}/a?resourceVersion=${version}`;
  const answer = late.client.request({ method: 'GET', url, headers: {} });
  setTimeout(release, 20);
  const { status, body } = await answer;
  expect([status, dataOf(await text(body))]).toEqual([200, 'new']);
  // One that no server has written.
  const refused = await ask(late, `${path}/a?resourceVersion=${Number(version) + 1_000}`);
  expect(refused).toMatchObject({ status: 504, retry: '1' });
  expect(refused.body).toContain('Too large resource version');
});
