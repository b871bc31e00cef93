import { describe, expect, it } from 'vitest';
import { openMemoryStore } from '../../store/index.ts';
import { drivenClock } from '../../store/testing/driven-clock.ts';
import { delivered } from '../../store/testing/late-store.ts';
import { bench, failure, merge, note, remove } from '../testing/fixtures.ts';

/** Versions 2, 3 and 5 of `one`, which version 6 deletes. Version 4 is of another object. */
async function history() {
  const made = bench({ objectHistory: true });
  await made.create('configmaps', note('one', { n: '2' }));
  await made.change('configmaps', 'one', merge({ data: { n: '3' } }));
  await made.create('configmaps', note('other'));
  await made.change('configmaps', 'one', merge({ data: { n: '5' } }));
  await made.write('configmaps', { name: 'one' }, remove());
  const at = (resourceVersion: string, name = 'one') =>
    made.read('configmaps', name, { resourceVersion, resourceVersionMatch: 'Exact' });
  return { ...made, at };
}

describe('an object at exactly a resourceVersion', () => {
  it.each([
    ['2', '2'],
    ['3', '3'],
    ['4', '3'],
    ['5', '5'],
  ])('at %s is the version that was the latest then', async (resourceVersion, written) => {
    const { at } = await history();
    expect(await at(resourceVersion)).toMatchObject({
      metadata: { name: 'one', resourceVersion: written },
      data: { n: written },
    });
  });

  it('is read in the version of the request', async () => {
    const { create, change, read } = bench({ objectHistory: true });
    const { metadata } = await create('widgets', {
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      metadata: { name: 'w' },
      size: 7,
    });
    await change('widgets', 'w', merge({ size: 8 }));
    const { resourceVersion = '' } = metadata;
    expect(await read('widgets', 'w', { resourceVersion, resourceVersionMatch: 'Exact' })).toMatchObject({
      apiVersion: 'example.com/v1',
      size: 7,
    });
  });

  it('fails with 404 before the object was created and after it was deleted', async () => {
    const { at } = await history();
    for (const resourceVersion of ['1', '6']) {
      expect(await failure(at(resourceVersion))).toMatchObject({
        code: 404,
        reason: 'NotFound',
        message: 'configmaps "one" not found',
      });
    }
  });

  it('fails with 410, which names the oldest readable version, once the store has compacted it', async () => {
    const { at, store } = await history();
    await store.compact(5);
    expect(await failure(at('4'))).toMatchObject({
      code: 410,
      reason: 'Expired',
      message: 'too old resource version: 4 (5)',
      details: { causes: [{ reason: 'OldestResourceVersion', field: 'resourceVersion', message: '5' }] },
    });
    expect((await at('5')).data).toEqual({ n: '5' });
  });

  it('fails with 504 for a version that the store has not reached', async () => {
    const { at, clock } = await history();
    await delivered();
    const refused = failure(at('7'));
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(3_000);
    expect(await refused).toMatchObject({ code: 504, message: 'Timeout: Too large resource version: 7, current: 6' });
  });

  it('fails with 500 when the stored version cannot be read', async () => {
    const { store, at } = await history();
    await store.commit([], [{ key: '/configmaps/ns/one', value: Buffer.from('{') }]);
    await store.commit([], [{ key: '/configmaps/ns/one' }]);
    expect(await failure(at('7'))).toMatchObject({ code: 500 });
  });

  const field = 'resourceVersionMatch';
  it.each([
    [
      { resourceVersionMatch: 'Exact' },
      422,
      `${field}: Forbidden: ${field} is forbidden unless resourceVersion is provided`,
    ],
    [
      { resourceVersion: '0', resourceVersionMatch: 'Exact' },
      422,
      `${field}: Forbidden: ${field} "exact" is forbidden for resourceVersion "0"`,
    ],
    [
      { resourceVersion: '2', resourceVersionMatch: 'exact' },
      422,
      `${field}: Unsupported value: "exact": supported values: "Exact", "NotOlderThan", ""`,
    ],
  ])('fails with 422 as a list does: %j', async (options, code, why) => {
    const { read } = await history();
    expect(await failure(read('configmaps', 'one', options))).toMatchObject({
      code,
      reason: 'Invalid',
      message: `GetOptions.meta.k8s.io "" is invalid: ${why}`,
      details: { causes: [{ field }] },
    });
  });

  it('fails with 400 for a resourceVersion that is no number', async () => {
    const { at } = await history();
    expect(await failure(at('-1'))).toMatchObject({
      code: 400,
      message:
        'invalid resource version: resourceVersion: Invalid value: "-1": strconv.ParseUint: parsing "-1": invalid syntax',
    });
  });

  it('fails with 422 for a resource that is not stored', async () => {
    const { read } = bench({ objectHistory: true });
    const exact = { resourceVersion: '1', resourceVersionMatch: 'Exact' };
    expect(await failure(read('gauges', 'a', exact))).toMatchObject({
      code: 422,
      message: `GetOptions.meta.k8s.io "" is invalid: ${field}: Forbidden: gauges are not stored and have no history`,
    });
    expect(await read('gauges', 'a')).toMatchObject({ level: 'high a' });
  });

  it('may be newer with match NotOlderThan, as without a match', async () => {
    const { create, change, read } = bench({ objectHistory: true });
    await create('configmaps', note('one'));
    await change('configmaps', 'one', merge({ data: { a: '2' } }));
    await delivered();
    const { data } = await read('configmaps', 'one', { resourceVersion: '2', resourceVersionMatch: 'NotOlderThan' });
    expect(data).toEqual({ a: '2' });
  });

  it('is not read without the extension: the match is ignored, as the reference server does', async () => {
    const { create, change, read } = bench({ store: openMemoryStore({ clock: drivenClock() }) });
    await create('configmaps', note('one'));
    await change('configmaps', 'one', merge({ data: { a: '2' } }));
    await delivered();
    for (const resourceVersionMatch of ['Exact', 'other', '']) {
      expect((await read('configmaps', 'one', { resourceVersion: '2', resourceVersionMatch })).data).toEqual({
        a: '2',
      });
    }
    expect((await read('configmaps', 'one', { resourceVersionMatch: 'Exact' })).data).toEqual({ a: '2' });
  });
});
