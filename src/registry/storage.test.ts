import { describe, expect, it, vi } from 'vitest';
import type { AdmissionPlugin, AdmissionRequest } from '../admission/index.ts';
import { type ApiObject, statusError } from '../meta/index.ts';
import { openMemoryStore } from '../store/index.ts';
import { drivenClock } from '../store/testing/driven-clock.ts';
import { heldStore } from '../store/testing/held-store.ts';
import { delivered } from '../store/testing/late-store.ts';
import { bench, failure, merge, note, optionsOf, remove, update } from './testing/fixtures.ts';

const key = '/configmaps/ns/one';

describe('a deletion that begins with the cached object', () => {
  /** Two servers of one store. The first one has cached `one`, and sees nothing of what the other one does from then on. */
  async function pair(refuses: (object: ApiObject) => boolean = () => false) {
    const store = heldStore(openMemoryStore({ clock: drivenClock() }));
    const validate = vi.fn(({ operation, oldObject }: AdmissionRequest) => {
      if (operation === 'DELETE' && oldObject !== undefined && refuses(oldObject)) {
        throw statusError.forbidden({ group: '', resource: 'configmaps' }, 'one', 'refused');
      }
    });
    const plugin: AdmissionPlugin = { name: 'Test', validate, handles: ({ operation }) => operation === 'DELETE' };
    const here = bench({ store, admission: [plugin] });
    const there = bench({ store: store.under });
    const made = await here.create('configmaps', note('one'));
    await here.read('configmaps', 'one');
    store.hold();
    const get = vi.spyOn(store.under, 'get');
    const drop = (options = {}) => here.write('configmaps', { name: 'one' }, remove(options));
    const stored = async () => (await store.under.get(key)).entry;
    return { there, made, get, validate, drop, stored };
  }
  const change = ({ there }: { there: ReturnType<typeof bench> }, value: string) =>
    there.change('configmaps', 'one', merge({ data: { a: value } }));

  it('reads nothing from the store when that object is current', async () => {
    const { drop, get, stored } = await pair();
    expect((await drop()).deleted?.name).toBe('one');
    expect(get).not.toHaveBeenCalled();
    expect(await stored()).toBeUndefined();
  });

  it('deletes an object that has been written since', async () => {
    const made = await pair();
    const { metadata } = await change(made, '2');
    expect(await made.drop()).toMatchObject({ deleted: { name: 'one', uid: metadata.uid } });
    expect(await made.stored()).toBeUndefined();
  });

  it('fails with 404 when another server has deleted it', async () => {
    const made = await pair();
    await made.there.write('configmaps', { name: 'one' }, remove());
    expect(await failure(made.drop())).toMatchObject({ code: 404 });
  });

  it('is rejected for the current object after one validation', async () => {
    const { drop, validate, stored } = await pair(() => true);
    expect(await failure(drop())).toMatchObject({ code: 403 });
    expect(validate).toHaveBeenCalledTimes(1);
    expect(await stored()).toBeDefined();
  });

  it('is validated again when only the cached object is rejected', async () => {
    const made = await pair(({ data }) => (data as { a: string }).a === '1');
    await change(made, '2');
    expect((await made.drop()).deleted?.name).toBe('one');
    expect(made.validate).toHaveBeenCalledTimes(2);
  });

  it('is rejected when only the cached object may be deleted', async () => {
    const made = await pair(({ data }) => (data as { a: string }).a === '2');
    await change(made, '2');
    expect(await failure(made.drop())).toMatchObject({ code: 403 });
    expect(await made.stored()).toBeDefined();
  });

  it('compares its preconditions with the stored object, not with the cached one', async () => {
    const made = await pair();
    const old = made.made.metadata;
    await made.there.write('configmaps', { name: 'one' }, remove());
    // The generators of both servers begin with the same uid.
    await made.there.create('configmaps', note('other'));
    const fresh = await made.there.create('configmaps', note('one'));
    expect(fresh.metadata.uid).not.toBe(old.uid);
    for (const preconditions of [{ uid: old.uid }, { resourceVersion: old.resourceVersion }]) {
      expect(await failure(made.drop({ preconditions }))).toMatchObject({ code: 409 });
    }
    expect((await made.stored())?.revision).toBe(Number(fresh.metadata.resourceVersion));
    const { uid, resourceVersion } = fresh.metadata;
    expect((await made.drop({ preconditions: { uid, resourceVersion } })).deleted?.uid).toBe(uid);
    expect(await made.stored()).toBeUndefined();
  });
});

describe('a list with objects that cannot be read', () => {
  async function spoiled(count: number, gate: boolean) {
    const made = bench({ features: { AllowUnsafeMalformedObjectDeletion: gate } });
    for (const name of ['a', 'z']) await made.create('configmaps', note(name));
    const names = Array.from({ length: count }, (_, i) => `bad-${String(i).padStart(3, '0')}`);
    const value = Buffer.from('{"kind":"Conf');
    for (const name of names) await made.store.commit([], [{ key: `/configmaps/ns/${name}`, value }]);
    await delivered();
    const before = String(await made.store.revision());
    await made.create('configmaps', note('zz'));
    await delivered();
    return { ...made, names, before };
  }
  const causeOf = (name: string) => ({
    reason: 'UnexpectedServerResponse',
    field: `/configmaps/ns/${name}`,
    message: `Internal error occurred: the stored object "/configmaps/ns/${name}" cannot be read`,
  });

  it('names all of them where they can be deleted, from the cache and from the history', async () => {
    const { registry, target, names, before } = await spoiled(3, true);
    for (const query of [{}, { resourceVersion: before, resourceVersionMatch: 'Exact' }, { limit: '10' }]) {
      expect(await failure(registry.list(target('configmaps'), optionsOf(query)))).toMatchObject({
        code: 500,
        reason: 'StoreReadError',
        message: 'failed to read one or more configmaps from the storage',
        details: { name: '/configmaps/', kind: 'configmaps', causes: names.map(causeOf) },
      });
    }
    // The page before them is whole.
    const page = await registry.list(target('configmaps'), { limit: '1' });
    expect([...page.items].map(({ name }) => name)).toEqual(['a']);
  });

  it('names a hundred at most', async () => {
    const { registry, target, names } = await spoiled(120, true);
    const { details } = (await failure(registry.list(target('configmaps'), {}))) as { details: { causes: unknown[] } };
    expect(details.causes).toEqual([
      ...names.slice(0, 100).map(causeOf),
      { reason: 'FieldValueTooMany', message: 'too many errors, the list is truncated' },
    ]);
  });

  it('names the first one otherwise', async () => {
    const { registry, target } = await spoiled(2, false);
    const { message } = causeOf('bad-000');
    expect(await failure(registry.list(target('configmaps'), {}))).toMatchObject({ code: 500, message });
  });
});

describe('a page of objects that few of many match', () => {
  it('reads the store as often as the number of visited objects requires, and never for a list from the cache', async () => {
    const made = bench();
    const rare = new Set([700, 1_400]);
    for (let i = 0; i < 1_500; i++) {
      const labels = rare.has(i) ? { app: 'rare' } : {};
      await made.create('configmaps', note(String(i).padStart(4, '0'), {}, { labels }));
    }
    await delivered();
    await made.names('configmaps');
    const before = String(await made.store.revision());
    await made.create('configmaps', note('later'));
    await delivered();
    const list = vi.spyOn(made.store, 'list');
    const selector = { labelSelector: 'app=rare', limit: '1' };
    expect((await made.names('configmaps', selector)).names).toEqual(['0700']);
    expect(list).not.toHaveBeenCalled();
    // One entry more than the page has to be found: the second one is at 1,400 of 1,500, in pages of 500.
    const old = { ...selector, resourceVersion: before, resourceVersionMatch: 'Exact' };
    const first = await made.names('configmaps', old);
    expect(first.names).toEqual(['0700']);
    expect(list).toHaveBeenCalledTimes(3);
    expect((first.list['metadata'] as { remainingItemCount?: number }).remainingItemCount).toBeUndefined();
    const { continue: token } = first.list['metadata'] as { continue: string };
    expect((await made.names('configmaps', { labelSelector: 'app=rare', limit: '1', continue: token })).names).toEqual([
      '1400',
    ]);
    expect(list.mock.calls.length).toBeLessThanOrEqual(5);
  });

  it('tells how many objects follow only where no selector is given', async () => {
    const made = bench();
    for (const name of ['a', 'b', 'c']) await made.create('configmaps', note(name, {}, { labels: { app: 'x' } }));
    await delivered();
    const old = String(await made.store.revision());
    await made.create('configmaps', note('d'));
    await delivered();
    const remaining = async (query: object) =>
      (await made.registry.list(made.target('configmaps'), optionsOf({ limit: '1', ...query }))).remaining();
    for (const at of [{}, { resourceVersion: old, resourceVersionMatch: 'Exact' }]) {
      expect(await remaining(at)).toBe('resourceVersion' in at ? 2 : 3);
      expect(await remaining({ ...at, labelSelector: 'app=x' })).toBeUndefined();
      expect(await remaining({ ...at, fieldSelector: 'metadata.name!=c' })).toBeUndefined();
    }
  });
});

describe('an update that changes nothing', () => {
  const forms: [string, (text: string) => string][] = [
    ['with spaces', (text) => JSON.stringify(JSON.parse(text), null, 1)],
    ['with spaces behind the metadata', (text) => text.replace('"data":{', '"data": {')],
    [
      'with its fields in another order',
      (text) => JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(text) as object).reverse())),
    ],
    ['with escapes', (text) => text.replace('"value"', '"\\u0076alue"')],
  ];
  it.each(forms)('writes an object that is stored %s, once', async (_, rewritten) => {
    const made = bench();
    const created = await made.create('configmaps', note('one', { a: 'value' }));
    const { entry } = await made.store.get(key);
    const text = Buffer.from(entry?.value ?? []).toString();
    await made.store.commit([], [{ key, value: Buffer.from(rewritten(text)) }]);
    await delivered();
    const before = await made.read('configmaps', 'one');
    expect(before['data']).toEqual(created['data']);
    const after = await made.change('configmaps', 'one', update({ ...before }));
    expect(Number(after.metadata.resourceVersion)).toBeGreaterThan(Number(before.metadata.resourceVersion));
    expect(Buffer.from((await made.store.get(key)).entry?.value ?? []).toString()).toBe(text);
    await delivered();
    for (const change of [update({ ...after }), merge({}), merge({ data: { a: 'value' } })]) {
      expect(await made.change('configmaps', 'one', change)).toEqual(after);
    }
  });

  it('writes nothing in a dry run', async () => {
    const made = bench();
    const { metadata } = await made.create('configmaps', note('one', { a: 'value' }));
    const { entry } = await made.store.get(key);
    const value = Buffer.from(
      Buffer.from(entry?.value ?? [])
        .toString()
        .replace('"data":{', '"data": {'),
    );
    await made.store.commit([], [{ key, value }]);
    const revision = await made.store.revision();
    await made.change('configmaps', 'one', merge({}), { dryRun: true });
    expect([await made.store.revision(), metadata.name]).toEqual([revision, 'one']);
  });
});

it('an error ends a watch: it delivers none of the later events', async () => {
  const made = bench();
  await made.create('configmaps', note('one'));
  await delivered();
  const resourceVersion = String(await made.store.revision());
  const stream = await made.registry.watch(made.target('configmaps'), { resourceVersion });
  const events = stream[Symbol.asyncIterator]();
  await made.store.commit([], [{ key, value: Buffer.from('{"kind":"Conf') }]);
  await made.create('configmaps', note('two'));
  await delivered();
  await made.create('configmaps', note('three'));
  await delivered();
  expect(await failure(events.next())).toMatchObject({ code: 500 });
  expect(await events.next()).toEqual({ done: true, value: undefined });
});
