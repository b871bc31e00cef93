import { describe, expect, it } from 'vitest';
import { type ApiObject, type ByteString, encodeText, StatusError, statusError } from '../meta/index.ts';
import { createClient } from './create-client.ts';
import { type InProcessHandler, inProcessTransport } from './transport/in-process.ts';

type Seen = { method: string; url: string; headers: { readonly [name: string]: string }; body: string };
type Answer = Awaited<ReturnType<InProcessHandler>>;

/** A client whose transport records requests and responds with `answer`. */
function clientOf(answer: Partial<Answer> | ((request: Parameters<InProcessHandler>[0]) => Partial<Answer>)) {
  const seen: Seen[] = [];
  const handler: InProcessHandler = async (request) => {
    const body = Buffer.from(await request.body(1000)).toString();
    seen.push({ method: request.method, url: request.url, headers: request.headers, body });
    return {
      status: 200,
      headers: {},
      body: encodeText('{}'),
      ...(answer instanceof Function ? answer(request) : answer),
    };
  };
  return { client: createClient({ transport: inProcessTransport(handler), baseHeaders: { 'user-agent': 't' } }), seen };
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const out: T[] = [];
  for await (const item of items) out.push(item);
  return out;
}

async function* pieces(...texts: string[]): AsyncGenerator<ByteString> {
  for (const text of texts) yield encodeText(text);
}

const configMaps = { apiVersion: 'v1', resource: 'configmaps', namespace: 'default' };
const object: ApiObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };

describe('createClient', () => {
  it('sends each verb with its method, path and query', async () => {
    const { client, seen } = clientOf({});
    await client.get({ ...configMaps, name: 'a' });
    await client.list({ apiVersion: 'apps/v1', resource: 'deployments' }, { limit: 5, labelSelector: 'a=b' });
    await client.create(configMaps, object, { dryRun: true, fieldManager: 'me' });
    await client.update({ ...configMaps, name: 'a', subresource: 'status' }, object);
    await client.patch({ ...configMaps, name: 'a' }, 'json', [{ op: 'remove', path: '/data' }]);
    await client.patch({ ...configMaps, name: 'a' }, 'merge', { data: null });
    await client.apply({ ...configMaps, name: 'a' }, object, { fieldManager: 'me', force: true });
    await client.delete({ ...configMaps, name: 'a' }, { propagationPolicy: 'Orphan' });
    await client.delete({ apiVersion: 'v1', resource: 'namespaces', name: 'x' });
    await client.deleteCollection(configMaps, { propagationPolicy: 'Orphan' });
    expect(seen.map(({ method, url, headers, body }) => [method, url, headers['content-type'], body])).toEqual([
      ['GET', '/api/v1/namespaces/default/configmaps/a', undefined, ''],
      ['GET', '/apis/apps/v1/deployments?limit=5&labelSelector=a%3Db', undefined, ''],
      [
        'POST',
        '/api/v1/namespaces/default/configmaps?fieldManager=me&dryRun=All',
        'application/json',
        JSON.stringify(object),
      ],
      ['PUT', '/api/v1/namespaces/default/configmaps/a/status', 'application/json', JSON.stringify(object)],
      [
        'PATCH',
        '/api/v1/namespaces/default/configmaps/a',
        'application/json-patch+json',
        '[{"op":"remove","path":"/data"}]',
      ],
      ['PATCH', '/api/v1/namespaces/default/configmaps/a', 'application/merge-patch+json', '{"data":null}'],
      [
        'PATCH',
        '/api/v1/namespaces/default/configmaps/a?fieldManager=me&force=true',
        'application/apply-patch+yaml',
        JSON.stringify(object),
      ],
      ['DELETE', '/api/v1/namespaces/default/configmaps/a', 'application/json', '{"propagationPolicy":"Orphan"}'],
      ['DELETE', '/api/v1/namespaces/x', undefined, ''],
      ['DELETE', '/api/v1/namespaces/default/configmaps', 'application/json', '{"propagationPolicy":"Orphan"}'],
    ]);
    expect(seen[0]?.headers).toEqual({ accept: 'application/json', 'user-agent': 't' });
  });

  it('escapes a name in its path segment', async () => {
    const { client, seen } = clientOf({});
    await client.get({ ...configMaps, name: 'a/b?c#d%' });
    expect(seen[0]?.url).toBe('/api/v1/namespaces/default/configmaps/a%2Fb%3Fc%23d%25');
  });

  it('throws the Status of a failed response with all its fields', async () => {
    const status = statusError.alreadyExists({ group: '', resource: 'configmaps' }, 'a').toStatus();
    const { client } = clientOf({ status: 409, body: encodeText(JSON.stringify(status)) });
    const error = await client.create(configMaps, object).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(StatusError);
    expect((error as StatusError).toStatus()).toEqual(status);
  });

  it('reads the whole response to the deletion of a collection and throws its failure', async () => {
    let read = 0;
    const body = async function* () {
      for (; read < 3; read++) yield encodeText('no JSON');
    };
    await clientOf({ body: body() }).client.deleteCollection(configMaps);
    expect(read).toBe(3);
    const status = statusError.badRequest('no').toStatus();
    const { client } = clientOf({ status: 400, body: encodeText(JSON.stringify(status)) });
    await expect(client.deleteCollection(configMaps)).rejects.toMatchObject({ code: 400, message: 'no' });
  });

  it('throws the text of a failed response that is not a Status', async () => {
    const { client } = clientOf({ status: 502, body: encodeText('bad gateway') });
    await expect(client.get({ ...configMaps, name: 'a' })).rejects.toMatchObject({ code: 502, message: 'bad gateway' });
  });

  it('throws 500 for a response that is not JSON, and 503 for a server that cannot be reached', async () => {
    const { client } = clientOf({ body: encodeText('hello') });
    await expect(client.list(configMaps)).rejects.toMatchObject({
      code: 500,
      message: 'the answer is not JSON: hello',
    });
    const away = createClient({ transport: () => Promise.reject(new Error('connect ECONNREFUSED')) });
    await expect(away.list(configMaps)).rejects.toMatchObject({
      code: 503,
      message: 'the server cannot be reached: connect ECONNREFUSED',
    });
  });

  it('sends any request and returns its response unchanged', async () => {
    const { client } = clientOf({ status: 404, headers: { 'X-A': ['1', '2'] }, body: pieces('a', 'b') });
    const { status, headers, body } = await client.request({ method: 'GET', url: '/metrics', headers: {} });
    expect([status, headers]).toEqual([404, { 'x-a': '1, 2' }]);
    expect(Buffer.concat(await all(body)).toString()).toBe('ab');
  });
});

describe('watch', () => {
  const event = (type: string, name: string) => ({ type, object: { ...object, metadata: { name } } });
  const line = (type: string, name: string) => `${JSON.stringify(event(type, name))}\n`;

  it('joins events that are split over chunks', async () => {
    const text = line('ADDED', 'grün') + line('DELETED', 'b');
    const bytes = encodeText(text);
    for (let size = 1; size < bytes.length; size += 7) {
      const cut: string[] = [];
      for (let i = 0; i < bytes.length; i += size) cut.push(bytes.slice(i, i + size));
      const { client, seen } = clientOf({
        body: (async function* () {
          yield* cut as ByteString[];
        })(),
      });
      const events = await all(await client.watch(configMaps, { resourceVersion: '5' }));
      expect(events).toEqual([event('ADDED', 'grün'), event('DELETED', 'b')]);
      expect(seen[0]?.url).toBe('/api/v1/namespaces/default/configmaps?watch=true&resourceVersion=5');
    }
  });

  it('throws an ERROR event as its Status after delivering the preceding events', async () => {
    const expired = JSON.stringify({
      type: 'ERROR',
      object: statusError.expired('too old resource version').toStatus(),
    });
    const { client } = clientOf({ body: pieces(line('ADDED', 'a'), `${expired}\n`) });
    const seen: string[] = [];
    const reading = (async () => {
      for await (const { type } of await client.watch(configMaps)) seen.push(type);
    })();
    await expect(reading).rejects.toMatchObject({ code: 410, reason: 'Expired', message: 'too old resource version' });
    expect(seen).toEqual(['ADDED']);
  });

  it('rejects with the Status of a failed response', async () => {
    const status = statusError.badRequest('no').toStatus();
    const { client } = clientOf({ status: 400, body: encodeText(JSON.stringify(status)) });
    await expect(client.watch(configMaps)).rejects.toMatchObject({ code: 400, message: 'no' });
  });

  it("aborts the request when the loop ends early, on close, and with the caller's signal", async () => {
    const endless = () => {
      let signal: AbortSignal | undefined;
      const { client } = clientOf((request) => {
        signal = request.signal;
        return {
          body: (async function* () {
            yield encodeText(line('ADDED', 'a'));
            await new Promise((resolve) => request.signal.addEventListener('abort', resolve));
          })(),
        };
      });
      return { client, aborted: () => signal?.aborted };
    };
    const abandoned = endless();
    for await (const _ of await abandoned.client.watch(configMaps)) break;
    expect(abandoned.aborted()).toBe(true);

    const closed = endless();
    const watch = await closed.client.watch(configMaps);
    const seen: string[] = [];
    for await (const { type } of watch) {
      seen.push(type);
      setImmediate(() => watch.close());
    }
    expect([closed.aborted(), seen]).toEqual([true, ['ADDED']]);

    const stopped = endless();
    const stop = new AbortController();
    for await (const _ of await stopped.client.watch(configMaps, { signal: stop.signal })) {
      setImmediate(() => stop.abort());
    }
    expect(stopped.aborted()).toBe(true);
  });
});

describe('inProcessTransport', () => {
  it('passes the subject to the handler and rejects a body over the limit with 413', async () => {
    const subject = { commonName: 'admin', organizations: ['system:masters'] };
    const handler: InProcessHandler = async (request) => {
      expect(request.peer).toEqual({ address: '', network: '', certificate: subject });
      const body = await request.body(3).catch((error: unknown) => (error instanceof StatusError ? error.code : 0));
      return { status: 200, headers: {}, body: encodeText(typeof body === 'number' ? String(body) : 'taken') };
    };
    const transport = inProcessTransport(handler, { subject });
    const text = async (body: Uint8Array) => {
      const response = await transport({ method: 'POST', url: '/', headers: {}, body });
      return Buffer.concat(await all(response.body)).toString();
    };
    expect(await text(Buffer.from('abc'))).toBe('taken');
    expect(await text(Buffer.from('abcd'))).toBe('413');
  });
});
