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

type Body = Awaited<ReturnType<InProcessHandler>>['body'];

function setUp(body: string, { holds = true, answer = (): Body => Buffer.from('text') } = {}) {
  const clock = new VirtualClock();
  const requests: unknown[] = [];
  const logged: string[] = [];
  const queues: string[] = [];
  const handler: InProcessHandler = ({ url, peer }) => {
    requests.push([url, peer.certificate]);
    return Promise.resolve({ status: 200, headers: { A: 'b' }, body: answer() });
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

/** A body whose chunks are the events that have been added since the last one was read, as those of watches are. */
function eventsOf() {
  let events: string[] = [];
  let wake = () => {};
  const add = (...added: string[]) => {
    events.push(...added);
    wake();
  };
  async function* body() {
    for (;;) {
      if (events.length === 0) await new Promise<void>((resolve) => (wake = resolve));
      const chunk = Buffer.from(events.join());
      events = [];
      yield chunk;
    }
  }
  return { add, body };
}

const textsOf = (logged: readonly string[]) => logged.map((text) => (JSON.parse(text) as { text?: string }).text);

it('passes the first event of a watch on at once, and those of the next 20 ms together', async () => {
  const { add, body } = eventsOf();
  const { clock, logged, until } = setUp(answers + stops + request('/api/v1/pods?watch=true'), { answer: body });
  add('a');
  await until(() => logged.length === 2);
  add('b');
  add('c');
  await clock.advance(19, nextTurn);
  expect(textsOf(logged)).toEqual([undefined, 'a']);
  await clock.advance(1, nextTurn);
  await until(() => logged.length === 3);
  await clock.advance(20, nextTurn);
  add('d');
  await until(() => logged.length === 4);
  expect(textsOf(logged)).toEqual([undefined, 'a', 'b,c', 'd']);
});

it('ends a cancelled watch at once', async () => {
  let ended = false;
  async function* watched() {
    try {
      for (;;) yield Buffer.from(await Promise.resolve('a'));
    } finally {
      ended = true;
    }
  }
  const cancels = `parentPort.on('message', ({ type, id }) => type === 'chunk' && parentPort.postMessage({ type: 'cancel', id }));`;
  const { until } = setUp(cancels + stops + request('/api/v1/pods?watch=true'), { answer: watched });
  await until(() => ended);
});

it('does not delay other responses', async () => {
  async function* chunks() {
    yield Buffer.from('a');
    await nextTurn();
    yield Buffer.from('b');
  }
  const { logged, until } = setUp(answers + stops + request('/api/v1/pods?watchable=true'), { answer: chunks });
  await until(() => logged.length === 4);
  expect(textsOf(logged)).toEqual([undefined, 'a', 'b', undefined]);
});

it('refuses requests while the lease is not held', async () => {
  const { requests, logged, until } = setUp(answers + stops + request('/api'), { holds: false });
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
