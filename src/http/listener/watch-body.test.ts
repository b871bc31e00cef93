import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EveryStep } from '../../meta/testing/every-step.ts';
import type { Resource, Target, WatchStream } from '../../registry/index.ts';
import { drivenClock } from '../../store/testing/driven-clock.ts';
import { jsonCodec } from '../codecs/json-codec.ts';
import type { StreamingCodec } from '../codecs/wire-codec.ts';
import { FairLimit } from '../limits.ts';
import { ReadTurns } from '../read-turns.ts';
import { type Fixture, makeFixture, requestOf } from '../testing/fixture.ts';
import type { UnreadBytes } from './unread-share.ts';
import { WatchBody } from './watch-body.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';
const count = 20;

let server: Fixture;
let target: Target;
beforeAll(async () => {
  server = await makeFixture();
  for (let i = 0; i < count; i++) await server.send('POST', configMaps, { body: { metadata: { name: `c${i}` } } });
  const resource = server.registry.find('', 'v1', 'configmaps') as Resource;
  target = { resource, version: 'v1', namespace: 'default', name: '', subresource: '' };
});
afterAll(() => server.close());

describe('the events of a watch', () => {
  const watch = (): Promise<WatchStream> => server.registry.watch(target, { resourceVersion: '0' });
  const view = { as: 'table', version: 'v1', includeObject: 'Object', now: 0 } as const;
  const clock = drivenClock();
  const bodyOf = (stream: WatchStream, turns = new EveryStep(), separate = false, unread?: UnreadBytes) => {
    const { watch: codec } = jsonCodec as StreamingCodec;
    return new WatchBody({
      stream,
      writer: codec.writer(target, view),
      codec,
      separate,
      series: undefined,
      turns,
      unread,
      clock,
      log: { error: () => {} } as never,
    });
  };

  it('of a batch are encoded in turns', async () => {
    const turns = new EveryStep();
    const body = bodyOf(await watch(), turns);
    let text = '';
    while (text.split('\n').length <= count) text += (await body.next()).value;
    expect(text.match(/"name":"c\d+"/g)).toHaveLength(count);
    // The first event belongs to the turn in which the batch was delivered.
    expect(turns.count).toBeGreaterThanOrEqual(count - 1);
    await body.return();
  });

  it('are encoded once the unread bytes of the user leave room for them, and free the room once they are read', async () => {
    const resourceVersion = String((await server.registry.list(target, {})).revision);
    await server.send('POST', configMaps, { body: { metadata: { name: 'long' }, data: { a: 'x'.repeat(600_000) } } });
    const limit = new FairLimit(1_000_000);
    const unread: UnreadBytes = {
      addUnread: (amount, onTaken) => limit.takeOrWait('jane', { amount, exempt: true, onTaken }),
      takeUnread: (amount) => limit.take('jane', amount),
      releaseUnread: (amount) => limit.release('jane', amount),
    };
    const bodies = await Promise.all(
      [1, 2, 3].map(async () =>
        bodyOf(await server.registry.watch(target, { resourceVersion }), new EveryStep(), false, unread),
      ),
    );
    const [one, two, three] = bodies as [WatchBody, WatchBody, WatchBody];
    expect((await one.next()).value).toHaveLength(256 * 1024);
    let second: unknown;
    const waiting = two.next().then((result) => {
      second = result;
    });
    const third = three.next();
    for (let i = 0; i < 20; i++) await setImmediate();
    expect([second, limit.used > 600_000, limit.used < 700_000]).toEqual([undefined, true, true]);
    await three.return();
    expect(await third).toMatchObject({ done: true });
    await one.next();
    await one.next();
    expect(second).toBeUndefined();
    void one.next();
    await waiting;
    expect(second).toMatchObject({ done: false });
    await Promise.all(bodies.map((body) => body.return()));
    expect(limit.used).toBe(0);
  });

  it.each([
    ['end when the client takes longer than a minute for a batch', 61_000, true],
    ['go on when the client takes less than a minute for a batch', 59_000, false],
  ])('%s', async (_, elapsedMs, done) => {
    const unread: UnreadBytes = { addUnread: () => undefined, takeUnread: () => {}, releaseUnread: () => {} };
    const body = bodyOf(await watch(), new EveryStep(), false, unread);
    expect((await body.next()).done).toBe(false);
    clock.advance(elapsedMs);
    expect((await body.next()).done).toBe(done);
    await body.return();
  });

  describe('of a large object', () => {
    const large = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`k${i}`, 'value']));
    /** A watch from before the changes of three objects, of which the second is large. */
    const watchThree = async (run: string) => {
      const { revision } = await server.registry.list(target, {});
      for (const [name, data] of Object.entries({ before: {}, large, behind: {} })) {
        await server.send('POST', configMaps, { body: { metadata: { name: `${name}-${run}` }, data } });
      }
      return server.registry.watch(target, { resourceVersion: String(revision) });
    };

    it.each([
      ['in pieces', false],
      ['in messages', true],
    ])('are encoded in several turns, in the order of the changes, %s', async (_, separate) => {
      const turns = new EveryStep();
      const body = bodyOf(await watchThree(separate ? 'm' : 'p'), turns, separate);
      let text = '';
      while (text.split('\n').length <= 3) text += (await body.next()).value;
      const events = text.trimEnd().split('\n');
      const names = events.map((line) => JSON.parse(line).object.rows[0].object.metadata.name);
      expect(names).toEqual([
        expect.stringMatching('before'),
        expect.stringMatching('large'),
        expect.stringMatching('behind'),
      ]);
      expect(JSON.parse(events[1] as string).object.rows[0].object.data).toEqual(large);
      // Only the first event has the definitions of the columns.
      expect(events.map((line) => JSON.parse(line).object.columnDefinitions !== null)).toEqual([true, false, false]);
      expect(turns.count).toBeGreaterThan(10);
      await body.return();
    });

    it('are encoded no further once the watch is closed', async () => {
      const turns = new EveryStep();
      const body = bodyOf(await watchThree('closed'), turns);
      await body.next();
      const next = body.next();
      while (turns.count < 5) await setImmediate();
      await body.return();
      expect(await next).toEqual({ done: true, value: undefined });
      expect(turns.count).toBeLessThan(10);
    });
  });

  it('end when they are closed while they wait for a turn', async () => {
    const body = bodyOf(await watch());
    await body.next();
    const next = body.next();
    await body.return();
    expect(await next).toEqual({ done: true, value: undefined });
  });
});

it('a list is read no further once its client has disconnected', async () => {
  const gone = new AbortController();
  const request = { ...requestOf('GET', configMaps), signal: gone.signal };
  const turns = new EveryStep();
  const reading = server.registry.list(target, {
    limit: '10',
    turns: new ReadTurns({ request, turns }),
  });
  gone.abort();
  await expect(reading).rejects.toMatchObject({ code: 400, message: 'the client has disconnected' });
  expect(turns.count).toBe(1);
});
