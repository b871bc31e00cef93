import { describe, expect, it } from 'vitest';
import type { JsonObject, Turns } from '../../meta/index.ts';
import { delivered } from '../../store/testing/late-store.ts';
import { eventWriter, type Representation, type StreamEvent, type Target } from '../index.ts';
import { type Bench, bench, failure, merge, note, optionsOf, type QueryTexts, remove } from '../testing/fixtures.ts';

/** With the feature gate of streaming lists. */
const streaming = { features: { WatchList: true } };

/** The events of a watch until no more come. */
class Watcher {
  readonly events: StreamEvent[] = [];
  ended = false;
  error: unknown;
  readonly close: () => void;

  constructor(stream: AsyncIterable<readonly StreamEvent[]> & { close(): void }) {
    this.close = () => stream.close();
    void this.#read(stream);
  }

  async #read(stream: AsyncIterable<readonly StreamEvent[]>): Promise<void> {
    try {
      for await (const events of stream) this.events.push(...events);
    } catch (error) {
      this.error = error;
    }
    this.ended = true;
  }

  get seen(): string[] {
    return this.events.map(({ type, object, endsInitialEvents }) =>
      endsInitialEvents === true ? 'END' : `${type}${object === undefined ? '' : ` ${object.name}`}`,
    );
  }
}

async function watch(made: Bench, options: QueryTexts = {}, place: Partial<Target> = {}, plural = 'configmaps') {
  const watcher = new Watcher(await made.registry.watch(made.target(plural, place), optionsOf(options)));
  await delivered();
  return watcher;
}

describe('watch', () => {
  it('from a resourceVersion sends the changes after it', async () => {
    const made = bench();
    await made.create('configmaps', note('before'));
    const watcher = await watch(made, { resourceVersion: '2' });
    await made.create('configmaps', note('w'));
    await made.change('configmaps', 'w', merge({ data: { a: '2' } }));
    await made.change('configmaps', 'w', merge({ metadata: { finalizers: ['example.com/f'] } }));
    await made.change('configmaps', 'w', remove());
    await made.change('configmaps', 'w', merge({ metadata: { finalizers: null } }));
    await delivered();
    expect(watcher.seen).toEqual(['ADDED w', 'MODIFIED w', 'MODIFIED w', 'MODIFIED w', 'DELETED w']);
    // The last state, with the resourceVersion of the removal.
    const last = JSON.parse(watcher.events.at(-1)?.object?.bytes ?? '') as { metadata: JsonObject };
    expect(last.metadata).toMatchObject({ resourceVersion: '7', finalizers: ['example.com/f'] });
    const replayed = await watch(made, { resourceVersion: '2' });
    expect(replayed.seen).toEqual(watcher.seen);
    watcher.close();
    await delivered();
    expect(watcher.ended).toBe(true);
  });

  it('from the resourceVersion of the first write sends the later changes', async () => {
    const made = bench();
    const { metadata } = await made.create('configmaps', note('a'));
    await made.create('configmaps', note('b'));
    expect((await watch(made, { resourceVersion: metadata.resourceVersion ?? '' })).seen).toEqual(['ADDED b']);
  });

  it.each([{}, { resourceVersion: '0' }])('begins with the existing objects: %j', async (options) => {
    const made = bench();
    for (const name of ['b', 'a']) await made.create('configmaps', note(name));
    await delivered();
    const watcher = await watch(made, options);
    await made.create('configmaps', note('c'));
    await delivered();
    expect(watcher.seen).toEqual(['ADDED a', 'ADDED b', 'ADDED c']);
  });

  it('sends ADDED and DELETED for objects that enter and leave the selection', async () => {
    const made = bench();
    const watcher = await watch(made, { labelSelector: 'in=yes' });
    const label = (value: string) => merge({ metadata: { labels: { in: value } } });
    await made.create('configmaps', note('t', {}, { labels: { in: 'no' } }));
    await made.change('configmaps', 't', label('yes'));
    await made.change('configmaps', 't', merge({ data: { x: '1' } }));
    await made.change('configmaps', 't', label('no'));
    await made.change('configmaps', 't', label('yes'));
    await made.write('configmaps', { name: 't' }, remove());
    await delivered();
    expect(watcher.seen).toEqual(['ADDED t', 'MODIFIED t', 'DELETED t', 'ADDED t', 'DELETED t']);
  });

  it('selects one name, one namespace, one value of a field', async () => {
    const made = bench();
    const byName = await watch(made, { fieldSelector: 'metadata.name=b' });
    const elsewhere = await watch(made, {}, { namespace: 'other' });
    const byField = await watch(made, { fieldSelector: 'spec.node=n1' }, {}, 'deployments');
    for (const name of ['a', 'b']) await made.create('configmaps', note(name));
    for (const name of ['n1', 'n2']) await made.create('deployments', { metadata: { name }, spec: { node: name } });
    await delivered();
    expect(byName.seen).toEqual(['ADDED b']);
    expect(elsewhere.seen).toEqual([]);
    expect(byField.seen).toEqual(['ADDED n1']);
  });

  it('ends after its timeout, and by default within an hour', async () => {
    const made = bench();
    const short = await watch(made, { timeoutSeconds: '1' });
    const long = await watch(made);
    made.clock.advance(1_000);
    await delivered();
    expect([short.ended, short.error, long.ended]).toEqual([true, undefined, false]);
    made.clock.advance(1_790_000);
    await delivered();
    expect(long.ended).toBe(false);
    made.clock.advance(1_810_000);
    await delivered();
    expect(long.ended).toBe(true);
  });

  it('ends at once after a negative timeout, as in the reference server', async () => {
    const made = bench();
    const past = await watch(made, { timeoutSeconds: '-1' });
    made.clock.advance(0);
    await delivered();
    expect([past.ended, past.error]).toEqual([true, undefined]);
  });

  it('ends with the registry', async () => {
    const made = bench();
    const watcher = await watch(made);
    made.registry.close();
    await delivered();
    expect([watcher.ended, watcher.error]).toEqual([true, undefined]);
  });

  it('begins anywhere in the history of the store, also before the cache was loaded', async () => {
    const made = bench();
    await made.create('configmaps', note('a', {}, { labels: { in: 'yes' } }));
    for (const value of ['1', '2']) await made.change('configmaps', 'a', merge({ data: { x: value } }));
    await made.change('configmaps', 'a', merge({ metadata: { labels: { in: 'no' } } }));
    await made.write('configmaps', { name: 'a' }, remove());
    const again = bench({ store: made.store });
    const all = await watch(again, { resourceVersion: '2' });
    const selected = await watch(again, { resourceVersion: '1', labelSelector: 'in=yes' });
    await delivered();
    await again.create('configmaps', note('b', {}, { labels: { in: 'yes' } }));
    await delivered();
    expect(all.seen).toEqual(['MODIFIED a', 'MODIFIED a', 'MODIFIED a', 'DELETED a', 'ADDED b']);
    expect(selected.seen).toEqual(['ADDED a', 'MODIFIED a', 'MODIFIED a', 'DELETED a', 'ADDED b']);
  });

  it('ends without an event for a slow client, which may resume', async () => {
    const made = bench({ watchBufferBytes: 2_000 });
    const stream = await made.registry.watch(made.target('configmaps'), { resourceVersion: '1' });
    const events = stream[Symbol.asyncIterator]();
    const first = events.next();
    await made.create('configmaps', note('a'));
    expect((await first).value).toHaveLength(1);
    for (const name of ['b', 'c', 'd', 'e', 'f', 'g', 'h']) await made.create('configmaps', note(name));
    await delivered();
    expect(await events.next()).toEqual({ done: true, value: undefined });
    expect((await watch(made, { resourceVersion: '2' })).seen).toHaveLength(7);
  });

  it('fails in its first step when the resourceVersion is too old', async () => {
    const made = bench();
    for (const name of ['a', 'b']) await made.create('deployments', { metadata: { name } });
    await made.store.compact(3);
    const stream = await watch(made, { resourceVersion: '1' });
    expect(stream.ended).toBe(true);
    expect(stream.error).toMatchObject({ code: 410, reason: 'Expired' });
  });
});

describe('bookmarks', () => {
  it('are sent each minute and before the end', async () => {
    const made = bench();
    await made.create('configmaps', note('a'));
    const watcher = await watch(made, { allowWatchBookmarks: 'true', timeoutSeconds: '90' });
    // Writes of other kinds advance the resourceVersion of bookmarks.
    await made.create('deployments', { metadata: { name: 'd' } });
    made.clock.advance(61_000);
    await delivered();
    expect(watcher.seen).toEqual(['ADDED a', 'BOOKMARK']);
    expect(watcher.events[1]?.revision).toBe(3);
    await made.create('deployments', { metadata: { name: 'e' } });
    made.clock.advance(30_000);
    await delivered();
    expect(watcher.seen).toEqual(['ADDED a', 'BOOKMARK', 'BOOKMARK']);
    expect(watcher.events[2]?.revision).toBe(4);
    expect(watcher.ended).toBe(true);
  });

  it('are sent on request only', async () => {
    const made = bench();
    const watcher = await watch(made, { timeoutSeconds: '90' });
    made.clock.advance(91_000);
    await delivered();
    expect(watcher.seen).toEqual([]);
  });
});

describe('streaming list', () => {
  const options = { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: 'true' };
  it('ends the initial events with a bookmark', async () => {
    const made = bench(streaming);
    for (const name of ['b', 'a', 'c']) await made.create('configmaps', note(name));
    const watcher = await watch(made, options);
    await made.create('configmaps', note('later'));
    await delivered();
    expect(watcher.seen).toEqual(['ADDED a', 'ADDED b', 'ADDED c', 'END', 'ADDED later']);
    expect(watcher.events[3]?.revision).toBe(4);
    expect((await watch(made, { ...options, resourceVersion: '5' })).seen).toHaveLength(5);
    expect((await watch(made, { ...options, resourceVersion: '0' })).seen.at(-1)).toBe('END');
  });

  it.each([
    ['ends with a 410 when a remote client is slow to read the initial events', true, 65_000, 410],
    ['waits for a remote client that reads the initial events within a minute', true, 59_000, 'events'],
    ['waits for a client within the process, whose clock may be set', false, 600_000, 'events'],
  ])('%s', async (_, isRemote, elapsedMs, outcome) => {
    const made = bench();
    await Promise.all(Array.from({ length: 500 }, (_, i) => made.create('configmaps', note(`w${i}`))));
    const stream = await made.registry.watch(made.target('configmaps'), { isRemote });
    const events = stream[Symbol.asyncIterator]();
    expect((await events.next()).done).toBe(false);
    made.clock.advance(elapsedMs);
    const next = events.next().then(
      () => 'events',
      ({ code }) => code,
    );
    expect(await next).toBe(outcome);
    stream.close();
  });

  it.each([{}, { resourceVersion: '' }, { resourceVersion: '0' }])(
    'is what a watch with %j is with the feature WatchList',
    async (from) => {
      for (const [how, seen] of [
        [streaming, ['ADDED a', 'END']],
        [{}, ['ADDED a']],
      ] as const) {
        const made = bench(how);
        await made.create('configmaps', note('a'));
        expect((await watch(made, { ...from, allowWatchBookmarks: 'true' })).seen).toEqual(seen);
      }
    },
  );

  it('sends no initial events for false', async () => {
    const made = bench(streaming);
    await made.create('configmaps', note('a'));
    const watcher = await watch(made, { sendInitialEvents: 'false', resourceVersionMatch: 'NotOlderThan' });
    await made.create('configmaps', note('b'));
    await delivered();
    expect(watcher.seen).toEqual(['ADDED b']);
  });

  it('sends a large state in batches', async () => {
    const made = bench(streaming);
    await Promise.all(Array.from({ length: 600 }, (_, i) => made.create('configmaps', note(`n${i}`))));
    // A turn that ends would end a batch as well.
    const turns: Turns = { over: false, next: () => Promise.resolve() };
    const stream = await made.registry.watch(made.target('configmaps'), { ...options, turns });
    const sizes: number[] = [];
    for await (const events of stream) {
      sizes.push(events.length);
      if (events.at(-1)?.endsInitialEvents === true) break;
    }
    expect(sizes).toEqual([250, 250, 101]);
  });
});

describe('errors', () => {
  const forbidden = (why: string) => `ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: ${why}`;
  const cases: [QueryTexts, number, string][] = [
    [
      { resourceVersion: 'abc' },
      500,
      'resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
    ],
    [{ labelSelector: 'a b' }, 400, "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
    [
      { sendInitialEvents: 'true' },
      422,
      forbidden('sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'),
    ],
    [
      { resourceVersionMatch: 'NotOlderThan' },
      422,
      forbidden('resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'),
    ],
    [{ limit: 'x' }, 400, 'strconv.ParseInt: parsing "x": invalid syntax'],
    [{ timeoutSeconds: 'soon' }, 400, 'strconv.ParseInt: parsing "soon": invalid syntax'],
  ];
  it.each(cases)('%j', async (options, code, message) => {
    const { registry, target } = bench(streaming);
    expect(await failure(registry.watch(target('configmaps'), optionsOf(options)))).toMatchObject({ code, message });
  });

  it.each(['true', 'false'])('sendInitialEvents=%s without the feature WatchList', async (sendInitialEvents) => {
    const { registry, target } = bench();
    const options = { sendInitialEvents, resourceVersionMatch: 'NotOlderThan' };
    const why = 'sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled';
    expect(await failure(registry.watch(target('configmaps'), options))).toMatchObject({
      code: 422,
      message: `ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: ${why}`,
    });
  });
});

// As the reference server answers: the status of the response is sent before it waits.
it('a streaming list from a future version that is not reached has the error as its event', async () => {
  const made = bench(streaming);
  await made.create('configmaps', note('a'));
  await delivered();
  const stream = { resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: 'true', resourceVersion: '1000000' };
  const watching = made.registry.watch(made.target('configmaps'), optionsOf({ ...stream, sendInitialEvents: 'true' }));
  await new Promise((resolve) => setImmediate(resolve));
  made.clock.advance(3_000);
  const events = (await watching)[Symbol.asyncIterator]();
  await expect(events.next()).rejects.toMatchObject({
    code: 504,
    message: 'Timeout: Too large resource version: 1000000, current: 2',
  });
});

describe('events as they are sent', () => {
  const shown = async (view: Representation, plural = 'configmaps', place: Partial<Target> = {}) => {
    const made = bench(streaming);
    await made.create(plural, plural === 'widgets' ? { metadata: { name: 'a' }, size: 2 } : note('a'));
    const options = { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: 'true' };
    const { events } = await watch(made, options, place, plural);
    const writer = eventWriter(made.target(plural, place), view);
    return events.map((event, i) => JSON.parse(writer.write(event, i === 0)) as JsonObject);
  };

  it('whole', async () => {
    expect(await shown({ as: 'object' })).toMatchObject([
      { type: 'ADDED', object: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a' }, data: { a: '1' } } },
      {
        type: 'BOOKMARK',
        object: {
          kind: 'ConfigMap',
          apiVersion: 'v1',
          metadata: { resourceVersion: '2', annotations: { 'k8s.io/initial-events-end': 'true' } },
        },
      },
    ]);
  });

  it('in another version', async () => {
    expect(await shown({ as: 'object' }, 'widgets')).toMatchObject([
      { object: { apiVersion: 'example.com/v1', size: 2 } },
      { object: { apiVersion: 'example.com/v1' } },
    ]);
    expect(await shown({ as: 'object' }, 'widgets', { version: 'v2' })).toMatchObject([
      { object: { apiVersion: 'example.com/v2', spec: { size: 2 } } },
      { object: { apiVersion: 'example.com/v2' } },
    ]);
  });

  it('metadata alone', async () => {
    const [first, last] = await shown({ as: 'metadata', version: 'v1' });
    const kind = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1' };
    expect(first).toMatchObject({ type: 'ADDED', object: { ...kind, metadata: { name: 'a' } } });
    expect(Object.keys(first?.['object'] as JsonObject)).toEqual(['kind', 'apiVersion', 'metadata']);
    expect(last).toMatchObject({ type: 'BOOKMARK', object: kind });
  });

  it('as tables, with column definitions in the first event only', async () => {
    const [first, last] = await shown({ as: 'table', version: 'v1', includeObject: 'Metadata', now: 0 });
    expect(first).toMatchObject({
      type: 'ADDED',
      object: {
        kind: 'Table',
        columnDefinitions: [{ name: 'Name' }, { name: 'Created At' }],
        rows: [{ cells: ['a', expect.any(String)] }],
      },
    });
    expect(last).toMatchObject({ type: 'BOOKMARK', object: { kind: 'Table', columnDefinitions: null } });
  });
});
