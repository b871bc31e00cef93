import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import type { Client } from '../client.ts';
import { openSocket } from '../client.ts';
import { authorization, type TestedServer } from '../server.ts';
import { type Attack, asAdmin, hold, type Scenario, succeeded } from './scenario.ts';

/** Documents about the API, which are large where many definitions are installed. */

const definitions = '/apis/apiextensions.orch.io/v1/customresourcedefinitions';
const group = 'documents.example.com';
const nameOf = (i: number) => `d${i}s.${group}`;

const words = 'the value of this field is what its controller has seen last when set by a user or a default'.split(' ');

/** A text that compresses like prose. */
function prose(seed: number, length: number): string {
  let state = seed + 1;
  let text = '';
  while (text.length < length) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    text += `${words[(state >>> 8) % words.length]}${(state >>> 24) % 7 === 0 ? state % 1_000 : ''} `;
  }
  return text;
}

/** A definition whose schema has many properties, each with a long description. */
function definition(i: number, { properties, length }: Force) {
  const described = Array.from({ length: properties }, (_, at) => {
    const description = prose(i * properties + at, length);
    return [`field${at}`, { type: at % 2 === 0 ? 'string' : 'integer', description }];
  });
  const spec = { type: 'object', properties: Object.fromEntries(described) };
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } };
  return {
    metadata: { name: nameOf(i) },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: `d${i}s`, kind: `D${i}` },
      versions: [{ name: 'v1', served: true, storage: true, subresources: { status: {} }, schema }],
    },
  };
}

interface Force {
  readonly count: number;
  readonly properties: number;
  readonly length: number;
  readonly rounds: number;
  readonly slow: number;
}

/** 1,000 definitions of 35 KB; in short 20 of 120 KB. */
const forces: { readonly [force in 'full' | 'short']: Force } = {
  full: { count: 1_000, properties: 170, length: 150, rounds: 3, slow: 40 },
  short: { count: 20, properties: 200, length: 550, rounds: 1, slow: 40 },
};

/** How much clients that read nothing may take in memory (bytes): a few pieces each, and the buffers of the connections. */
const mostForReaders = 64 * 1024 * 1024;

/** Runs a task for each number, a few at a time. */
async function each(count: number, task: (i: number) => Promise<void>): Promise<void> {
  let next = 0;
  const run = async () => {
    while (next < count) await task(next++);
  };
  await Promise.all(Array.from({ length: 4 }, run));
}

const protobuf = (version: string) => `application/com.github.proto-openapi.spec.${version}.v1.0+protobuf`;
const v3 = `/openapi/v3/apis/${group}/v1`;
const aggregated = 'application/json;g=apidiscovery.orch.io;v=v2;as=APIGroupDiscoveryList';

/** The documents that clients request after each change. */
const documents: readonly (readonly [path: string, accept: string])[] = [
  ['/openapi/v2', 'application/json'],
  ['/openapi/v2', protobuf('v2')],
  [v3, 'application/json'],
  [v3, protobuf('v3')],
  ['/openapi/v3', 'application/json'],
  ['/apis', aggregated],
  [`/apis/${group}/v1`, 'application/json'],
  [`/apis/${group}/v1`, 'application/yaml'],
  [`/apis/${group}/v1`, 'application/json;pretty=1'],
];

/** Asks for a document as a user without rights. */
async function read(client: Client, path: string, accept: string, encoding: string): Promise<void> {
  const headers = { accept, 'accept-encoding': encoding };
  const answer = await client.http1({ user: 'bob', method: 'GET', path, headers });
  succeeded(`${path} as ${accept}`, answer);
  if (encoding !== 'gzip' || accept !== 'application/json' || answer.headers['content-encoding'] !== 'gzip') return;
  hold(gunzipSync(answer.body).at(-1) !== undefined, `${path} cannot be decompressed`);
}

/** Connections that ask for a document and read nothing of the response. */
function stalledReaders({ port, ca, ...server }: TestedServer, count: number) {
  const bob = `Authorization: ${authorization('bob').authorization}\r\n`;
  return Promise.all(
    Array.from({ length: count }, async (_, i) => {
      const encoding = i % 2 === 0 ? '' : 'Accept-Encoding: gzip\r\n';
      const socket = await openSocket({ ...server, port, ca }, 'http/1.1');
      socket.write(`GET /openapi/v2 HTTP/1.1\r\nHost: localhost\r\n${bob}${encoding}\r\n`);
      await once(socket, 'readable');
      return socket;
    }),
  );
}

/** Has a definition changed, and each document asked for again by several at once. */
async function round(client: Client, i: number): Promise<void> {
  const change = { spec: { names: { shortNames: [`changed${i}`] } } };
  const path = `${definitions}/${nameOf(i)}`;
  succeeded('a change', await client.http1(asAdmin('PATCH', path, change, 'application/merge-patch+json')));
  for (const [document, accept] of documents) {
    await Promise.all(['gzip', 'identity', 'gzip'].map((encoding) => read(client, document, accept, encoding)));
  }
}

const largeDocuments: Scenario = {
  name: 'documents',
  title: 'documents about many definitions are made and sent piece by piece, and kept compressed',
  options: { heapMb: 1_024 },
  // The definitions stay: they take two thirds of it.
  mostLeft: { full: 288 * 1024 * 1024, short: 64 * 1024 * 1024 },
  attack: async ({ server, client, full }: Attack) => {
    const force = forces[full ? 'full' : 'short'];
    await each(force.count, async (i) => {
      succeeded('a definition', await client.http1(asAdmin('POST', definitions, definition(i, force))));
    });
    for (let i = 0; i < force.rounds; i++) await round(client, i);
    const before = await server.resident();
    const readers = await stalledReaders(server, force.slow);
    await sleep(500);
    const grown = (await server.resident()) - before;
    for (const socket of readers) socket.destroy();
    hold(grown <= mostForReaders, `${force.slow} slow readers take ${Math.round(grown / 1024 / 1024)} MB of memory`);
  },
};

export const documentScenarios: readonly Scenario[] = [largeDocuments];
