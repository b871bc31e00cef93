import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../meta/index.ts';
import { bench, failure, merge, note, optionsOf, type QueryTexts, remove, update } from './testing/fixtures.ts';

const deployment = (name: string, node: string): JsonObject => ({
  metadata: { name, labels: { app: 'x' } },
  spec: { node },
});
const unreadable = (key: string) => ({
  code: 500,
  reason: 'InternalError',
  message: `Internal error occurred: the stored object "${key}" cannot be read`,
});

/** Two objects, of which `bad` is overwritten with bytes that cannot be decoded. */
async function holding() {
  const reports: [string, number][] = [];
  const observer = {
    admission: () => () => undefined,
    mismatch: () => undefined,
    ruleFailure: () => undefined,
    corrupt: (key: string, revision: number) => reports.push([key, revision]),
  };
  const made = bench({ observer });
  for (const name of ['a', 'bad', 'c']) await made.create('configmaps', note(name, {}, { labels: { app: 'x' } }));
  const spoil = async (key = '/configmaps/ns/bad') =>
    (await made.store.commit([], [{ key, value: Buffer.from('{"kind":"Conf') }])).revision;
  return { ...made, reports, spoil };
}

describe('a corrupt object', () => {
  const bad = unreadable('/configmaps/ns/bad');

  it('fails every read and write of it', async () => {
    const { read, write, spoil } = await holding();
    await spoil();
    expect(await failure(read('configmaps', 'bad'))).toMatchObject(bad);
    expect(await failure(write('configmaps', { name: 'bad' }, update(note('bad'))))).toMatchObject(bad);
    expect(await failure(write('configmaps', { name: 'bad' }, merge({ data: {} })))).toMatchObject(bad);
    expect(await failure(write('configmaps', { name: 'bad' }, remove()))).toMatchObject(bad);
    expect((await read('configmaps', 'a')).metadata.name).toBe('a');
  });

  it.each(['{', '"n":12345678901234567890,'])(
    'fails a write, which alone decodes it as a whole: %s',
    async (inside) => {
      const { read, write, store } = await holding();
      const { entry } = await store.get('/configmaps/ns/bad');
      const text = Buffer.from(entry?.value ?? []).toString();
      const value = Buffer.from(text.replace(/}$/, `,${inside}}`));
      await store.commit([], [{ key: '/configmaps/ns/bad', value }]);
      expect(await failure(write('configmaps', { name: 'bad' }, merge({ data: { a: '1' } })))).toMatchObject(bad);
      expect((await read('configmaps', 'a')).metadata.name).toBe('a');
    },
  );

  it.each([
    {},
    { labelSelector: 'app=x' },
    { labelSelector: 'other' },
    { fieldSelector: 'metadata.name=bad' },
    { fieldSelector: 'metadata.name!=bad' },
    { limit: '2' },
    { resourceVersion: '0' },
  ])('fails a list that may include it: %j', async (options) => {
    const { names, spoil } = await holding();
    await spoil();
    expect(await failure(names('configmaps', options))).toMatchObject(bad);
  });

  it('fails lists of old resourceVersions that include it, and no others', async () => {
    const { names, spoil, create } = await holding();
    const before = String((await spoil()) - 1);
    await create('configmaps', note('d'));
    const exact = (resourceVersion: string) =>
      names('configmaps', { resourceVersion, resourceVersionMatch: 'Exact', labelSelector: 'app=x' });
    expect((await exact(before)).names).toEqual(['a', 'bad', 'c']);
    expect(await failure(exact(String(Number(before) + 1)))).toMatchObject(bad);
  });

  it('fails neither lists of other objects nor the pages before it', async () => {
    const { names, spoil } = await holding();
    await spoil();
    expect((await names('configmaps', {}, { namespace: 'other' })).names).toEqual([]);
    expect((await names('configmaps', { fieldSelector: 'metadata.name=a' })).names).toEqual(['a']);
    const first = await names('configmaps', { limit: '1' });
    expect(first.names).toEqual(['a']);
    const token = (first.list['metadata'] as JsonObject)['continue'] as string;
    expect(await failure(names('configmaps', { limit: '1', continue: token }))).toMatchObject(bad);
  });

  it('can be read again once it has been overwritten', async () => {
    const { names, store, spoil } = await holding();
    const { entry } = await store.get('/configmaps/ns/bad');
    await spoil();
    expect(await failure(names('configmaps'))).toMatchObject(bad);
    await store.commit([], [{ key: '/configmaps/ns/bad', value: entry?.value ?? new Uint8Array() }]);
    expect((await names('configmaps')).names).toEqual(['a', 'bad', 'c']);
  });

  it('is reported once for each of its revisions', async () => {
    const { names, read, reports, spoil } = await holding();
    const first = await spoil();
    await failure(names('configmaps'));
    await failure(read('configmaps', 'bad'));
    const second = await spoil();
    const exact = { resourceVersion: String(second), resourceVersionMatch: 'Exact' };
    await failure(names('configmaps', exact));
    await failure(names('configmaps'));
    expect(reports).toEqual([
      ['/configmaps/ns/bad', first],
      ['/configmaps/ns/bad', second],
    ]);
  });

  describe('in a watch', () => {
    /** Starts a watch of deployments, of which `bad` on node `n` is spoiled after that or, `early`, before. */
    async function watching(options: QueryTexts, early: boolean, place: { name?: string; namespace?: string } = {}) {
      const made = await holding();
      await made.create('deployments', deployment('bad', 'n'));
      if (early) await made.spoil('/deployments/ns/bad');
      const stream = await made.registry.watch(made.target('deployments', place), optionsOf(options));
      if (!early) await made.spoil('/deployments/ns/bad');
      const events = stream[Symbol.asyncIterator]();
      return { ...made, events, stream };
    }
    const all: [QueryTexts][] = [
      [{}],
      [{ labelSelector: 'app=x' }],
      [{ labelSelector: 'app=y' }],
      [{ fieldSelector: 'spec.node=n' }],
      [{ fieldSelector: 'spec.node=other' }],
      [{ fieldSelector: 'metadata.name=bad' }],
    ];

    it.each(all)('fails the watch among the initial events: %j', async (options) => {
      const { events } = await watching(options, true);
      expect(await failure(events.next())).toMatchObject(unreadable('/deployments/ns/bad'));
      expect(await events.next()).toEqual({ done: true, value: undefined });
    });

    it.each(all)('fails the watch as a live event: %j', async (options) => {
      const { events } = await watching({ ...options, resourceVersion: '5' }, false);
      expect(await failure(events.next())).toMatchObject(unreadable('/deployments/ns/bad'));
      expect(await events.next()).toEqual({ done: true, value: undefined });
    });

    it('fails the watch as a replayed event', async () => {
      const { events } = await watching({ resourceVersion: '4' }, true);
      expect(await failure(events.next())).toMatchObject(unreadable('/deployments/ns/bad'));
    });

    it('does not affect a watch of another namespace or name', async () => {
      for (const place of [{ namespace: 'other' }, { name: 'good' }]) {
        const { write, events } = await watching({ resourceVersion: '5' }, false, place);
        const object = { value: deployment('good', 'n'), findings: [] };
        await write('deployments', { namespace: 'ns', ...place, name: '' }, { verb: 'create', object });
        const { value } = await events.next();
        expect(value).toMatchObject([{ type: 'ADDED', object: { name: 'good' } }]);
      }
    });

    it('has its name in the DELETED event', async () => {
      const made = await holding();
      const revision = await made.spoil();
      await failure(made.names('configmaps'));
      const watch = { resourceVersion: String(revision) };
      const stream = await made.registry.watch(made.target('configmaps'), watch);
      await made.store.commit([], [{ key: '/configmaps/ns/bad' }]);
      const { value } = await stream[Symbol.asyncIterator]().next();
      expect(value).toMatchObject([{ type: 'DELETED', object: { name: 'bad', namespace: 'ns' } }]);
      stream.close();
    });
  });
});
