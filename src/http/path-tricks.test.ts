import { once } from 'node:events';
import http2 from 'node:http2';
import tls from 'node:tls';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Attributes } from '../auth/index.ts';
import type { Target } from '../registry/index.ts';
import { type Listener, listen } from './listener/listener.ts';
import {
  type Fixture,
  makeCertificates,
  makeFixture,
  realClock,
  requestOf,
  type SendOptions,
} from './testing/fixture.ts';

// However a path is spelled, the object that is served is the one for which the request was authorized.
const secrets = '/api/v1/namespaces/default/secrets';
const { ca, cert, key } = makeCertificates();

let server: Fixture;
let listener: Listener;
const asked: Attributes[] = [];
const served: string[] = [];

beforeAll(async () => {
  const authorize = (attributes: Attributes) => {
    asked.push(attributes);
    return { allowed: true, reason: '' };
  };
  server = await makeFixture({ authorize });
  for (const name of ['s', 'other']) await server.send('POST', secrets, { body: { metadata: { name } } });
  const { handler } = server;
  const log = { error: () => {} };
  listener = await listen({
    handler,
    address: '127.0.0.1',
    port: 0,
    tls: { cert, key },
    clock: realClock,
    log,
    limits: {},
  });
});
afterAll(async () => {
  await listener.close(100);
  await server.close();
});
beforeEach(() => {
  asked.length = 0;
  served.length = 0;
  const { registry } = server;
  for (const verb of ['get', 'list', 'watch', 'write', 'deleteCollection', 'connect'] as const) {
    const original = registry[verb].bind(registry) as (target: Target, ...rest: unknown[]) => never;
    vi.spyOn(registry, verb).mockImplementation(((target: Target, ...rest: unknown[]) => {
      const { verb: change } = rest[0] as { readonly verb?: string };
      served.push(`${verb === 'write' ? change : verb.toLowerCase()} ${placeOf(target)}`);
      return original(target, ...rest);
    }) as never);
  }
});

/** The served target, in the form of `authorizedFor`. */
function placeOf({ resource: { id }, version, namespace, name, subresource }: Target): string {
  // The request info of a namespace has its name as its namespace.
  const within = id.group === '' && id.resource === 'namespaces' ? name : namespace;
  return [`${id.group}/${version}`, within, id.resource, name, subresource].map((part) => part || '-').join(' ');
}

function authorizedFor({ verb, resource, path }: Attributes): string {
  if (resource === undefined) return `${verb} ${path}`;
  const { group, version, namespace, name, subresource } = resource;
  const place = [`${group}/${version}`, namespace, resource.resource, name, subresource];
  return `${verb} ${place.map((part) => part || '-').join(' ')}`;
}

/** The status of an anonymous request, what it was authorized for, and what was served. */
async function outcome(method: string, url: string, options: SendOptions = {}) {
  asked.length = 0;
  served.length = 0;
  const abort = new AbortController();
  const request = requestOf(method, url, { token: '', signal: abort.signal, ...options });
  const { status } = await server.handler(request);
  abort.abort();
  return { status, authorized: asked.map(authorizedFor), served: [...served] };
}

const one = 'get /v1 default secrets s -';
const all = 'list /v1 default secrets - -';

describe('a path that is spelled in another way', () => {
  it.each([
    [`${secrets}/s`, one],
    [`${secrets}/s/`, one],
    [`${secrets}/%73`, one],
    ['/%61pi/v1/namespaces/default/secrets/s', one],
    ['/api/v1/namespaces/default%2Fsecrets%2fs', one],
    ['/api%2fv1%2fnamespaces%2fdefault%2fsecrets%2fs', one],
    [`https://other.example.com${secrets}/s`, one],
    [`HTTP://user:password@[::1]:1${secrets}/s`, one],
    [`${secrets}/s?name=other&namespace=kube-system&resource=pods`, one],
    [`${secrets}/`, all],
    [`${secrets}?fieldSelector=metadata.name!%3Ds`, all],
    ['/api/v1/secrets', 'list /v1 - secrets - -'],
    ['/api/v1/namespaces/default', 'get /v1 default namespaces default -'],
  ])('is authorized for what is served: %s', async (url, expected) => {
    expect(await outcome('GET', url)).toEqual({ status: 200, authorized: [expected], served: [expected] });
  });

  // Each is a name that no object has, or a path that leads nowhere; none is another spelling of an object.
  it.each([
    [`${secrets}/S`, 'get /v1 default secrets S -'],
    [`${secrets}/s%00`, 'get /v1 default secrets s\0 -'],
    [`${secrets}/s;x=1`, 'get /v1 default secrets s;x=1 -'],
    [`${secrets}/s%3Fwatch=1`, 'get /v1 default secrets s?watch=1 -'],
    [`${secrets}/s%23x`, 'get /v1 default secrets s#x -'],
    [`${secrets}/s%20`, 'get /v1 default secrets s  -'],
    [`${secrets}/s%252F`, 'get /v1 default secrets s%2F -'],
    [`${secrets}/.`, 'get /v1 default secrets . -'],
    [`${secrets}/..`, 'get /v1 default secrets .. -'],
    [`${secrets}/%2e%2e`, 'get /v1 default secrets .. -'],
    [`${secrets}/other\\..\\s`, 'get /v1 default secrets other\\..\\s -'],
    [`${secrets}/${'s'.repeat(100_000)}`, `get /v1 default secrets ${'s'.repeat(100_000)} -`],
    [`${secrets}/other/../s`, 'get /v1 default secrets other ..'],
    [`${secrets}/other/%2e%2e/s`, 'get /v1 default secrets other ..'],
    [`${secrets}/./s`, 'get /v1 default secrets . s'],
    [`${secrets}${'/s'.repeat(10_000)}`, 'get /v1 default secrets s s'],
    ['/api/v1/namespaces/x/../default/secrets/s', 'get /v1 x .. default secrets'],
    ['/api/v1/namespaces/./secrets/s', 'get /v1 . secrets s -'],
    ['/api/v1/namespaces/%2e%2e/secrets/s', 'get /v1 .. secrets s -'],
    ['/api/v1/./namespaces/default/secrets/s', 'get /v1 - . namespaces default'],
    ['/api/v2/../v1/namespaces/default/secrets/s', 'get /v2 - .. v1 namespaces'],
    ['/apis/../api/v1/namespaces/default/secrets/s', 'get ../api - v1 namespaces default'],
    ['/apis//v1/namespaces/default/secrets/s', 'get /apis//v1/namespaces/default/secrets/s'],
    ['/api/V1/namespaces/default/secrets/s', 'get /V1 default secrets s -'],
    ['/api/v1/Namespaces/default/secrets/s', 'get /v1 - Namespaces default secrets'],
    ['/api/v1/namespaces/default/Secrets/s', 'get /v1 default Secrets s -'],
    ['/api/v1/namespaces/DEFAULT/secrets/s', 'get /v1 DEFAULT secrets s -'],
    ['/API/v1/namespaces/default/secrets/s', 'get /API/v1/namespaces/default/secrets/s'],
    ['//api/v1/namespaces/default/secrets/s', 'get //api/v1/namespaces/default/secrets/s'],
    ['https://x//api/v1/namespaces/default/secrets/s', 'get //api/v1/namespaces/default/secrets/s'],
    ['ftp://x/api/v1/namespaces/default/secrets/s', 'get ftp://x/api/v1/namespaces/default/secrets/s'],
    ['/healthz/../api/v1/namespaces/default/secrets/s', 'get /healthz/../api/v1/namespaces/default/secrets/s'],
    ['/version/../../api/v1/secrets', 'get /version/../../api/v1/secrets'],
    ['/api//v1/namespaces/default/secrets/s', 'get /api//v1/namespaces/default/secrets/s'],
    ['/api/v1//secrets', 'get /api/v1//secrets'],
    ['/api/v1/namespaces//secrets', 'get /api/v1/namespaces//secrets'],
    ['/api/v1/namespaces//secrets/s', 'get /api/v1/namespaces//secrets/s'],
    ['/api/v1/namespaces/default//secrets/s', 'get /api/v1/namespaces/default//secrets/s'],
    [`${secrets}//s`, `get ${secrets}//s`],
    [`${secrets}//`, `get ${secrets}//`],
    [`${secrets}/s//`, `get ${secrets}/s//`],
    ['/apis/v1/namespaces/default/secrets/s', 'get v1/namespaces - default secrets s'],
    ['/apis/core/v1/namespaces/default/secrets/s', 'get core/v1 default secrets s -'],
    ['/api/v1/proxy/namespaces/default/secrets/s', 'get /v1 - proxy namespaces default'],
    ['/api/v1/watch', 'list /v1 - watch - -'],
  ])('leads to nothing: %.80s', async (url, expected) => {
    const { status, authorized, served: found } = await outcome('GET', url);
    expect(authorized).toEqual([expected]);
    // The target is the authorized one.
    for (const place of found) expect(place).toBe(expected);
    expect([400, 404]).toContain(status);
  });

  it.each(['/%', '/api/v1/%ff', `${secrets}/%c0%ae`, `${secrets}/s%2`])('is a bad request: %s', async (url) => {
    expect(await outcome('GET', url)).toEqual({ status: 400, authorized: [], served: [] });
  });

  it.each([
    ['/api/v1/watch/namespaces/default/secrets', 'watch /v1 default secrets - -'],
    ['/api/v1/watch/namespaces/default/secrets/s', 'watch /v1 default secrets s -'],
    ['/api/v1/%77atch/secrets', 'watch /v1 - secrets - -'],
    [`${secrets}/s?watch=1`, 'watch /v1 default secrets s -'],
    [`${secrets}?watch=&watch=0`, 'watch /v1 default secrets - -'],
    [`${secrets}?w%61tch=%31`, 'watch /v1 default secrets - -'],
    [`${secrets}?watch=0&watch=1`, all],
    [`${secrets}?Watch=1`, all],
    [`${secrets}?watch%00=1`, all],
    [`${secrets}?watch=FALSE`, all],
  ])('is a watch when it is authorized as one: %s', async (url, expected) => {
    expect(await outcome('GET', url)).toEqual({ status: 200, authorized: [expected], served: [expected] });
  });

  it('of a watch does not nest', async () => {
    const { status, authorized, served: found } = await outcome('GET', '/api/v1/watch/watch/secrets');
    expect([status, authorized, found]).toEqual([404, ['watch /v1 - watch secrets -'], []]);
  });
});

describe('a field selector', () => {
  const name = (...names: string[]) => names.map((one) => `metadata.name%3D${one}`).join(',');
  it.each([
    [`fieldSelector=${name('s')}`, 's', ['s']],
    [`fieldSelector=${name('s')}&fieldSelector=${name('other')}`, 's', ['s']],
    [`fieldSelector=${name('s', 'other')}`, 'other', []],
    [`fieldSelector=${name('s')}&labelSelector=absent`, 's', []],
    [`fieldSelector=${name('s')},metadata.namespace%3Dkube-system`, 's', []],
    [`fieldSelector=&fieldSelector=${name('s')}`, '-', ['other', 's']],
    [`fieldselector=${name('s')}`, '-', ['other', 's']],
    [`fieldSelector=metadata.name!%3Dother`, '-', ['s']],
  ])('%s is authorized for the name that it requires, and lists no other', async (query, expected, listed) => {
    const { status, json } = await server.send('GET', `${secrets}?${query}`, { token: '' });
    const { items } = json() as unknown as {
      readonly items: readonly { readonly metadata: { readonly name: string } }[];
    };
    expect([status, items.map(({ metadata }) => metadata.name)]).toEqual([200, listed]);
    expect(asked.map(authorizedFor)).toEqual([`list /v1 default secrets ${expected} -`]);
  });
});

describe('a method', () => {
  const body = { metadata: { name: 's' } };
  it.each([
    ['POST', secrets, 'create /v1 default secrets - -'],
    ['PUT', `${secrets}/s`, 'update /v1 default secrets s -'],
    ['PATCH', `${secrets}/s`, 'patch /v1 default secrets s -'],
    ['DELETE', `${secrets}/s?dryRun=All`, 'delete /v1 default secrets s -'],
    ['DELETE', `${secrets}?dryRun=All`, 'deletecollection /v1 default secrets - -'],
    ['DELETE', `${secrets}?dryRun=All&watch=1`, 'deletecollection /v1 default secrets - -'],
    ['POST', `${secrets}?watch=1&dryRun=All&pretty=true`, 'create /v1 default secrets - -'],
  ])('decides the verb, whatever its parameters: %s %s', async (method, url, expected) => {
    const sent = method === 'DELETE' ? {} : { body };
    const headers = { 'x-http-method-override': 'GET', 'x-http-method': 'GET', 'x-method-override': 'GET' };
    const { authorized, served: found } = await outcome(method, url, {
      ...sent,
      headers: { ...headers, 'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' },
    });
    expect([authorized, found]).toEqual([[expected], [expected]]);
  });

  it('GET with a body and with headers of other methods is a GET', async () => {
    const headers = { 'x-http-method-override': 'DELETE' };
    expect(await outcome('GET', `${secrets}/s?_method=DELETE`, { body, headers })).toEqual({
      status: 200,
      authorized: [one],
      served: [one],
    });
  });

  it('HEAD is authorized as a GET, and serves no object', async () => {
    expect(await outcome('HEAD', `${secrets}/s`)).toEqual({ status: 405, authorized: [one], served: [] });
    expect(await outcome('HEAD', secrets)).toEqual({ status: 405, authorized: [all], served: [] });
  });

  it.each(['get', 'Delete', 'LIST', 'WATCH', 'OPTIONS', 'CONNECT', 'constructor'])(
    '%s has no verb on a resource, and serves nothing',
    async (method) => {
      const expected = ' /v1 default secrets s -';
      expect(await outcome(method, `${secrets}/s`)).toEqual({ status: 405, authorized: [expected], served: [] });
    },
  );

  it.each(['PUT', 'POST', 'DELETE', 'PATCH'])('%s on a watch by path serves nothing', async (method) => {
    const { authorized, served: found } = await outcome(method, '/api/v1/watch/namespaces/default/secrets/s', { body });
    expect([authorized, found]).toEqual([['watch /v1 default secrets s -'], []]);
  });

  it('GET needs create, too, to run a program in a pod', async () => {
    const pod = '/v1 default pods p';
    const { authorized } = await outcome('GET', '/api/v1/namespaces/default/pods/p/exec?command=x', {
      headers: { connection: 'upgrade', upgrade: 'websocket' },
    });
    expect(authorized).toEqual([`get ${pod} exec`, `create ${pod} exec`]);
  });
});

describe('over a connection', () => {
  /** The first line of the response to a request line of HTTP/1.1, sent as it is. */
  async function sent(line: string): Promise<string> {
    const socket = tls.connect({ port: listener.port, host: '127.0.0.1', ca });
    await once(socket, 'secureConnect');
    socket.write(`${line} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    let text = '';
    for await (const piece of socket.setEncoding('latin1')) text += piece;
    return text.slice(0, text.indexOf('\r\n'));
  }

  it.each([
    [`${secrets}/s`, 200, one],
    [`${secrets}/%73`, 200, one],
    [`${secrets}/other/../s`, 404, 'get /v1 default secrets other ..'],
    [`${secrets}/./s`, 404, 'get /v1 default secrets . s'],
    [`${secrets}//s`, 404, `get ${secrets}//s`],
    [`${secrets}/%2e%2e`, 400, 'get /v1 default secrets .. -'],
    [`${secrets}/s%00`, 404, 'get /v1 default secrets s\0 -'],
  ])('arrives as it was sent: %s', async (path, status, expected) => {
    expect(await sent(`GET ${path}`)).toContain(` ${status} `);
    expect(asked.map(authorizedFor)).toEqual([expected]);
    asked.length = 0;
    const session = http2.connect(`https://127.0.0.1:${listener.port}`, { ca });
    const stream = session.request({ ':path': path });
    const [head] = (await once(stream, 'response')) as [http2.IncomingHttpStatusHeader];
    session.destroy();
    expect(head[':status']).toBe(status);
    expect(asked.map(authorizedFor)).toEqual([expected]);
  });

  it.each(['get', 'Get', 'DELETE\t', 'LIST'])('with the method %j serves nothing', async (method) => {
    expect(await sent(`${method} ${secrets}/s`)).not.toContain(' 200 ');
    expect(served).toEqual([]);
  });

  it('in absolute form is served as the path in it', async () => {
    expect(await sent(`GET https://other.example.com${secrets}/s`)).toContain(' 200 ');
    expect([asked.map(authorizedFor), served]).toEqual([[one], [one]]);
  });

  it('of HTTP/2 is that of :path alone', async () => {
    const session = http2.connect(`https://127.0.0.1:${listener.port}`, { ca });
    const stream = session.request({
      ':path': `${secrets}/s`,
      ':authority': 'other.example.com',
      ':scheme': 'http',
      'x-original-url': '/version',
      'x-rewrite-url': '/version',
      'x-forwarded-prefix': '/version',
    });
    const [head] = (await once(stream, 'response')) as [http2.IncomingHttpStatusHeader];
    session.destroy();
    expect([head[':status'], asked.map(authorizedFor), served]).toEqual([200, [one], [one]]);
  });
});
