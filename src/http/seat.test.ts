import { afterEach, describe, expect, it, vi } from 'vitest';
import { type Json, VirtualClock } from '../meta/index.ts';
import { openMemoryStore, type Store } from '../store/index.ts';
import { storeWith } from '../store/testing/store-with.ts';
import { type Fixture, makeFixture, requestOf } from './testing/fixture.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';
const headers = ['x-kubernetes-pf-flowschema-uid', 'x-kubernetes-pf-prioritylevel-uid'] as const;

const open: Fixture[] = [];
afterEach(async () => {
  for (const fixture of open.splice(0)) await fixture.close();
});

/** A server whose users but administrators have `seats` seats of a level with one queue. */
async function startServer(seats: number) {
  const clock = new VirtualClock();
  const authorize = () => ({ allowed: true, reason: '' });
  const server = await makeFixture({ seats, clock, authorize });
  open.push(server);
  const { flowControl } = server;
  const queuing = { queues: 1, handSize: 1, queueLengthLimit: 2 };
  flowControl?.setLevel('users', {
    uid: 'level-uid',
    spec: { type: 'Limited', limited: { nominalConcurrencyShares: 1_000, limitResponse: { type: 'Queue', queuing } } },
  });
  flowControl?.setSchema('users', {
    uid: 'schema-uid',
    spec: {
      priorityLevelConfiguration: { name: 'users' },
      matchingPrecedence: 100,
      rules: [
        {
          subjects: [{ kind: 'User', user: { name: 'jane' } }],
          resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'], clusterScope: true }],
          nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
        },
      ],
    },
  });
  /** Takes all seats of the level, until the returned function is called. */
  const takeSeats = () => {
    const attributes = { user: { name: 'jane', groups: [] }, verb: 'get', resource: undefined, path: '/' };
    const request = flowControl!.classify(attributes);
    const refusal = request.take({ initialSeats: request.level.queueSet.state.limit, finalSeats: 0, extraMs: 0 });
    if (refusal !== undefined) throw new Error(refusal);
    return () => request.release();
  };
  const level = () => flowControl!.levels.find(({ name }) => name === 'users')!;
  return { ...server, clock, takeSeats, level };
}

const asJane = { token: 'jane' };

/** Lets everything run that does not wait for a timer. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('a request', () => {
  it('has the UIDs of its flow schema and priority level in its response, whatever its status', async () => {
    const { send } = await startServer(10);
    for (const url of [configMaps, `${configMaps}/none`, '/nothing']) {
      const answer = await send('GET', url, asJane);
      expect(headers.map((name) => answer.headers[name])).toEqual(['schema-uid', 'level-uid']);
    }
  });

  it('waits for a seat, and is served when one is free', async () => {
    const { send, takeSeats, level } = await startServer(1);
    const release = takeSeats();
    const waiting = send('GET', configMaps, asJane);
    await settled();
    expect(level().queueSet.state.waiting).toBe(1);
    release();
    expect((await waiting).status).toBe(200);
    expect(level().queueSet.idle).toBe(true);
  });

  it('is refused with text when it has waited for a quarter of its timeout, and for 15 s without one', async () => {
    const { send, clock, takeSeats, level } = await startServer(1);
    takeSeats();
    for (const [query, ms] of [
      ['?timeout=8s', 2_000],
      ['', 15_000],
      ['?timeout=1h', 15_000],
    ] as const) {
      const waiting = send('GET', `${configMaps}${query}`, asJane);
      await settled();
      clock.set(clock.now() + ms - 1);
      await settled();
      expect(level().queueSet.state.waiting).toBe(1);
      clock.set(clock.now() + 1);
      const { status, headers: received, text } = await waiting;
      expect([status, received['retry-after'], text]).toEqual([
        429,
        '1',
        'Too many requests, please try again later.\n',
      ]);
    }
    expect(level().counts).toMatchObject({ timedOut: 3, rejected: 0 });
  });

  it('waits as one without a timeout when it may take long and names one that is no duration, and gives its seat back', async () => {
    const { takeSeats, level, handler } = await startServer(1);
    const release = takeSeats();
    const waiting = handler(requestOf('GET', `${configMaps}?watch=1&timeout=soon`, asJane));
    await settled();
    expect(level().queueSet.state.waiting).toBe(1);
    release();
    const { status, body } = await waiting;
    expect([status, level().queueSet.idle]).toEqual([200, true]);
    await (body as AsyncIterableIterator<Uint8Array>).return?.();
  });

  it('is refused at its own deadline, whether others that came before or after have a later one', async () => {
    const { send, clock, takeSeats, level } = await startServer(1);
    const release = takeSeats();
    const refused: string[] = [];
    const begin = (query: string) =>
      send('GET', `${configMaps}${query}`, asJane).then(({ status }) => void refused.push(`${query} ${status}`));
    const all = [begin('?timeout=60s'), begin('?timeout=4s')];
    await settled();
    clock.set(clock.now() + 1_000);
    await settled();
    expect(refused).toEqual(['?timeout=4s 429']);
    all.push(begin('?timeout=8s'));
    await settled();
    clock.set(clock.now() + 2_000);
    await settled();
    expect(refused).toEqual(['?timeout=4s 429', '?timeout=8s 429']);
    release();
    clock.set(clock.now() + 60_000);
    await Promise.all(all);
    expect([refused.at(-1), level().counts.timedOut, level().queueSet.idle]).toEqual(['?timeout=60s 200', 2, true]);
  });

  it('is refused when its queue is full', async () => {
    const { send, takeSeats } = await startServer(1);
    const release = takeSeats();
    const waiting = [send('GET', configMaps, asJane), send('GET', configMaps, asJane)];
    await settled();
    expect((await send('GET', configMaps, asJane)).status).toBe(429);
    release();
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200]);
  });

  it('leaves its queue when its client disconnects', async () => {
    const { handler, takeSeats, level } = await startServer(1);
    takeSeats();
    const disconnecting = new AbortController();
    const { signal } = disconnecting;
    const waiting = handler(requestOf('GET', configMaps, { ...asJane, signal }));
    await settled();
    disconnecting.abort();
    expect((await waiting).status).toBe(429);
    expect(level().queueSet.state.waiting).toBe(0);
    expect(level().counts.cancelled).toBe(1);
  });

  it('leaves its queue when its connection ends', async () => {
    const { handler, takeSeats, level } = await startServer(1);
    const release = takeSeats();
    const ends: (() => void)[] = [];
    const whenOver = (listener: () => void) => void ends.push(listener);
    const waiting = handler({ ...requestOf('GET', configMaps, asJane), whenOver });
    await settled();
    for (const end of ends.splice(0)) end();
    expect((await waiting).status).toBe(429);
    expect([level().queueSet.state.waiting, level().counts.cancelled]).toEqual([0, 1]);
    const served = handler({ ...requestOf('GET', configMaps, asJane), whenOver });
    await settled();
    release();
    expect((await served).status).toBe(200);
    for (const end of ends) end();
    expect([level().queueSet.idle, level().counts.cancelled]).toEqual([true, 1]);
  });

  it('takes no seat of a write before its body has arrived', async () => {
    const { handler, level } = await startServer(1);
    let arrive = (_: Uint8Array) => {};
    const body = new Promise<Uint8Array>((resolve) => {
      arrive = resolve;
    });
    const sent = { metadata: { name: 'slow' } } as Json;
    const writing = handler({ ...requestOf('POST', configMaps, { ...asJane, body: sent }), body: () => body });
    await settled();
    expect(level().queueSet.state.seatsInUse).toBe(0);
    arrive(Buffer.from(JSON.stringify(sent)));
    expect((await writing).status).toBe(201);
    expect(level().counts.dispatched).toBe(1);
  });

  it('gives the seat of a watch back once it has begun', async () => {
    const { handler, level } = await startServer(1);
    const { status, body } = await handler(requestOf('GET', `${configMaps}?watch=1`, asJane));
    expect([status, level().counts.dispatched, level().queueSet.idle]).toEqual([200, 1, true]);
    await (body as AsyncIterableIterator<never>)[Symbol.asyncIterator]().return?.();
  });

  it('of an administrator needs no free seat', async () => {
    const { send, takeSeats } = await startServer(1);
    takeSeats();
    expect((await send('GET', configMaps)).status).toBe(200);
  });
});

it('the response to a write is made in another turn when the writes that ended with it have used the slice', async () => {
  const clock = new VirtualClock();
  const under = openMemoryStore({ clock });
  let computedMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => computedMs);
  let isSlow = false;
  const commit: Store['commit'] = async (...values) => {
    const result = await under.commit(...values);
    if (isSlow) computedMs += 100;
    return result;
  };
  const fixture = await makeFixture({ clock, store: storeWith(under, { commit }) });
  open.push(fixture);
  await settled();
  const turnsOfWrite = async (slow: boolean) => {
    isSlow = slow;
    let turns = 0;
    let answered = false;
    const body = { metadata: { name: `slow-${slow}` } };
    const writing = fixture.send('POST', configMaps, { body }).finally(() => {
      answered = true;
    });
    for (; !answered; turns++) await settled();
    expect((await writing).status).toBe(201);
    return turns;
  };
  expect(await turnsOfWrite(true)).toBeGreaterThan(await turnsOfWrite(false));
});
