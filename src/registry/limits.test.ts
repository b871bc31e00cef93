import { describe, expect, it } from 'vitest';
import { type Json, type JsonObject, MAX_DEPTH, StatusError } from '../meta/index.ts';
import { builtinResources } from '../resources/index.ts';
import { anyValue, field, struct } from '../schema/index.ts';
import type { ResourceDefinition } from './resource/definition.ts';
import { apply, bench, failure, json, merge, notes, remove, strategic, update } from './testing/fixtures.ts';
import type { Change } from './types.ts';

const Box = struct('core/v1.Box', { ...notes.versions[0]?.schema?.fields, content: field(9, anyValue) });

/** A kind that takes any fields. */
const boxes: ResourceDefinition = {
  ...notes,
  plural: 'boxes',
  kind: 'Box',
  singular: 'box',
  versions: [{ version: 'v1', schema: Box }],
  storage: { group: '', resource: 'boxes', version: 'v1' },
};

const create = (value: JsonObject): Change => ({ verb: 'create', object: { value, findings: [] } });
const box = (content: Json, meta: JsonObject = {}): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Box',
  metadata: { name: 'b', ...meta },
  content,
});
const nested = (levels: number, inside: Json = 1): Json => {
  let value = inside;
  for (let i = 0; i < levels; i++) value = { a: value };
  return value;
};
const below = (path: string, levels: number): string => path + '/a'.repeat(levels);

const tooDeep = { code: 422, reason: 'Invalid', message: 'the patched object nests deeper than 512 levels' };

describe('the depth of a patched object', () => {
  /** Refused, and the object is there as it was. */
  async function refuses(patch: Change, refusal: object = tooDeep): Promise<void> {
    const { change, read, names } = bench({ definitions: [boxes] });
    const made = await change('boxes', {}, create(box(nested(400))));
    expect(await failure(change('boxes', 'b', patch))).toMatchObject(refusal);
    expect(await read('boxes', 'b')).toEqual(made);
    expect((await names('boxes')).names).toEqual(['b']);
    expect((await change('boxes', 'b', merge({ metadata: { labels: { a: 'b' } } }))).metadata.labels).toEqual({
      a: 'b',
    });
  }

  it('is limited where values are added at the deepest place', () =>
    refuses(json([{ op: 'replace', path: below('/content', 400), value: nested(400) }])));

  it('is limited where values are moved below each other', () =>
    refuses(
      json(
        Array.from({ length: 1_000 }, () => [
          { op: 'add', path: '/outer', value: {} },
          { op: 'move', from: '/content', path: '/outer/a' },
          { op: 'move', from: '/outer', path: '/content' },
        ]).flat(),
      ),
    ));

  it('is limited where values are copied into themselves', () =>
    refuses(
      json(
        Array.from({ length: 6 }, (_, i) => [
          { op: 'copy', from: '/content', path: '/copy' },
          { op: 'move', from: '/copy', path: below('/content', 400 * 2 ** i) },
        ]).flat(),
      ),
    ));

  it('is limited in managedFields', () =>
    refuses(
      json(
        Array.from({ length: 20 }, (_, i) => ({
          op: 'add',
          path: `/metadata/managedFields/0/fieldsV1${'/f:a'.repeat(400 * i)}`,
          value: JSON.parse(`${'{"f:a":'.repeat(400)}{}${'}'.repeat(400)}`) as Json,
        })),
      ),
    ));

  it.each([
    ['merge', merge],
    ['strategic', strategic],
  ])('is limited in a %s patch', (_, patch) => refuses(patch({ content: nested(600) })));

  it('is reported before a result that is not of the kind', () =>
    refuses(
      json([
        ...Array.from({ length: 30 }, (_, i) => ({
          op: 'replace',
          path: below('/content', 500 * i),
          value: nested(500),
        })),
        { op: 'add', path: '/data', value: 1 },
      ]),
    ));
});

describe('the members of an object', () => {
  const [most, mostFields] = [64 * 1024, 16 * 1024];
  const list = (length: number): Json => Array.from({ length }, () => 0);
  const map = (length: number): JsonObject => Object.fromEntries(Array.from({ length }, (_, i) => [`k${i}`, 0]));
  const tooMany = {
    code: 413,
    reason: 'RequestEntityTooLarge',
    message:
      'Request entity too large: the object has too many fields and items, limit is 16384 fields in one map, 65536 items in one list, 400000 of both in all',
  };

  it('are limited in each list and map, and in all', async () => {
    const { change } = bench({ definitions: [boxes] });
    for (const content of [list(most + 1), map(mostFields + 1), Array.from({ length: 7 }, () => list(most))]) {
      for (const refused of [create(box(content)), update(box(content)), apply(box(content))]) {
        const at = refused.verb === 'create' ? {} : 'b';
        expect(await failure(change('boxes', at, refused))).toMatchObject(tooMany);
      }
    }
    expect((await change('boxes', {}, create(box(Array.from({ length: 6 }, () => list(most)))))).metadata.name).toBe(
      'b',
    );
  });

  it('are limited in a patch and in its result', async () => {
    const { change, read } = bench({ definitions: [boxes] });
    const made = await change('boxes', {}, create(box([list(most)])));
    const nulls = Object.fromEntries(Object.keys(map(mostFields + 1)).map((key) => [key, null]));
    const copies = json(Array.from({ length: 7 }, () => ({ op: 'add', path: '/content/-', value: list(most) })));
    const longer = json([{ op: 'add', path: '/content/0/-', value: 0 }]);
    for (const refused of [merge({ data: nulls }), strategic({ data: nulls }), copies, longer]) {
      expect(await failure(change('boxes', 'b', refused))).toMatchObject(tooMany);
    }
    expect(await read('boxes', 'b')).toEqual(made);
  });
});

describe('an object of the greatest depth', () => {
  // Sixteen digits are read by the parser that counts levels.
  const deepest = () => box(nested(MAX_DEPTH - 2, '9007199254740993'), { labels: { a: '9007199254740993' } });

  it('is read, listed, changed and deleted', async () => {
    const { change, read, names } = bench({ definitions: [boxes] });
    await change('boxes', {}, create({ ...deepest(), metadata: { name: 'b', finalizers: ['a/b'] } }));
    const { metadata } = await change('boxes', 'b', merge({ metadata: { labels: { c: '9007199254740993' } } }));
    expect(metadata.labels).toEqual({ c: '9007199254740993' });
    await change('boxes', 'b', strategic({ metadata: { labels: { d: 'e' } } }));
    await change('boxes', 'b', apply({ ...deepest(), metadata: { name: 'b', labels: { f: 'g' } } }));
    await change('boxes', 'b', update({ ...deepest(), metadata: { name: 'b', finalizers: ['a/b'] } }));
    expect((await read('boxes', 'b')).metadata.finalizers).toEqual(['a/b']);
    expect((await names('boxes')).names).toEqual(['b']);
    await change('boxes', 'b', remove());
    await change('boxes', 'b', json([{ op: 'remove', path: '/metadata/finalizers' }]));
    expect(await failure(read('boxes', 'b'))).toMatchObject({ code: 404 });
  });
});

describe('the size of an object', () => {
  it('leaves room for the fields that a deletion adds', async () => {
    const { change, read } = bench({ definitions: [boxes] });
    const sized = (length: number) => create(box('x'.repeat(length), { finalizers: ['a/b'] }));
    const refusal = (await failure(change('boxes', {}, sized(2.09e6)))) as StatusError;
    expect(refusal).toMatchObject({ code: 413, reason: 'RequestEntityTooLarge' });
    const told = /^Request entity too large: the object takes (\d+) bytes, limit is (\d+)$/.exec(refusal.message);
    const [, takes, limit] = (told ?? []).map(Number) as [number, number, number];
    const most = 2.09e6 - (takes - limit);
    expect(await failure(change('boxes', {}, sized(most + 1)))).toMatchObject({ code: 413 });
    await change('boxes', {}, sized(most));
    const deleted = await change('boxes', 'b', remove({ propagationPolicy: 'Foreground' }));
    expect(deleted.metadata.finalizers).toEqual(['a/b', 'foregroundDeletion']);
    await change('boxes', 'b', merge({ metadata: { finalizers: null } }));
    expect(await failure(read('boxes', 'b'))).toMatchObject({ code: 404 });
  });
});

describe('the message of an error', () => {
  const sizeOf = (error: unknown): number => {
    if (!(error instanceof StatusError)) throw error;
    return JSON.stringify(error.toStatus()).length;
  };

  it('is bounded for any number of field errors', async () => {
    const { change } = bench({ definitions: [boxes] });
    const bad = Object.fromEntries(Array.from({ length: 16_000 }, (_, i) => [`-${i}`, '-']));
    const finalizers = Object.keys(bad).slice(0, 2_000);
    for (const meta of [{ labels: bad }, { annotations: bad }, { finalizers }]) {
      const error = await failure(change('boxes', {}, create(box(1, meta))));
      expect(error).toMatchObject({ code: 422, reason: 'Invalid' });
      expect(sizeOf(error)).toBeLessThan(1_000_000);
    }
  });

  it('is bounded for the validation of a kind', async () => {
    const { change } = bench({ definitions: builtinResources });
    const none = (length: number) => Array.from({ length }, () => ({}));
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'a', image: 'a' }] } };
    const deployment = { selector: { matchExpressions: none(60_000) }, template };
    const pod = { containers: none(2_000), tolerations: none(60_000), volumes: none(60_000) };
    for (const [plural, spec] of [
      ['deployments', deployment],
      ['pods', pod],
    ] as const) {
      const error = await failure(change(plural, {}, create({ metadata: { name: 'a' }, spec })));
      expect(error).toMatchObject({ code: 422, reason: 'Invalid' });
      expect((error as StatusError).details?.causes?.at(-1)?.message).toMatch(/^and \d+ more$/);
      expect(sizeOf(error)).toBeLessThan(1_000_000);
    }
  });

  it('is bounded for invalid values of any length', async () => {
    const { change } = bench({ definitions: [boxes] });
    const long = '\u0001'.repeat(3e6);
    for (const meta of [{ name: long }, { generateName: long, name: '' }, { labels: { [long]: long } }]) {
      const error = await failure(change('boxes', {}, create(box(1, meta))));
      expect(error).toMatchObject({ code: 422, reason: 'Invalid' });
      expect(sizeOf(error)).toBeLessThan(1_000_000);
    }
  });

  it('is bounded for any number of unknown fields in a patch', async () => {
    const { change, write } = bench({ definitions: [boxes] });
    await change('boxes', {}, create(box(1)));
    const odd = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`${i}${'x'.repeat(30_000)}`, 1]));
    const options = { fieldValidation: 'Strict' } as const;
    const error = await failure(write('boxes', { name: 'b' }, merge(odd), options));
    expect(error).toMatchObject({ code: 422 });
    expect(sizeOf(error)).toBeLessThan(1_000_000);
  });
});
