import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, openSocket } from '../client.ts';
import { authorization, type TestedServer } from '../server.ts';
import { asAdmin, hold, type Scenario, succeeded } from './scenario.ts';

/** Attacks by extension API servers. */

const group = 'evil.example.com';
const apis = `/apis/${group}/v1`;
const services = '/apis/apiregistration.orch.io/v1/apiservices';

type Answers = { readonly [path: string]: (request: IncomingMessage, response: ServerResponse) => void };

/** An extension that passes the checks, and otherwise answers as it likes. It names no credentials that it received. */
async function withExtension(
  { folder }: TestedServer,
  client: Client,
  answers: Answers,
  use: (received: readonly string[]) => Promise<void>,
): Promise<void> {
  const received: string[] = [];
  const pair = { cert: readFileSync(join(folder, 'server.crt')), key: readFileSync(join(folder, 'server.key')) };
  const extension = createServer(pair, (request, response) => {
    received.push(...request.rawHeaders);
    const answer = answers[(request.url ?? '').replace(/\?.*/, '')] ?? answers['*'];
    if (request.url === apis) response.end('{}');
    else if (answer === undefined) response.writeHead(404).end();
    else answer(request, response);
  });
  await new Promise<void>((listening) => extension.listen(0, '127.0.0.1', listening));
  const { port } = extension.address() as AddressInfo;
  const service = { metadata: { name: 'evil' }, spec: { type: 'ExternalName', externalName: 'localhost' } };
  succeeded('the service', await client.http1(asAdmin('POST', '/api/v1/namespaces/default/services', service)));
  const spec = {
    ...{ group, version: 'v1', groupPriorityMinimum: 100, versionPriority: 100, insecureSkipTLSVerify: true },
    service: { namespace: 'default', name: 'evil', port },
  };
  const registered = { metadata: { name: `v1.${group}` }, spec };
  succeeded('the APIService', await client.http1(asAdmin('POST', services, registered)));
  try {
    await until(client, `${services}/v1.${group}`, '"status":"True"');
    await use(received);
  } finally {
    extension.closeAllConnections();
    extension.close();
  }
}

/** Waits until a document contains a text. */
async function until(client: Client, path: string, text: string): Promise<void> {
  for (let i = 0; i < 200; i++) {
    if ((await client.http1(asAdmin('GET', path))).body.includes(text)) return;
    await sleep(50);
  }
  throw new Error(`${path} does not contain ${text}`);
}

const json = (value: string) => (_: IncomingMessage, response: ServerResponse) => {
  response.writeHead(200, { 'content-type': 'application/json' }).end(value);
};

const resource = (name: string) => ({ resource: name, verbs: ['list', 'get', 'delete', 'watch'], scope: 'Namespaced' });
const lies = [
  ...Array.from({ length: 20_000 }, (_, i) => resource(`r${i}`)),
  ...['../../api/v1/secrets', '__proto__', 'a/b', 'A', ''].map(resource),
  { ...resource('long'), shortNames: ['x'.repeat(100_000)], verbs: 'all', subresources: { a: 1 } },
];
const list = { items: [{ metadata: { name: group }, versions: [{ version: 'v1', resources: lies }] }] };

const lyingDiscovery: Scenario = {
  name: 'lying-extension',
  title: 'an extension whose documents are large, deep or false keeps nobody waiting and changes no other group',
  attack: async ({ server, client }) => {
    const deep = `{"swagger":"2.0","paths":{"${apis}/x":${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}}}`;
    const answers = {
      '/apis': json(JSON.stringify({ kind: 'APIGroupDiscoveryList', ...list })),
      '/openapi/v2': json(deep),
      '/openapi/v3': json(JSON.stringify({ paths: { 'api/v1': { serverRelativeURL: '/evil' } } })),
    };
    await withExtension(server, client, answers, async () => {
      const accept = 'application/json;g=apidiscovery.orch.io;v=v2;as=APIGroupDiscoveryList';
      const discovery = async () =>
        (await client.http1({ user: 'admin', method: 'GET', path: '/apis', headers: { accept } })).body.toString();
      for (let i = 0; i < 200 && !(await discovery()).includes('"r999"'); i++) await sleep(50);
      const shown = await discovery();
      hold(
        shown.includes('"r999"') && !shown.includes('"r1000"'),
        'discovery shows other than the first 1,000 resources',
      );
      hold(!/secrets"|__proto__|xxx/.test(shown), 'discovery shows invalid names');
      succeeded('the OpenAPI document', await client.http1(asAdmin('GET', '/openapi/v2')));
      const index = await client.http1(asAdmin('GET', '/openapi/v3'));
      hold(!index.body.includes('/evil'), 'the OpenAPI index of a built-in group is that of an extension');
    });
  },
};

const badAnswers: Scenario = {
  name: 'bad-extension-answers',
  title: 'answers of an extension that do not come, do not end or break off keep nobody waiting and get no credentials',
  attack: async ({ server, client, full }) => {
    const block = Buffer.from('1\r\n \r\n'.repeat(10_000));
    const answers = {
      [`${apis}/never`]: () => {},
      [`${apis}/broken`]: (_: IncomingMessage, response: ServerResponse) => {
        response.writeHead(200, { 'content-length': '100' }).write('{', () => response.destroy());
      },
      [`${apis}/endless`]: ({ socket }: IncomingMessage) => {
        socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
        const more = () => {
          while (socket.writable && socket.write(block));
          socket.once('drain', more);
        };
        more();
      },
      // The connection stays open after the response, and its client asks again over it.
      [`${apis}/surplus`]: ({ socket }: IncomingMessage) => {
        const surplus = () => {
          while (socket.writable && socket.write(block));
          socket.once('drain', surplus);
        };
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
        setTimeout(surplus, 10);
      },
      [`${apis}/head`]: ({ socket }: IncomingMessage) => {
        const more = () => {
          while (socket.writable && socket.write('X-More: 1\r\n'.repeat(1_000)));
          socket.once('drain', more);
        };
        socket.write('HTTP/1.1 200 OK\r\n');
        more();
      },
    };
    await withExtension(server, client, answers, async (received) => {
      const sockets = await Promise.all(
        Array.from({ length: full ? 30 : 10 }, async (_, i) => {
          const socket = await openSocket(server, 'http/1.1');
          const path = `${apis}/${['never', 'broken', 'endless', 'surplus', 'head'][i % 5]}`;
          const { authorization: token } = authorization('admin');
          socket.resume();
          socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${token}\r\nCookie: a=b\r\n\r\n`);
          return socket;
        }),
      );
      await sleep(full ? 5_000 : 500);
      for (const socket of sockets) socket.destroy();
      hold(!received.some((text) => text.includes('token-of-')), 'an extension receives the token of a user');
    });
  },
};

export const aggregationScenarios: readonly Scenario[] = [lyingDiscovery, badAnswers];
