import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { type ApiObject, atOnce, encodeText, type Json, type JsonObject } from '../../meta/index.ts';
import { note } from '../testing/fixtures.ts';
import { describeDeleted, describeInSteps, describeObject, describeText, toCachedObject } from './describe.ts';
import { formatOf } from './format.ts';
import { isCorrupt, metadataText, readObject, readObjectInSteps } from './read.ts';
import { storedText, withPendingCommit } from './write.ts';

const format = formatOf('ConfigMap', 'v1', { namespaced: true, keyPrefix: '/configmaps/', fields: [] });
const entryOf = (text: string, revision = 7) => ({ key: '/configmaps/ns/one', value: Buffer.from(text), revision });

const text = fc.oneof(fc.string(), fc.constantFrom('"uid":"x",', '"labels":{"a":"b"}', '{', '}}', '\\"', 'ü€😀'));
const label = fc.stringMatching(/^[a-z]([a-z0-9./-]{0,8}[a-z0-9])?$/);
const metadata = fc.record(
  {
    name: fc.constant('one'),
    generateName: text,
    namespace: fc.constant('ns'),
    uid: fc.uuid(),
    generation: fc.nat(),
    creationTimestamp: fc.constant('2024-01-01T00:00:00Z'),
    labels: fc.dictionary(label, label, { minKeys: 1 }),
    annotations: fc.dictionary(text, text, { minKeys: 1 }),
    finalizers: fc.array(text, { minLength: 1 }),
  },
  { requiredKeys: ['name', 'namespace', 'uid', 'creationTimestamp'] },
);
const object = fc
  .record({ metadata, data: fc.dictionary(text, text) })
  .map((value) => JSON.parse(JSON.stringify({ kind: 'ConfigMap', apiVersion: 'v1', ...value })) as ApiObject);

describe('the selectable fields of a large object', () => {
  const textOf = (value: unknown) => (typeof value === 'string' ? value : '');
  const fields = [
    { path: 'type', value: (it: ApiObject) => textOf(it['type']) },
    { path: 'spec.a', value: (it: ApiObject) => textOf((it['spec'] as JsonObject | undefined)?.['a']) },
  ];
  const selecting = formatOf('ConfigMap', 'v1', { namespaced: true, keyPrefix: '/configmaps/', fields });
  const metadata = { name: 'one', namespace: 'ns', uid: 'u', creationTimestamp: '2024-01-01T00:00:00Z' };
  const data = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`k"${i}`, 'a } ] "type":"no", \\']));
  const large = { kind: 'ConfigMap', apiVersion: 'v1', metadata, data, spec: { a: 'ü' }, list: [[], {}], type: 'é\n' };

  it('are read without the rest of it', () => {
    const entry = entryOf(storedText(selecting, large as unknown as ApiObject));
    const parse = vi.spyOn(JSON, 'parse');
    const { fields } = toCachedObject(selecting, entry);
    const longest = Math.max(...parse.mock.calls.map(([given]) => given.length));
    parse.mockRestore();
    expect(fields).toEqual({ type: 'é\n', 'spec.a': 'ü' });
    expect(longest).toBeLessThan(1_000);
  });

  it('that is not written as this server writes it are read all the same', () => {
    const text = storedText(selecting, large as unknown as ApiObject).replace('"type"', ' "type"');
    expect(toCachedObject(selecting, entryOf(text)).fields).toEqual({ type: 'é\n', 'spec.a': 'ü' });
    expect(isCorrupt(toCachedObject(selecting, entryOf(text.replace('[[],', '[[,'))))).toBe(true);
  });
});

/** As many fields as the managed-fields cache asks for. */
const manyFields = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`f:${i}`, {}]));

describe('the stored form and the cached form of an object', () => {
  it('hold the same object; the cached form has its resourceVersion, labels and metadata text', () => {
    fc.assert(
      fc.property(object, (value) => {
        const cached = toCachedObject(format, entryOf(storedText(format, value)));
        expect(isCorrupt(cached)).toBe(false);
        const read = readObject(format, cached);
        expect(read).toEqual({ ...value, metadata: { ...value.metadata, resourceVersion: '7' } });
        expect(Object.keys(read.metadata).indexOf('resourceVersion')).toBe(
          Object.keys(read.metadata).indexOf('uid') + 1,
        );
        expect(cached).toMatchObject({ key: '/configmaps/ns/one', namespace: 'ns', name: 'one', revision: 7 });
        expect(cached.labels).toEqual(value.metadata.labels ?? {});
        expect(describeText(format, cached.key, storedText(format, value), 7)).toEqual(cached);
        for (const state of [cached, cached, describeDeleted(format, cached, 1_000_000)]) {
          const metadata = JSON.parse(Buffer.from(metadataText(format, state), 'latin1').toString()) as JsonObject;
          expect(metadata).toEqual({ ...read.metadata, resourceVersion: String(state.revision) });
        }
      }),
    );
  });

  it('are read the same whatever the managed-fields cache holds for the key', () => {
    const entry = fc.record({
      manager: text,
      operation: fc.constant('Apply'),
      fieldsType: fc.constant('FieldsV1'),
      fieldsV1: fc.dictionary(text, fc.constant({})).map((set) => ({ ...set, ...manyFields })),
    });
    const entries = fc
      .option(fc.array(entry, { minLength: 1, maxLength: 3 }), { nil: undefined })
      .map((given) => given && (JSON.parse(JSON.stringify(given)) as Json[]));
    fc.assert(
      fc.property(object, entries, entries, entries, (value, own, inside, cachedEntries) => {
        // A field of the object may have the name and the text of its managedFields.
        const whole = JSON.parse(JSON.stringify({ ...value, spec: { managedFields: inside } })) as ApiObject;
        if (own !== undefined) whole.metadata.managedFields = own;
        const cached = toCachedObject(format, entryOf(storedText(format, whole)));
        const expected = { ...whole, metadata: { ...whole.metadata, resourceVersion: '7' } };
        for (const known of [cachedEntries, inside, own]) {
          format.shared.managedFields.remember(cached.key, known);
          expect(readObject(format, cached)).toEqual(expected);
        }
      }),
    );
  });

  it('share the field sets that were written last within a registry, not with another', () => {
    const fieldsV1 = { 'f:data': manyFields };
    const managedFields = [{ manager: 'ü', operation: 'Apply', fieldsType: 'FieldsV1', fieldsV1 }];
    const value = note('one', {}) as ApiObject;
    value.metadata = { ...value.metadata, uid: 'u', creationTimestamp: '2024-01-01T00:00:00Z', managedFields };
    const cached = toCachedObject(format, entryOf(storedText(format, value)));
    format.shared.managedFields.remember(cached.key, managedFields);
    const [read] = readObject(format, cached).metadata.managedFields as JsonObject[];
    expect(read?.['fieldsV1']).toBe(fieldsV1);
    const other = formatOf('ConfigMap', 'v1', { namespaced: true, keyPrefix: '/configmaps/', fields: [] });
    const [parsed] = readObject(other, cached).metadata.managedFields as JsonObject[];
    expect(parsed?.['fieldsV1']).not.toBe(fieldsV1);
    format.shared.managedFields.remember(cached.key, undefined);
    expect(readObject(format, cached).metadata.managedFields).toEqual(managedFields);
  });

  it('have the right selectable fields, computed once for an object whose commit is under way', async () => {
    let read = 0;
    const value = (of: ApiObject) => {
      read += 1;
      return (of['data'] as { readonly [key: string]: string })['a'] ?? '';
    };
    const selecting = formatOf('ConfigMap', 'v1', {
      namespaced: true,
      keyPrefix: '/configmaps/',
      fields: [{ path: 'data.a', value }],
    });
    const of = (a: string): ApiObject => ({
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { name: 'one', namespace: 'ns', uid: 'u', creationTimestamp: '2024-01-01T00:00:00Z' },
      data: { a },
    });
    const [mine, other] = [of('ü mine'), of('ü ours')];
    const { key } = entryOf('');
    const fieldsOf = (object: ApiObject) => toCachedObject(selecting, entryOf(storedText(selecting, object))).fields;
    const seen = await withPendingCommit(selecting, key, mine, storedText(selecting, mine), async () => {
      const own = fieldsOf(mine);
      const reads = read;
      return { own, reads, others: fieldsOf(other) };
    });
    expect(seen).toEqual({ own: { 'data.a': 'ü mine' }, reads: 1, others: { 'data.a': 'ü ours' } });
    expect([fieldsOf(mine), read, selecting.pendingCommits.size]).toEqual([{ 'data.a': 'ü mine' }, 3, 0]);
    await expect(withPendingCommit(selecting, key, mine, '', () => Promise.reject(new Error('lost')))).rejects.toThrow(
      'lost',
    );
    expect(selecting.pendingCommits.size).toBe(0);
  });

  it('change only in the resourceVersion when the object is deleted', () => {
    fc.assert(
      fc.property(object, fc.integer({ min: 8, max: 10 ** 9 }), (value, revision) => {
        const cached = toCachedObject(format, entryOf(storedText(format, value)));
        const deleted = describeDeleted(format, cached, revision);
        expect(readObject(format, deleted)).toEqual({
          ...value,
          metadata: { ...value.metadata, resourceVersion: String(revision) },
        });
        expect(deleted).toMatchObject({ ...cached, revision, bytes: expect.any(String) as string });
      }),
    );
  });

  it('keep integers beyond 2^53 exact', () => {
    const value = {
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { name: 'one', uid: 'u', creationTimestamp: 't' },
      n: 2n ** 60n,
    };
    const stored = storedText(format, value as unknown as ApiObject);
    expect(stored).toContain('"n":1152921504606846976}');
    expect(readObject(format, toCachedObject(format, entryOf(stored)))['n']).toBe(2n ** 60n);
  });

  it('accept a stored value with another order of fields', () => {
    const foreign =
      '{"apiVersion":"v1","metadata":{"labels":{"a":"b"},"uid":"u","name":"one"},"kind":"ConfigMap","x":1}';
    const cached = toCachedObject(format, entryOf(foreign));
    expect(cached.labels).toEqual({ a: 'b' });
    expect(readObject(format, cached)).toMatchObject({
      kind: 'ConfigMap',
      metadata: { name: 'one', resourceVersion: '7' },
      x: 1,
    });
  });

  it.each([
    '',
    'garbage',
    '{}',
    'null',
    '[]',
    '{"kind":"ConfigMap","apiVersion":"v1","metadata":{',
    '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"uid":"u","labels":{"a"}}}',
  ])('have only the name of a value that cannot be read: %s', (broken) => {
    const cached = toCachedObject(format, entryOf(broken));
    expect(isCorrupt(cached)).toBe(true);
    expect(readObject(format, cached)).toEqual({
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { name: 'one', namespace: 'ns', resourceVersion: '7' },
    });
    expect(readObject(format, describeDeleted(format, cached, 12)).metadata.resourceVersion).toBe('12');
  });

  it('are UTF-8 with one character for each byte', () => {
    const cached = describeText(format, 'k', storedText(format, note('ü', { ä: '€' }) as ApiObject), 0);
    expect(cached.bytes).toBe(encodeText(storedText(format, note('ü', { ä: '€' }) as ApiObject)));
  });
});

describe('a large object', () => {
  const fieldsV1 = { 'f:data': Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`f:k${i}`, {}])) };
  const managedFields = [{ manager: 'm', operation: 'Apply', fieldsType: 'FieldsV1', fieldsV1 }];
  const large = note('one', { a: '"}{é€'.repeat(80_000), b: 'x' }) as ApiObject;
  large.metadata = { ...large.metadata, uid: 'u', creationTimestamp: '2024-01-01T00:00:00Z', managedFields };

  it('is described from its pending commit, and otherwise read in steps', () => {
    const fields = [{ path: 'data.b', value: (of: ApiObject) => (of['data'] as { readonly b: string }).b }];
    const selecting = formatOf('ConfigMap', 'v1', { namespaced: true, keyPrefix: '/configmaps/', fields });
    const data = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, 'v']));
    const object = { ...large, data: { ...data, b: 'x' } } as ApiObject;
    const text = storedText(selecting, object);
    const expected = toCachedObject(selecting, entryOf(text));
    expect(expected.fields).toEqual({ 'data.b': 'x' });
    const parse = vi.spyOn(JSON, 'parse');
    const describing = [
      describeObject(selecting, expected.key, object, 7),
      describeObject(selecting, expected.key, object, 7, text),
      describeInSteps(selecting, entryOf(text)),
    ];
    for (const [i, steps] of describing.entries()) {
      expect(steps.next().done).toBe(false);
      expect(atOnce(steps)).toEqual(expected);
      if (i < 2) expect(parse.mock.calls.filter(([given]) => given.length > 1_000)).toEqual([]);
    }
    parse.mockRestore();
  });

  it.each([
    ['with data', large],
    [
      'without',
      {
        kind: large.kind,
        apiVersion: large.apiVersion,
        metadata: { ...large.metadata, annotations: { a: 'x'.repeat(300_000) } },
      },
    ],
  ])('is read in steps as it is at once: %s', (_, object) => {
    const cached = toCachedObject(format, entryOf(storedText(format, object as ApiObject)));
    for (const known of [undefined, managedFields]) {
      format.shared.managedFields.remember(cached.key, known);
      const reading = readObjectInSteps(format, cached);
      expect(reading.next().done).toBe(false);
      expect(atOnce(reading)).toEqual(readObject(format, cached));
    }
    format.shared.managedFields.remember(cached.key, undefined);
  });
});
