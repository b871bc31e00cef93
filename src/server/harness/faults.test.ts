import { connect } from 'node:http2';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Client, createClient, httpsTransport } from '../../client/index.ts';
import { type ApiObject, VirtualClock } from '../../meta/index.ts';
import type { FaultRule, FaultStatus } from './fault-rule.ts';
import { type TestServer, testServer } from './test-server.ts';

const configMaps = { apiVersion: 'v1', resource: 'configmaps', namespace: 'default' };
const configMap = (name: string, data = {}): ApiObject =>
  ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data }) as ApiObject;

let server: TestServer;
beforeEach(async () => {
  server = await testServer();
});
afterEach(() => server.close());

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** A client in process, and one over sockets. */
const transports: readonly (readonly [string, () => Promise<Client>])[] = [
  ['in process', async () => server.as('jane', ['system:masters'])],
  [
    'over sockets',
    async () => {
      await server.listen();
      const transport = httpsTransport(server.as('jane', ['system:masters']).credentials());
      ends.push(() => transport.close());
      return createClient({ transport });
    },
  ],
];
const codeOf = (request: Promise<unknown>) =>
  request.then(
    () => 200,
    ({ code }: { code: number }) => code,
  );
/** The code of the connection's error. */
const connectionCodeOf = (request: Promise<unknown>) =>
  request.then(
    () => 'answered',
    ({ code, cause }: { code: unknown; cause?: { code?: string } }) => cause?.code ?? code,
  );

describe.each(transports)('faults of a client %s', (where, open) => {
  const lost = 'ECONNRESET';

  it('refuse connections: nothing is served', async () => {
    const client = await open();
    const fault = server.faults.add({ verb: 'create', resource: 'configmaps', times: 1, fault: 'refuse' });
    const code = await connectionCodeOf(client.create(configMaps, configMap('a')));
    expect(code).toBe(where === 'in process' ? 'ECONNREFUSED' : lost);
    expect((await client.list(configMaps)).items).toEqual([]);
    await client.create(configMaps, configMap('a'));
    expect(fault.hits).toBe(1);
  });

  it('lose the answer of a write that was committed', async () => {
    const client = await open();
    server.faults.add({ verb: ['create', 'update'], times: 1, fault: 'drop-after-write' });
    expect(await connectionCodeOf(client.create(configMaps, configMap('a')))).toBe(lost);
    expect(await codeOf(client.create(configMaps, configMap('a')))).toBe(409);
    expect(await client.get({ ...configMaps, name: 'a' })).toMatchObject({ metadata: { name: 'a' } });
  });

  it.each<[FaultStatus, string]>([
    [403, 'Forbidden'],
    [404, 'NotFound'],
    [409, 'Conflict'],
    [410, 'Expired'],
    [429, 'TooManyRequests'],
    [500, 'InternalError'],
    [503, 'ServiceUnavailable'],
    [504, 'Timeout'],
  ])('answer with %i %s, and serve nothing', async (status, reason) => {
    const client = await open();
    await client.create(configMaps, configMap('a', { a: '1' }));
    const fault = server.faults.add({ name: 'a', verb: 'update', fault: { status } });
    const update = () => client.update({ ...configMaps, name: 'a' }, configMap('a', { a: '2' }));
    await expect(update()).rejects.toMatchObject({ code: status, reason });
    await expect(update()).rejects.toMatchObject({ code: status, reason });
    expect(fault.hits).toBe(2);
    fault.remove();
    expect(await client.get({ ...configMaps, name: 'a' })).toMatchObject({ data: { a: '1' } });
    await update();
  });

  it('tell when to come back', async () => {
    const client = await open();
    server.faults.add({ verb: 'get', fault: { status: 429, retryAfterSeconds: 7, message: 'slow down' } });
    const { status, headers } = await client.request({
      method: 'GET',
      url: '/api/v1/namespaces/default/configmaps/a',
      headers: {},
    });
    expect([status, headers['retry-after']]).toEqual([429, '7']);
    await expect(client.get({ ...configMaps, name: 'a' })).rejects.toMatchObject({ message: 'slow down' });
  });

  it('cut the connections of watches', async () => {
    const client = await open();
    const { metadata } = await client.create(configMaps, configMap('a'));
    const watches = await Promise.all([client.watch(configMaps), client.watch(configMaps)]);
    const events = watches.map((watch) => watch[Symbol.asyncIterator]());
    for (const one of events) expect((await one.next()).value).toMatchObject({ type: 'ADDED' });
    const next = events.map((one) => connectionCodeOf(one.next()));
    expect(server.faults.dropWatches()).toBe(2);
    expect(await Promise.all(next)).toEqual([lost, lost]);
    expect(server.faults.dropWatches()).toBe(0);
    const again = await client.watch(configMaps, { resourceVersion: metadata.resourceVersion ?? '' });
    await client.create(configMaps, configMap('b'));
    for await (const { object } of again) {
      expect(object.metadata.name).toBe('b');
      break;
    }
    await expect.poll(() => server.faults.dropWatches()).toBe(0);
  });
});

describe('faults over HTTP/2', () => {
  it('reset the stream, and leave the others of the connection alone', async () => {
    const { url } = await server.listen();
    const { ca, certificate } = server.as('jane', ['system:masters']).credentials();
    const session = connect(url, { ca, ...certificate });
    ends.push(() => session.destroy());
    const send = (method: string, body?: object) => {
      const path = '/api/v1/namespaces/default/configmaps';
      const stream = session.request({ ':method': method, ':path': path, 'content-type': 'application/json' });
      stream.end(body && JSON.stringify(body));
      return text(stream);
    };
    server.faults.add({ verb: 'create', times: 1, fault: 'drop-after-write' });
    server.faults.add({ verb: 'get', fault: 'refuse' });
    const lost = send('POST', configMap('a'));
    await expect(lost).rejects.toMatchObject({ code: 'ERR_HTTP2_STREAM_ERROR' });
    expect(JSON.parse(await send('GET'))).toMatchObject({ items: [{ metadata: { name: 'a' } }] });
  });
});

describe('a fault', () => {
  it('is for the requests of its rule alone, the first of several that match', async () => {
    const { client, faults } = server;
    await client.create(configMaps, configMap('a'));
    const secrets = { ...configMaps, resource: 'secrets' };
    const jane = server.as('jane', ['system:masters']);
    faults.add({ user: 'jane', verb: 'list', resource: 'configmaps', fault: { status: 503 } });
    faults.add({ verb: 'list', namespace: 'default', resource: 'configmaps', times: 1, fault: { status: 500 } });
    faults.add({ resource: 'deployments.apps/status', fault: { status: 409 } });
    faults.add({ resource: 'deployments.other', fault: { status: 404 } });
    expect(await codeOf(jane.list(secrets))).toBe(200);
    expect(await codeOf(jane.list(configMaps))).toBe(503);
    expect(await codeOf(client.list({ ...configMaps, namespace: 'other' }))).toBe(200);
    expect([await codeOf(client.list(configMaps)), await codeOf(client.list(configMaps))]).toEqual([500, 200]);
    const deployments = { apiVersion: 'apps/v1', resource: 'deployments', namespace: 'default' };
    expect(await codeOf(client.list(deployments))).toBe(200);
    expect(await codeOf(client.get({ ...deployments, name: 'a', subresource: 'status' }))).toBe(409);
    faults.clear();
    expect(await codeOf(jane.list(configMaps))).toBe(200);
    const discover = () => client.request({ method: 'GET', url: '/apis', headers: {} });
    faults.add({ verb: 'get', resource: 'apis', fault: 'refuse' });
    expect((await discover()).status).toBe(200);
    faults.add({ fault: 'refuse' });
    expect(await codeOf(discover())).toBe(503);
  });

  it('delays requests by the clock of the server', async () => {
    const clock = new VirtualClock();
    const slow = await testServer({ clock });
    ends.push(() => slow.close());
    slow.faults.add({ verb: 'create', fault: { delay: '2s' } });
    const created = slow.client.create(configMaps, configMap('a'));
    await slow.clock.advance('1999ms');
    expect((await slow.client.list(configMaps)).items).toEqual([]);
    await slow.clock.advance(1);
    await created;
    const stop = new AbortController();
    const aborted = slow.client.create(configMaps, configMap('b'), { signal: stop.signal });
    stop.abort();
    await codeOf(aborted);
    const waiting = connectionCodeOf(slow.client.create(configMaps, configMap('c')));
    await slow.close();
    expect(await waiting).toBe('ECONNRESET');
  });

  it("does not meet the server's own controllers", async () => {
    const own = await testServer({ clock: new VirtualClock(), controllers: 'serviceaccount-controller' });
    ends.push(() => own.close());
    own.faults.add({ fault: 'refuse' });
    await own.settled();
    own.faults.clear();
    const place = { ...configMaps, resource: 'serviceaccounts', name: 'default' };
    expect(await own.client.get(place)).toMatchObject({ metadata: { name: 'default' } });
  });

  it.each<[object, string]>([
    [{ verb: 'post' }, 'verb "post" is none of get, list, watch, create, update, patch, delete, deletecollection'],
    [{ resorce: 'pods' }, 'resorce is an unknown part; did you mean "resource"?'],
    [{ times: 0 }, 'times must be a whole number above 0'],
    [{ fault: 'drop' }, "fault must be 'refuse', 'drop-after-write', { delay: '2s' } or { status: 409 }"],
    [{ fault: { status: 418 } }, '{ status: 409 }, with a status of 403, 404, 409, 410, 429, 500, 503, 504'],
    [{ fault: { delay: '2s', status: 409 } }, 'fault.status is an unknown part'],
    [{ fault: { status: 409, mesage: '' } }, 'fault.mesage is an unknown part; did you mean "message"?'],
    [{ fault: { delay: 'long' } }, 'delay "long" must be a duration such as 30s, 500ms or 1h30m'],
  ])('%j makes no sense', (part, message) => {
    expect(() => server.faults.add({ fault: 'refuse', ...part } as FaultRule)).toThrow(message);
  });
});
