import { describe, expect, it } from 'vitest';
import { addedEvent } from '../../cache/index.ts';
import { type ByteString, inTurns, type JsonObject, type Steps } from '../../meta/index.ts';
import { EveryStep } from '../../meta/testing/every-step.ts';
import {
  eventWriter,
  type ReadOptions,
  type Representation,
  readForRepresentation,
  readIncludeObject,
  representList,
  representObject,
  type Target,
} from '../index.ts';
import { allPieces, bench, note } from '../testing/fixtures.ts';

const parse = (pieces: Iterable<string>) =>
  JSON.parse(Buffer.from([...pieces].join(''), 'latin1').toString()) as JsonObject & { metadata: JsonObject };

async function made(
  view: Representation,
  options: ReadOptions = {},
  place: Partial<Target> = {},
  plural = 'configmaps',
) {
  const { create, registry, target } = bench();
  for (const name of ['a', 'b', 'c']) {
    const objects: { [plural: string]: JsonObject } = {
      configmaps: note(name, { text: 'ü' }, { labels: { l: 'x' }, annotations: { brace: '}"{' } }),
      deployments: { metadata: { name }, spec: { replicas: 3 } },
      widgets: { metadata: { name }, size: 7 },
    };
    await create(plural, objects[plural] as JsonObject);
  }
  const at = target(plural, place);
  const one = representObject(at, await registry.get({ ...at, name: 'a' }, {}), view);
  return { list: parse(allPieces(representList(at, await registry.list(at, options), view))), one: parse([one]) };
}

describe('a large object', () => {
  const data = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`k${i}`, 'v']));
  const table: Representation = { as: 'table', version: 'v1', includeObject: 'None', now: 0 };

  it('is parsed in steps for the row of a table, once', async () => {
    const { create, registry, target } = bench();
    await create('configmaps', note('a', data));
    const at = target('configmaps');
    const pieces = async () => allPieces(representList(at, await registry.list(at, {}), table));
    const first = await pieces();
    expect(first.filter((piece) => piece === '').length).toBeGreaterThan(5);
    const second = await pieces();
    expect(second.filter((piece) => piece === '')).toEqual([]);
    expect(parse(second)).toEqual(parse(first));
  });

  it.each(['None', 'Object'] as const)(
    'is converted to the version of a request in steps, in a table that includes %s too',
    async (includeObject) => {
      const { create, registry, target } = bench();
      await create('widgets', { metadata: { name: 'a', annotations: data }, size: 7 });
      const at = target('widgets', { name: 'a' });
      const object = await registry.get(at, {});
      const views: Representation[] = [{ as: 'object' }, { ...table, includeObject }];
      for (const view of views) {
        const event = addedEvent(object);
        const writer = eventWriter(at, view);
        const inOneStep = writer.write(event, true);
        Object.assign(object, { row: undefined });
        const turns = new EveryStep();
        const steps = writer.writeInSteps(event, true) as Steps<ByteString>;
        expect(await inTurns(steps, turns)).toBe(inOneStep);
        expect(turns.count).toBeGreaterThan(5);
      }
      const list = await registry.list({ ...at, name: '' }, {});
      const pieces = allPieces(representList({ ...at, name: '' }, list, { as: 'object' }));
      expect(parse(pieces)).toMatchObject({ items: [{ metadata: { annotations: data }, size: 7 }] });
      expect(pieces.filter((piece) => piece === '').length).toBeGreaterThan(5);
    },
  );

  it('is sent as it is stored without being parsed', async () => {
    const { create, registry, target } = bench();
    await create('configmaps', note('a', data));
    const at = target('configmaps');
    const object = await registry.get({ ...at, name: 'a' }, {});
    expect([...readForRepresentation(at, object, { as: 'object' })]).toEqual([]);
  });
});

describe('table', () => {
  const table = (includeObject: 'None' | 'Metadata' | 'Object'): Representation => ({
    as: 'table',
    version: 'v1',
    includeObject,
    now: 0,
  });

  it('has the columns of the kind and a row for each object', async () => {
    const { list, one } = await made(table('Metadata'), {}, {}, 'deployments');
    expect(list).toMatchObject({ kind: 'Table', apiVersion: 'meta.k8s.io/v1', metadata: { resourceVersion: '4' } });
    expect(list['columnDefinitions']).toEqual([
      { name: 'Name', type: 'string', format: 'name', description: '', priority: 0 },
      { name: 'Replicas', type: 'integer', format: '', description: '', priority: 0 },
    ]);
    const rows = list['rows'] as { cells: unknown[]; object: JsonObject }[];
    expect(rows.map(({ cells }) => cells)).toEqual([
      ['a', 3],
      ['b', 3],
      ['c', 3],
    ]);
    expect(rows[0]?.object).toMatchObject({
      kind: 'PartialObjectMetadata',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { name: 'a' },
    });
    expect(one['rows']).toEqual([rows[0]]);
    expect(one.metadata).toEqual({ resourceVersion: '2' });
  });

  it('has a Completed condition for an object that is done', async () => {
    const { create, registry, target } = bench();
    for (const replicas of [0, 1])
      await create('deployments', { metadata: { name: `d${replicas}` }, spec: { replicas } });
    const at = target('deployments');
    expect(parse(allPieces(representList(at, await registry.list(at, {}), table('None'))))['rows']).toEqual([
      {
        cells: ['d0', 0],
        conditions: [{ type: 'Completed', status: 'True', reason: 'Gone', message: 'Nothing runs "any more".' }],
        object: null,
      },
      { cells: ['d1', 1], object: null },
    ]);
  });

  it('has Name and Created At for a kind without columns', async () => {
    const { list } = await made(table('None'));
    expect((list['columnDefinitions'] as JsonObject[]).map(({ name, type, format }) => [name, type, format])).toEqual([
      ['Name', 'string', 'name'],
      ['Created At', 'date', ''],
    ]);
    const [row] = list['rows'] as { cells: unknown[]; object: unknown }[];
    expect(row).toEqual({ cells: ['a', expect.stringMatching(/Z$/)], object: null });
  });

  it('includes objects in the version of the request, and the continue token of the list', async () => {
    const { list } = await made(table('Object'), { limit: '1' }, {}, 'widgets');
    expect(list.metadata).toEqual({
      resourceVersion: '4',
      continue: expect.any(String) as string,
      remainingItemCount: 2,
    });
    expect((list['rows'] as { object: JsonObject }[])[0]?.object).toMatchObject({
      kind: 'Widget',
      apiVersion: 'example.com/v1',
      size: 7,
    });
  });

  it('checks includeObject', () => {
    expect([undefined, '', 'None', 'Object'].map(readIncludeObject)).toEqual([
      'Metadata',
      'Metadata',
      'None',
      'Object',
    ]);
    expect(() => readIncludeObject('Bogus')).toThrow(
      "Unable to convert to Table as requested: includeObject: Invalid value: \"Bogus\": must be 'Metadata', 'Object', 'None', or empty",
    );
  });
});

describe('metadata', () => {
  it('leaves out all other fields', async () => {
    const { list, one } = await made({ as: 'metadata', version: 'v1' });
    expect(list).toMatchObject({
      kind: 'PartialObjectMetadataList',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { resourceVersion: '4' },
    });
    const items = list['items'] as JsonObject[];
    expect(items).toHaveLength(3);
    expect(items[0]).toEqual(one);
    expect(Object.keys(one)).toEqual(['kind', 'apiVersion', 'metadata']);
    expect(one).toMatchObject({
      kind: 'PartialObjectMetadata',
      metadata: { name: 'a', labels: { l: 'x' }, annotations: { brace: '}"{' }, resourceVersion: '2' },
    });
  });
});

describe('object', () => {
  it('is in the version of the request', async () => {
    const { list, one } = await made({ as: 'object' }, {}, {}, 'widgets');
    expect(list).toMatchObject({ kind: 'WidgetList', apiVersion: 'example.com/v1' });
    expect((list['items'] as JsonObject[])[0]).toEqual({ metadata: one.metadata, size: 7 });
    const stored = await made({ as: 'object' }, {}, { version: 'v2' }, 'widgets');
    expect(stored.list).toMatchObject({ apiVersion: 'example.com/v2' });
    expect((stored.list['items'] as JsonObject[])[0]).toEqual({ metadata: stored.one.metadata, spec: { size: 7 } });
  });

  it('keeps characters beyond ASCII', async () => {
    const { list } = await made({ as: 'object' });
    expect((list['items'] as JsonObject[])[0]?.['data']).toEqual({ text: 'ü' });
  });

  it('is sent in pieces', async () => {
    const { create, registry, target } = bench();
    const big = { x: 'y'.repeat(150_000) };
    for (const name of ['a', 'b', 'c']) await create('configmaps', note(name, big));
    const at = target('configmaps');
    const pieces = allPieces(representList(at, await registry.list(at, {}), { as: 'object' }));
    // Each object is longer than a piece; the last piece only closes the list.
    expect(pieces).toHaveLength(4);
    expect((parse(pieces)['items'] as JsonObject[]).map(({ data }) => data)).toEqual([big, big, big]);
  });
});
