import { describe, expect, it } from 'vitest';
import { type ApiObject, inTurns, type JsonObject, serverTurns } from '../meta/index.ts';
import { openMemoryStore } from '../store/index.ts';
import { drivenClock } from '../store/testing/driven-clock.ts';
import type { StreamEvent } from './index.ts';
import { representObject } from './index.ts';
import { apply, bench, failure, how, merge, note, optionsOf, type QueryTexts, remove } from './testing/fixtures.ts';
import { recordingWebhook, turn, type Wheel, wheel, wheels } from './testing/wheels.ts';
import { Conversions } from './write/conversions.ts';

const refusal = 'conversion webhook for turn.example.com/v1, Kind=Wheel failed: it does not turn';
const v2 = { version: 'v2' };
const inV2 = (name: string) => ({ ...v2, name });
const wheelId = 'wheels.turn.example.com' as never;

/** A registry with wheels, stored in v1 unless `storage` says otherwise. */
function rolling({ storage = 'v1', ...options }: Parameters<typeof bench>[0] & { storage?: string } = {}) {
  const made = bench(options);
  const { registry, store, target, change } = made;
  const { webhook, calls } = recordingWebhook();
  registry.install(wheels(webhook, storage));
  const create = (version: string, name: string, spec: JsonObject, metadata: JsonObject = {}) =>
    change(
      'wheels',
      { version },
      {
        verb: 'create',
        object: { value: wheel(version, name, spec, metadata), findings: [] },
      },
    );
  const get = async (version: string, name: string) => {
    const place = target('wheels', { version, name });
    return JSON.parse(representObject(place, await registry.get(place, {}), { as: 'object' })) as Wheel;
  };
  const list = async (version: string, query: QueryTexts = {}) => {
    const found = await registry.list(target('wheels', { version }), optionsOf(query));
    return { ...found, items: [...found.items].map(({ bytes }) => JSON.parse(bytes) as Wheel) };
  };
  const stored = async (name: string) => {
    const { entry } = await store.get(`/turn.example.com/wheels/ns/${name}`);
    return JSON.parse(Buffer.from(entry?.value ?? '{}').toString()) as Wheel;
  };
  const revision = async (name: string) => (await store.get(`/turn.example.com/wheels/ns/${name}`)).entry?.revision;
  return { ...made, create, get, list, stored, revision, calls, webhook };
}

/** The first `count` events of a watch in v2. */
async function watched({ registry, target }: ReturnType<typeof rolling>, query: QueryTexts = {}) {
  const stream = (await registry.watch(target('wheels', v2), optionsOf(query)))[Symbol.asyncIterator]();
  return async (count: number) => {
    const seen: unknown[] = [];
    while (seen.length < count) {
      const { value, done } = await stream.next();
      if (done === true) return [...seen, 'end'];
      for (const { type, object, frame } of value as StreamEvent[]) {
        const { spec, metadata } = JSON.parse(object?.bytes ?? '{}') as Wheel;
        expect(JSON.parse(frame)).toMatchObject({ type, object: { spec } });
        seen.push([type, metadata.name, spec]);
      }
    }
    return seen;
  };
}

describe('objects of a custom resource that a webhook converts', () => {
  it('are read in the version of the request; only a read of the latest state calls the webhook again', async () => {
    const { create, get, list, calls } = rolling();
    await create('v1', 'a', { radius: 3 }, { labels: { l: '1' } });
    expect(await get('v1', 'a')).toMatchObject({ apiVersion: 'turn.example.com/v1', spec: { radius: 3 } });
    expect(calls).toEqual([]);
    const read = await get('v2', 'a');
    expect(read).toMatchObject({
      apiVersion: 'turn.example.com/v2',
      metadata: { name: 'a', labels: { l: '1' }, resourceVersion: (await get('v1', 'a')).metadata.resourceVersion },
      spec: { diameter: 6, colour: 'black' },
    });
    expect(calls).toEqual([{ to: 'v2', names: ['a'] }]);
    expect((await list('v2')).items).toEqual([read]);
    expect(calls).toHaveLength(1);
    expect(await get('v2', 'a')).toEqual(read);
    expect(calls).toHaveLength(2);
  });

  it('share one call when they are read at the same time', async () => {
    const { create, get, calls } = rolling();
    await create('v1', 'a', { radius: 3 });
    await Promise.all([get('v2', 'a'), get('v2', 'a'), get('v2', 'a')]);
    expect(calls).toHaveLength(1);
  });

  it('are stored in the storage version, and returned as they are stored', async () => {
    const { create, change, stored, get, calls, registry, target } = rolling();
    expect(await create('v2', 'b', { diameter: 8 })).toMatchObject({ spec: { diameter: 8, colour: 'black' } });
    expect(await stored('b')).toMatchObject({
      apiVersion: 'turn.example.com/v1',
      spec: { radius: 4, colour: 'black' },
    });
    calls.length = 0;
    expect(await change('wheels', inV2('b'), merge({ spec: { diameter: 4 } }))).toMatchObject({
      apiVersion: 'turn.example.com/v2',
      metadata: { generation: 2 },
      spec: { diameter: 4 },
    });
    expect(await stored('b')).toMatchObject({ apiVersion: 'turn.example.com/v1', spec: { radius: 2 } });
    expect(await get('v1', 'b')).toMatchObject({ spec: { radius: 2 } });
    const deleted = await registry.write(target('wheels', inV2('b')), remove(), how);
    expect(deleted.deleted?.name).toBe('b');
    expect(await failure(get('v1', 'b'))).toMatchObject({ code: 404 });
  });

  it('are not written by a write that changes nothing', async () => {
    const { create, change, revision } = rolling();
    await create('v2', 'b', { diameter: 8 });
    const before = await revision('b');
    await change('wheels', inV2('b'), merge({ spec: { diameter: 8 } }));
    expect(await revision('b')).toBe(before);
  });

  it('are converted by a dry run, and not stored', async () => {
    const { write, target, stored, calls } = rolling();
    const sent = { verb: 'create', object: { value: wheel('v2', 'b', { diameter: 8 }), findings: [] } } as const;
    const { object } = await write('wheels', v2, sent, { dryRun: true });
    expect(JSON.parse(representObject(target('wheels', v2), object!, { as: 'object' }))).toMatchObject({
      spec: { diameter: 8 },
    });
    expect([await stored('b'), calls.length]).toEqual([{}, 1]);
  });

  it('are updated and marked as deleted by the server in another version', async () => {
    const { registry, create, stored, get, change } = rolling();
    await create('v1', 'a', { radius: 3 }, { finalizers: ['example.com/f'] });
    await change('wheels', inV2('a'), remove()).catch(() => undefined);
    expect((await stored('a')).metadata.deletionTimestamp).toBeDefined();
    const { webhook } = recordingWebhook();
    registry.install(wheels(webhook, 'v2'));
    await registry.objects.guaranteedUpdate(wheelId, 'ns', 'a', (object: ApiObject) => {
      (object as Wheel).spec.diameter = 10;
    });
    expect(await stored('a')).toMatchObject({ apiVersion: 'turn.example.com/v2', spec: { diameter: 10 } });
    expect(await get('v1', 'a')).toMatchObject({ spec: { radius: 5 } });
    expect(await registry.objects.read(wheelId, 'ns', 'a')).toMatchObject({ spec: { diameter: 10 } });
  });

  it('are migrated by a write that changes nothing after the storage version has changed', async () => {
    const { registry, create, stored, webhook } = rolling();
    await create('v1', 'a', { radius: 3 });
    registry.install(wheels(webhook, 'v2'));
    expect(await registry.objects.get(wheelId, 'ns', 'a')).toMatchObject({ spec: { diameter: 6 } });
    expect(await registry.objects.list(wheelId, 'ns')).toMatchObject([{ spec: { diameter: 6 } }]);
    await registry.objects.guaranteedUpdate(wheelId, 'ns', 'a', () => {});
    expect(await stored('a')).toMatchObject({ apiVersion: 'turn.example.com/v2', spec: { diameter: 6 } });
  });

  it('are read by a second server, whatever the order of their stored fields', async () => {
    const store = openMemoryStore({ clock: drivenClock() });
    const [one, other] = [rolling({ store }), rolling({ store, storage: 'v2' })];
    await one.create('v1', 'a', { radius: 3 });
    await other.create('v1', 'b', { radius: 4 });
    expect(await other.get('v2', 'a')).toMatchObject({ spec: { diameter: 6 } });
    expect(await one.get('v1', 'b')).toMatchObject({ spec: { radius: 4 } });
    const { spec, ...rest } = await one.stored('a');
    const foreign = { spec: { ...spec, radius: 5 }, ...rest };
    await store.commit([], [{ key: '/turn.example.com/wheels/ns/c', value: Buffer.from(JSON.stringify(foreign)) }]);
    expect(await one.get('v2', 'c')).toMatchObject({ apiVersion: 'turn.example.com/v2', spec: { diameter: 10 } });
    expect(await one.get('v1', 'c')).toMatchObject({ apiVersion: 'turn.example.com/v1', spec: { radius: 5 } });
  });
});

describe('a list of objects that a webhook converts', () => {
  it('takes one call for a page, and none for objects that are converted already', async () => {
    const { create, list, calls } = rolling();
    for (const name of ['a', 'b', 'c']) await create('v1', name, { radius: 1 });
    const page = await list('v2', { limit: '2' });
    expect(page.items.map(({ metadata, spec }) => [metadata.name, spec.diameter])).toEqual([
      ['a', 2],
      ['b', 2],
    ]);
    expect([page.remaining(), calls]).toEqual([1, [{ to: 'v2', names: ['a', 'b'] }]]);
    expect((await list('v2')).items).toHaveLength(3);
    expect(calls.at(-1)).toEqual({ to: 'v2', names: ['c'] });
  });

  it('sends a bounded number of objects with each call', async () => {
    const { create, list, calls } = rolling();
    for (let i = 0; i < 230; i++) await create('v1', `w${i}`, { radius: 1 });
    expect((await list('v2')).items).toHaveLength(230);
    expect(calls.map(({ names }) => names.length)).toEqual([100, 100, 30]);
  });

  it('selects by stored labels and by converted fields', async () => {
    const { create, list, calls } = rolling();
    await create('v1', 'a', { radius: 1, colour: 'red' }, { labels: { l: '1' } });
    await create('v1', 'b', { radius: 1, colour: 'blue' }, { labels: { l: '1' } });
    await create('v1', 'c', { radius: 1, colour: 'red' });
    const { items } = await list('v2', { labelSelector: 'l=1', fieldSelector: 'spec.colour=red' });
    expect(items.map(({ metadata }) => metadata.name)).toEqual(['a']);
    expect(calls).toEqual([{ to: 'v2', names: ['a', 'b'] }]);
  });
});

describe('a watch of objects that a webhook converts', () => {
  it('shows every event in its version', async () => {
    const made = rolling();
    const { create, change, registry, target, calls } = made;
    await create('v1', 'a', { radius: 1 });
    const take = await watched(made);
    expect(await take(1)).toEqual([['ADDED', 'a', { colour: 'black', diameter: 2 }]]);
    await change('wheels', 'a', merge({ spec: { radius: 2 } }));
    expect(await take(1)).toEqual([['MODIFIED', 'a', { colour: 'black', diameter: 4 }]]);
    calls.length = 0;
    await registry.write(target('wheels', { name: 'a' }), remove(), how);
    expect(await take(1)).toEqual([['DELETED', 'a', { colour: 'black', diameter: 4 }]]);
    expect(calls).toEqual([]);
  });

  it('selects by converted fields', async () => {
    const made = rolling();
    const { create, change } = made;
    await create('v1', 'a', { radius: 1, colour: 'red' });
    await create('v1', 'b', { radius: 1, colour: 'blue' });
    const take = await watched(made, { fieldSelector: 'spec.colour=red' });
    expect(await take(1)).toEqual([['ADDED', 'a', { colour: 'red', diameter: 2 }]]);
    await change('wheels', 'a', merge({ spec: { colour: 'blue' } }));
    expect(await take(1)).toEqual([['DELETED', 'a', { colour: 'blue', diameter: 2 }]]);
  });

  it('ends with an internal error behind the events before an object that is not converted', async () => {
    const made = rolling();
    const { create } = made;
    await create('v1', 'a', { radius: 1 });
    await create('v1', 'b', { radius: 1 }, { labels: { bad: '1' } });
    await create('v1', 'c', { radius: 1 });
    const take = await watched(made);
    expect(await take(1)).toEqual([['ADDED', 'a', { colour: 'black', diameter: 2 }]]);
    expect(await failure(take(1))).toMatchObject({
      code: 500,
      reason: 'InternalError',
      message: `Internal error occurred: ${refusal}`,
    });
    expect(await take(1)).toEqual(['end']);
  });
});

function signal() {
  let give = () => {};
  const given = new Promise<void>((resolve) => {
    give = resolve;
  });
  return { given, give };
}

describe('a webhook that fails', () => {
  it('fails reads and writes in the other version only, and of that object only', async () => {
    const made = rolling();
    const { create, get, list, change, stored } = made;
    await create('v1', 'a', { radius: 1 });
    await create('v1', 'b', { radius: 1 }, { labels: { bad: '1' } });
    const works = [get('v2', 'b'), list('v2'), change('wheels', inV2('b'), merge({ spec: { diameter: 4 } }))];
    for (const refused of await Promise.all(works.map(failure))) {
      expect(refused).toMatchObject({ code: 500, reason: '', message: refusal });
    }
    expect(await failure(change('wheels', inV2('b'), remove()))).toMatchObject({ code: 500, message: refusal });
    expect(await failure(create('v2', 'd', { diameter: 2 }, { labels: { bad: '1' } }))).toMatchObject({ code: 500 });
    expect(await stored('d')).toEqual({});
    expect(await get('v2', 'a')).toMatchObject({ spec: { diameter: 2 } });
    expect((await list('v1')).items).toHaveLength(2);
    expect(await change('wheels', 'b', merge({ spec: { radius: 3 } }))).toMatchObject({ spec: { radius: 3 } });
    await made.registry.write(made.target('wheels', { name: 'b' }), remove(), how);
    await made.registry.objects.create(
      'configmaps' as never,
      {
        ...note('n'),
        metadata: { name: 'n', namespace: 'ns' },
      } as never,
    );
  });

  it('does not fail the read of an object because of another one in the same call', async () => {
    const { registry, create, get, list, webhook, calls } = rolling();
    const started = signal();
    const answered = signal();
    registry.install(
      wheels(async (objects, apiVersion) => {
        started.give();
        if (objects.length > 1) await answered.given;
        return webhook(objects, apiVersion);
      }),
    );
    await create('v1', 'a', { radius: 1 });
    await create('v1', 'b', { radius: 1 }, { labels: { bad: '1' } });
    const listing = failure(list('v2'));
    await started.given;
    const { spec } = await get('v2', 'a');
    answered.give();
    expect([await listing, spec]).toMatchObject([{ code: 500 }, { diameter: 2 }]);
    // The read calls for its object alone. The list converts each object alone in the end, to find the one that fails.
    expect(calls.map(({ names }) => names)).toEqual([['a'], ['a', 'b'], ['b']]);
  });
});

describe('managed fields of several versions', () => {
  it('are compared in the versions of their managers', async () => {
    const { write, change, stored } = rolling();
    await write('wheels', { name: 'a' }, apply(wheel('v1', 'a', { radius: 3, colour: 'red' })), {
      fieldManager: 'one',
    });
    const other = apply(wheel('v2', 'a', { diameter: 8 }));
    // Of fields with different names, v1's manager learns by conversion that its field changes.
    const conflict = await failure(write('wheels', inV2('a'), other, { fieldManager: 'two' }));
    expect(conflict).toMatchObject({ code: 409, message: expect.stringContaining('.spec.radius') as string });
    await write('wheels', inV2('a'), other, { fieldManager: 'two', force: true });
    expect(await stored('a')).toMatchObject({ spec: { radius: 4, colour: 'red' } });
    const managers = (await stored('a')).metadata.managedFields as unknown as { manager: string; apiVersion: string }[];
    expect(managers.map(({ manager, apiVersion }) => [manager, apiVersion])).toEqual([
      ['one', 'turn.example.com/v1'],
      ['two', 'turn.example.com/v2'],
    ]);
    expect(JSON.stringify(managers[0])).not.toContain('radius');
    // The first manager gives up the colour, which nobody else owns.
    await write('wheels', { name: 'a' }, apply(wheel('v1', 'a', {})), { fieldManager: 'one' });
    expect((await stored('a')).spec).toEqual({ radius: 4, colour: 'black' });
    expect(await change('wheels', inV2('a'), merge({ spec: { colour: 'blue' } }))).toMatchObject({
      spec: { diameter: 8, colour: 'blue' },
    });
  });

  it('of a new object may be in another version', async () => {
    const { create } = rolling();
    const managedFields = ['v1', 'v2'].map((version) => ({
      manager: version,
      operation: 'Update',
      apiVersion: `turn.example.com/${version}`,
      time: '2024-01-01T00:00:00Z',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:spec': { 'f:colour': {} } },
    }));
    expect(await create('v2', 'a', { diameter: 2 }, { managedFields })).toMatchObject({ spec: { diameter: 2 } });
  });
});

it('a write makes a bounded number of conversions for its managed fields', async () => {
  let calls = 0;
  const conversions = new Conversions(async (objects, apiVersion) => {
    calls += 1;
    return objects.map((one) => turn(one, apiVersion));
  });
  function* convert(count: number) {
    for (let i = 0; i < count; i++) {
      yield* conversions.convert(wheel('v1', 'a', { radius: i }) as unknown as ApiObject, 'turn.example.com/v2');
    }
    return count;
  }
  expect([await inTurns(convert(64), serverTurns()), calls]).toEqual([64, 64]);
  expect(await failure(inTurns(convert(65), serverTurns()))).toMatchObject({
    code: 500,
    message: expect.stringContaining('64') as string,
  });
  expect(calls).toBe(64);
});
