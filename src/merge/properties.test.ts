import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ApiObject, Json, JsonObject } from '../meta/index.ts';
import { compare } from './compare.ts';
import { equalSets, type FieldSet, isEmpty, union } from './field-set.ts';
import { fieldsOf, wholeOf } from './fields-of.ts';
import { merge } from './merge.ts';
import { reconcile } from './reconcile.ts';
import { extract, remove } from './select.ts';
import { objectShape } from './shape.ts';
import { apply, conflictsOf, contentOf, forceApply, run, type Step, update } from './testing/scenario.ts';
import { names, thing } from './testing/thing.ts';

const shape = objectShape(thing(), names);

const word = fc.constantFrom('a', 'b', 'c', 'constructor');
const some = <T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }) => fc.record(model, { requiredKeys: [] });
const strings = fc.dictionary(word, fc.constantFrom('1', '2'), { noNullPrototype: true });
const by = (key: string) => ({ selector: (entry: object) => (entry as JsonObject)[key] });
const port = some({ port: fc.constantFrom(80, 81), protocol: fc.constantFrom('TCP', 'UDP') });
const containers = fc.uniqueArray(
  fc.record(
    {
      name: word,
      image: word,
      args: fc.array(word, { maxLength: 2 }),
      env: fc.uniqueArray(fc.record({ name: word, value: word }), { maxLength: 2, ...by('name') }),
      ports: fc.uniqueArray(port, {
        maxLength: 3,
        selector: ({ port: number, protocol = 'TCP' }) => `${number}${protocol}`,
      }),
    },
    { requiredKeys: ['name'] },
  ),
  { maxLength: 3, ...by('name') },
);
const free: fc.Arbitrary<Json> = fc
  .jsonValue({ maxDepth: 3 })
  .map((value) => JSON.parse(JSON.stringify(value)) as Json);
const spec = some({
  replicas: fc.constantFrom(1, 2, 3),
  text: word,
  tags: fc.uniqueArray(word),
  containers,
  selector: strings,
  strategy: some({ type: word, max: fc.constantFrom(1, 2) }),
  pairs: fc.dictionary(word, some({ a: word, b: word }), { noNullPrototype: true }),
  free,
});
const object = some({ data: strings, spec }) as unknown as fc.Arbitrary<JsonObject>;

const check = (law: (a: JsonObject, b: JsonObject) => void, numRuns = 150) =>
  fc.assert(
    fc.property(object, object, (a, b) => {
      law(a, b);
    }),
    { numRuns },
  );

const named = (count: number): JsonObject[] => Array.from({ length: count }, (_, i) => ({ name: `c${i}` }));
const entriesOf = (count: number): FieldSet => ({
  'f:spec': {
    'f:containers': Object.fromEntries(
      named(count).map((key) => [`k:${JSON.stringify(key)}`, { '.': {}, 'f:name': {} }]),
    ),
  },
});

describe('field set of an applied configuration', () => {
  it('is independent of the known set, and the known set itself when equal', () => {
    check((a, b) => {
      const [fields, others] = [fieldsOf(shape, a), fieldsOf(shape, b)];
      const known = JSON.parse(JSON.stringify(fields)) as FieldSet;
      // The second call uses the path elements that the first has kept.
      for (let round = 0; round < 2; round++) {
        expect(fieldsOf(shape, a, others)).toEqual(fields);
        expect(fieldsOf(shape, b, known)).toEqual(others);
        if (!isEmpty(known)) expect(fieldsOf(shape, a, known)).toBe(known);
      }
    });
  });
  it.each<[string, JsonObject, JsonObject, FieldSet]>([
    ['a struct that was empty and holds an empty list', {}, { containers: [] }, {}],
    ['entries in another order', { containers: named(60) }, { containers: named(60).reverse() }, entriesOf(60)],
    ['removed entries', { containers: named(60) }, { containers: named(59) }, entriesOf(59)],
  ])('takes no wrong node from the known set: %s', (_, before, after, fields) => {
    const known = fieldsOf(shape, { spec: before });
    for (let round = 0; round < 2; round++) expect(fieldsOf(shape, { spec: before }, known)).toBe(known);
    expect(fieldsOf(shape, { spec: after }, known)).toEqual(fields);
  });
});

describe('merge', () => {
  it('merging an object into itself changes nothing', () => {
    check((a) => expect(merge(shape, a, a)).toBe(a));
  });
  it('is idempotent', () => {
    check((a, b) => {
      const once = merge(shape, a, b);
      expect(merge(shape, once, b)).toBe(once);
    });
  });
  it('the result holds the whole applied configuration', () => {
    check((a, b) => {
      const { removed, modified } = compare(shape, b, merge(shape, a, b));
      expect(removed).toEqual({});
      expect(modified).toEqual({});
    });
  });
  it('changes neither argument', () => {
    check((a, b) => {
      const before = JSON.stringify([a, b]);
      remove(shape, merge(shape, a, b), fieldsOf(shape, b));
      expect(JSON.stringify([a, b])).toBe(before);
    });
  });
});

describe('compare', () => {
  it('an object equals itself', () => {
    check((a) => expect(compare(shape, a, structuredClone(a))).toMatchObject({ added: {}, removed: {}, modified: {} }));
  });
  it('is symmetric', () => {
    check((a, b) => {
      const there = compare(shape, a, b);
      const back = compare(shape, b, a);
      expect(equalSets(there.added, back.removed)).toBe(true);
      expect(equalSets(there.removed, back.added)).toBe(true);
      expect(equalSets(there.modified, back.modified)).toBe(true);
    });
  });
  it('compared with nothing, everything is added', () => {
    check((a) => {
      const { added } = compare(shape, {}, a);
      expect(equalSets(added, wholeOf(shape, a) ?? {})).toBe(true);
      expect(equalSets(union(added, fieldsOf(shape, a)), added)).toBe(true);
    });
  });
});

describe('remove and extract', () => {
  it('removed fields are absent', () => {
    check((a, b) => {
      const set = fieldsOf(shape, b);
      const left = remove(shape, a, set);
      expect(remove(shape, left, set)).toEqual(left);
      expect(remove(shape, a, {})).toBe(a);
    });
  });
  it('extracting the field set of an object gives the object', () => {
    check((a) => {
      const own = fieldsOf(shape, a);
      expect(equalSets(fieldsOf(shape, extract(shape, a, own)), own)).toBe(true);
    });
  });
  it('reconcile keeps a set that fits the schema', () => {
    check((a) => {
      const set = fieldsOf(shape, a);
      expect(reconcile(shape, set)).toBe(set);
    });
  });
});

const fieldsOfManager = (live: ApiObject | undefined, manager: string): FieldSet => {
  const entries = (live?.metadata.managedFields ?? []) as JsonObject[];
  return (entries.find((entry) => entry['manager'] === manager)?.['fieldsV1'] ?? {}) as FieldSet;
};

describe('apply', () => {
  it('extract, then apply, is the identity', () => {
    check((a, b) => {
      const before = run([update('x', a), forceApply('one', b)]).fixture.live as ApiObject;
      // An object without managed fields would get the entry before-first-apply.
      fc.pre(before.metadata.managedFields !== undefined);
      const owned = fieldsOfManager(before, 'one');
      const own = extract(shape, before, owned);
      // Zero values are owned but not stored.
      fc.pre(equalSets(fieldsOf(shape, own), owned));
      const after = run([update('x', a), forceApply('one', b), apply('one', own)]).fixture.live as ApiObject;
      expect(contentOf(after)).toEqual(contentOf(before));
      expect(after.metadata.managedFields).toEqual(before.metadata.managedFields);
    }, 80);
  });
  it('is idempotent', () => {
    check((a, b) => {
      const once = run([update('x', a), forceApply('one', b)]);
      const twice = run([update('x', a), forceApply('one', b), apply('one', b)]);
      expect(twice.object).toEqual(once.object);
      expect(twice.managers).toEqual(once.managers);
    }, 80);
  });
  it('applies of disjoint fields commute', () => {
    fc.assert(
      fc.property(strings, spec, (data, values) => {
        const one = apply('one', { data });
        const two = apply('two', { spec: values } as JsonObject);
        const there = run([one, two]);
        const back = run([two, one]);
        expect(there.object).toEqual(back.object);
        expect(there.managers).toEqual(back.managers);
      }),
      { numRuns: 80 },
    );
  });
  it('a forced apply never conflicts and owns its configuration', () => {
    check((a, b) => {
      const { fixture, error } = run([apply('one', a), forceApply('two', b)]);
      expect(error).toBe(undefined);
      const own = fieldsOf(shape, b);
      expect(isEmpty(own) || equalSets(fieldsOfManager(fixture.live, 'two'), own)).toBe(true);
    }, 80);
  });
});

// A slow model: an object is a map from paths to values, and each manager a set of paths. A list entry is a path of its
// own, the parent of the paths of its fields.

type Flat = Map<string, string>;
interface Model {
  values: Flat;
  owners: Map<string, Set<string>>;
}

const entryOf = (path: string): string | undefined => /^(\.spec\.containers\[.*?\])\.image$/.exec(path)?.[1];

function flat(body: JsonObject): Flat {
  const values: Flat = new Map();
  const { data = {}, spec: inner = {} } = body as { data?: Record<string, string>; spec?: object };
  for (const [key, value] of Object.entries(data)) values.set(`.data.${key}`, value);
  const { tags = [], containers: entries = [] } = inner as { tags?: string[]; containers?: Record<string, string>[] };
  for (const tag of tags) values.set(`.spec.tags[="${tag}"]`, tag);
  for (const { name = '', image } of entries) {
    values.set(`.spec.containers[name="${name}"]`, 'there');
    if (image !== undefined) values.set(`.spec.containers[name="${name}"].image`, image);
  }
  return values;
}

function ownedByOthers(model: Model, manager: string, path: string): string[] {
  return [...model.owners].filter(([other, paths]) => other !== manager && paths.has(path)).map(([other]) => other);
}

/** Removes paths from all managers but one. */
function take(model: Model, manager: string, paths: readonly string[]): void {
  for (const [other, owned] of model.owners) if (other !== manager) for (const path of paths) owned.delete(path);
}

/** Applies; returns the conflicts, in which case nothing changes. */
function modelApply(model: Model, manager: string, applyConfig: Flat, force: boolean): string[] {
  const changed = [...applyConfig.keys()].filter((path) => model.values.get(path) !== applyConfig.get(path));
  const conflicts = changed.flatMap((path) => ownedByOthers(model, manager, path).map((other) => `${other} ${path}`));
  if (!force && conflicts.length > 0) return conflicts;
  for (const [path, value] of applyConfig) model.values.set(path, value);
  const last = model.owners.get(manager) ?? new Set();
  const dropped = [...last].filter(
    (path) => !applyConfig.has(path) && ownedByOthers(model, manager, path).length === 0,
  );
  const removed = [...model.values.keys()].filter(
    (path) => dropped.includes(path) || dropped.includes(entryOf(path) ?? ''),
  );
  for (const path of removed) model.values.delete(path);
  take(model, manager, [...changed, ...removed]);
  model.owners.set(manager, new Set(applyConfig.keys()));
  return [];
}

function modelUpdate(model: Model, manager: string, after: Flat): void {
  const removed = [...model.values.keys()].filter((path) => !after.has(path));
  const changed = [...after.keys()].filter((path) => model.values.get(path) !== after.get(path));
  take(model, '', [...removed, ...changed]);
  const owned = model.owners.get(manager) ?? new Set();
  for (const path of changed) owned.add(path);
  model.owners.set(manager, owned);
  model.values = new Map(after);
}

const body = some({
  data: fc.dictionary(word, fc.constantFrom('1', '2'), { noNullPrototype: true, minKeys: 1 }),
  spec: fc.record({
    tags: fc.uniqueArray(word),
    containers: fc.uniqueArray(
      fc.record({ name: word, image: fc.constantFrom('1', '2') }, { requiredKeys: ['name'] }),
      {
        maxLength: 3,
        ...by('name'),
      },
    ),
  }),
}) as unknown as fc.Arbitrary<JsonObject>;
const write = fc.record({
  kind: fc.constantFrom('apply', 'apply', 'forceApply', 'update'),
  manager: fc.constantFrom('one', 'two', 'three'),
  body,
});

/** A body with a field that always has an owner: an object without owners would not get one by an update. */
const kept = (body: JsonObject): JsonObject => ({ ...body, metadata: { labels: { kept: '1' } } });

/** The part of the object that the model covers. */
const known = (paths: string): string[] =>
  paths.split(' ').filter((path) => /^\.data\.|^\.spec\.tags\[|^\.spec\.containers\[[^\]]*\](\.image)?$/.test(path));

describe('comparison with a model', () => {
  it('results equal those of a slow model after every write', () => {
    fc.assert(
      fc.property(fc.array(write, { minLength: 1, maxLength: 6 }), (writes) => {
        const model: Model = { values: new Map(), owners: new Map() };
        const steps: Step[] = [apply('keeper', kept({}))];
        for (const { kind, manager, body: content } of writes) {
          const values = flat(content);
          const by = kind === 'update' ? `${manager} (Update)` : manager;
          const conflicts = kind === 'update' ? [] : modelApply(model, by, values, kind === 'forceApply');
          if (kind === 'update') modelUpdate(model, by, values);
          const step =
            kind === 'update'
              ? update(manager, kept(content))
              : (kind === 'apply' ? apply : forceApply)(manager, content);
          const outcome = run([...steps, step]);
          const reported = conflictsOf(outcome.error).map((text) =>
            text.replace(/^"(\w+)"( using v1)?/, (_, name, using) => `${name}${using ? ' (Update)' : ''}`),
          );
          expect(new Set(reported)).toEqual(new Set(conflicts));
          if (outcome.error === undefined) steps.push(step);
          expect(flat(outcome.object)).toEqual(model.values);
          const owned = Object.entries(outcome.managers).map(([name, paths]) => [name, known(paths).sort()] as const);
          const expected = [...model.owners].map(([name, paths]) => [name, [...paths].sort()] as const);
          const held = (list: readonly (readonly [string, string[]])[]) =>
            new Map(list.filter(([, paths]) => paths.length > 0));
          expect(held(owned)).toEqual(held(expected));
        }
      }),
      { numRuns: 150 },
    );
  });
});
