import { setImmediate } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import type { InProcessHandler } from '../../client/index.ts';
import { defaultFeatures, VirtualClock } from '../../meta/index.ts';
import { ControllerThread } from './controller-thread.ts';

const nextTurn = (): Promise<void> => setImmediate();

/** A thread in place of that of the controllers; `parentPort` is its port. */
const script = (body: string) =>
  new URL(`data:text/javascript,${encodeURIComponent(`import { parentPort } from 'node:worker_threads';${body}`)}`);

const request = (url: string) => `parentPort.postMessage({ type: 'request', id: 1, method: 'GET', url: '${url}',
  headers: {}, subject: { commonName: 'system:test', organizations: ['a'] } });`;
const stops = `parentPort.on('message', ({ type }) => type === 'stop' && parentPort.postMessage({ type: 'stopped' }));`;

function setUp(body: string, holds = true) {
  const clock = new VirtualClock();
  const requests: unknown[] = [];
  const logged: string[] = [];
  const queues: string[] = [];
  const handler: InProcessHandler = ({ url, peer }) => {
    requests.push([url, peer.certificate]);
    return Promise.resolve({ status: 200, headers: { A: 'b' }, body: Buffer.from('text') });
  };
  const log = (text: string) => void logged.push(text);
  const thread = new ControllerThread({
    handler,
    clock,
    holds: () => holds,
    entry: script(body),
    start: {
      apiDomain: 'k8s.io',
      controllers: [],
      fakeNodes: 0,
      gitVersion: 'v1',
      version: '1',
      rate: undefined,
      settings: { features: defaultFeatures, signingMs: 1, legacyTokenMs: 1 },
    },
    log: { info: log, warn: log, error: log },
    certificates: () => ({ rootCa: undefined, signing: undefined }),
    signSecretToken: ({ secret }) => Promise.resolve(`token of ${secret}`),
    observe: ({ name }) => ({
      added: () => queues.push(`${name} added`),
      started: (seconds) => queues.push(`${name} started ${seconds}`),
      ended: () => queues.push(`${name} ended`),
      retried: () => queues.push(`${name} retried`),
    }),
  });
  onTestFinished(() => thread.stop());
  const until = async (condition: () => boolean) => {
    while (!condition()) await nextTurn();
  };
  return { clock, requests, logged, queues, thread, until };
}

/** Logs what the server answers. */
const answers = `parentPort.on('message', ({ bytes, error, ...rest }) => parentPort.postMessage({ type: 'log',
  level: 'info', text: JSON.stringify({ ...rest, text: bytes && Buffer.from(bytes).toString(), error: error?.message }),
  fields: {} }));`;

it('serves the requests of the thread as the user that they name', async () => {
  const { requests, logged, until } = setUp(answers + stops + request('/api'));
  await until(() => logged.length === 3);
  expect(requests).toEqual([['/api', { commonName: 'system:test', organizations: ['a'] }]]);
  expect(logged.map((text) => JSON.parse(text))).toEqual([
    { type: 'response', id: 1, status: 200, headers: { a: 'b' } },
    { type: 'chunk', id: 1, text: 'text' },
    { type: 'end', id: 1 },
  ]);
});

it('refuses requests while the lease is not held', async () => {
  const { requests, logged, until } = setUp(answers + stops + request('/api'), false);
  await until(() => logged.length === 1);
  expect(JSON.parse(logged[0] ?? '')).toEqual({ type: 'end', id: 1, error: 'the lease is not held' });
  expect(requests).toEqual([]);
});

it('signs tokens, and tells of queues', async () => {
  const { queues, logged, until } = setUp(`${answers + stops}
    parentPort.postMessage({ type: 'sign', id: 7, token: { secret: 'a' } });
    parentPort.postMessage({ type: 'queues', events: [['q', 'added', 0], ['q', 'started', 2], ['q', 'ended', 1]] });`);
  await until(() => logged.length === 1 && queues.length === 3);
  expect(JSON.parse(logged[0] ?? '')).toEqual({ type: 'signed', id: 7, token: 'token of a' });
  expect(queues).toEqual(['q added', 'q started 2', 'q ended']);
});

it('starts a thread again that has ended, after longer and longer delays', async () => {
  const { clock, requests, logged, until } = setUp(
    `${request('/api')} setTimeout(() => { throw new Error('broken'); });`,
  );
  await until(() => logged.length === 1);
  expect(logged[0]).toBe('the thread of the controllers has ended and is started again');
  expect(requests).toHaveLength(1);
  await clock.advance(1_000, nextTurn);
  await until(() => logged.length === 2);
  await clock.advance(1_999, nextTurn);
  expect(logged).toHaveLength(2);
  await clock.advance(1, nextTurn);
  await until(() => logged.length === 3);
  expect(requests).toHaveLength(3);
});

it('ends a thread that does not stop', async () => {
  const { clock, requests, thread, until } = setUp(`parentPort.on('message', () => {}); ${request('/api')}`);
  await until(() => requests.length === 1);
  const stopped = thread.stop();
  await clock.advance(5_000, nextTurn);
  await stopped;
  await thread.settled();
});
