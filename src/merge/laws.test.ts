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
import { apply, conflictsOf, contentOf, forceApply, play, type Step, update } from './testing/story.ts';
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

describe('what an applier owns', () => {
  it('is the same beside any known set, and that set itself where it says the same', () => {
    check((a, b) => {
      const [fields, others] = [fieldsOf(shape, a), fieldsOf(shape, b)];
      const known = JSON.parse(JSON.stringify(fields)) as FieldSet;
      // What was met once is known better the second time.
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
    ['entries that are gone', { containers: named(60) }, { containers: named(59) }, entriesOf(59)],
  ])('takes nothing wrong from what is known: %s', (_, before, after, fields) => {
    const known = fieldsOf(shape, { spec: before });
    for (let round = 0; round < 2; round++) expect(fieldsOf(shape, { spec: before }, known)).toBe(known);
    expect(fieldsOf(shape, { spec: after }, known)).toEqual(fields);
  });
});

describe('laws of merging', () => {
  it('a merge with itself changes nothing', () => {
    check((a) => expect(merge(shape, a, a)).toBe(a));
  });
  it('is idempotent', () => {
    check((a, b) => {
      const once = merge(shape, a, b);
      expect(merge(shape, once, b)).toBe(once);
    });
  });
  it('holds everything that the intent says', () => {
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

describe('laws of comparing', () => {
  it('an object equals itself', () => {
    check((a) => expect(compare(shape, a, structuredClone(a))).toMatchObject({ added: {}, removed: {}, modified: {} }));
  });
  it('goes both ways', () => {
    check((a, b) => {
      const there = compare(shape, a, b);
      const back = compare(shape, b, a);
      expect(equalSets(there.added, back.removed)).toBe(true);
      expect(equalSets(there.removed, back.added)).toBe(true);
      expect(equalSets(there.modified, back.modified)).toBe(true);
    });
  });
  it('what is added to nothing is everything', () => {
    check((a) => {
      const { added } = compare(shape, {}, a);
      expect(equalSets(added, wholeOf(shape, a) ?? {})).toBe(true);
      expect(equalSets(union(added, fieldsOf(shape, a)), added)).toBe(true);
    });
  });
});

describe('laws of selecting', () => {
  it('what is removed is gone', () => {
    check((a, b) => {
      const set = fieldsOf(shape, b);
      const left = remove(shape, a, set);
      expect(remove(shape, left, set)).toEqual(left);
      expect(remove(shape, a, {})).toBe(a);
    });
  });
  it('an object is what it owns', () => {
    check((a) => {
      const own = fieldsOf(shape, a);
      expect(equalSets(fieldsOf(shape, extract(shape, a, own)), own)).toBe(true);
    });
  });
  it('a set that the schema knows stays', () => {
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

describe('laws of applying', () => {
  it('extract, then apply, is the identity', () => {
    check((a, b) => {
      const before = play([update('x', a), forceApply('one', b)]).world.live as ApiObject;
      // Nobody's object is another matter: all there is goes to whoever wrote before the first apply.
      fc.pre(before.metadata.managedFields !== undefined);
      const owned = fieldsOfManager(before, 'one');
      const own = extract(shape, before, owned);
      // What is as good as absent is not stored, though owned.
      fc.pre(equalSets(fieldsOf(shape, own), owned));
      const after = play([update('x', a), forceApply('one', b), apply('one', own)]).world.live as ApiObject;
      expect(contentOf(after)).toEqual(contentOf(before));
      expect(after.metadata.managedFields).toEqual(before.metadata.managedFields);
    }, 80);
  });
  it('applying twice is applying once', () => {
    check((a, b) => {
      const once = play([update('x', a), forceApply('one', b)]);
      const twice = play([update('x', a), forceApply('one', b), apply('one', b)]);
      expect(twice.object).toEqual(once.object);
      expect(twice.owners).toEqual(once.owners);
    }, 80);
  });
  it('two managers of disjoint fields commute', () => {
    fc.assert(
      fc.property(strings, spec, (data, values) => {
        const one = apply('one', { data });
        const two = apply('two', { spec: values } as JsonObject);
        const there = play([one, two]);
        const back = play([two, one]);
        expect(there.object).toEqual(back.object);
        expect(there.owners).toEqual(back.owners);
      }),
      { numRuns: 80 },
    );
  });
  it('a forced apply never conflicts, and owns what it says', () => {
    check((a, b) => {
      const { world, error } = play([apply('one', a), forceApply('two', b)]);
      expect(error).toBe(undefined);
      const own = fieldsOf(shape, b);
      expect(isEmpty(own) || equalSets(fieldsOfManager(world.live, 'two'), own)).toBe(true);
    }, 80);
  });
});

// A slow model: an object is a map from paths to values, and each manager a set of paths. An entry of a list is a path
// of its own, above those of its fields.

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

/** Takes paths away from everyone but one manager. */
function take(model: Model, manager: string, paths: readonly string[]): void {
  for (const [other, owned] of model.owners) if (other !== manager) for (const path of paths) owned.delete(path);
}

/** The conflicts, in which case nothing changes. */
function modelApply(model: Model, manager: string, applyConfig: Flat, force: boolean): string[] {
  const changed = [...applyConfig.keys()].filter((path) => model.values.get(path) !== applyConfig.get(path));
  const conflicts = changed.flatMap((path) => ownedByOthers(model, manager, path).map((other) => `${other} ${path}`));
  if (!force && conflicts.length > 0) return conflicts;
  for (const [path, value] of applyConfig) model.values.set(path, value);
  const last = model.owners.get(manager) ?? new Set();
  const dropped = [...last].filter(
    (path) => !applyConfig.has(path) && ownedByOthers(model, manager, path).length === 0,
  );
  const gone = [...model.values.keys()].filter(
    (path) => dropped.includes(path) || dropped.includes(entryOf(path) ?? ''),
  );
  for (const path of gone) model.values.delete(path);
  take(model, manager, [...changed, ...gone]);
  model.owners.set(manager, new Set(applyConfig.keys()));
  return [];
}

function modelUpdate(model: Model, manager: string, after: Flat): void {
  const gone = [...model.values.keys()].filter((path) => !after.has(path));
  const changed = [...after.keys()].filter((path) => model.values.get(path) !== after.get(path));
  take(model, '', [...gone, ...changed]);
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

/** Only what the model knows of. */
const known = (paths: string): string[] =>
  paths.split(' ').filter((path) => /^\.data\.|^\.spec\.tags\[|^\.spec\.containers\[[^\]]*\](\.image)?$/.test(path));

describe('three-way results', () => {
  it('agree with the model after every write', () => {
    fc.assert(
      fc.property(fc.array(write, { minLength: 1, maxLength: 6 }), (writes) => {
        const model: Model = { values: new Map(), owners: new Map() };
        const steps: Step[] = [];
        for (const { kind, manager, body: content } of writes) {
          const values = flat(content);
          const by = kind === 'update' ? `${manager} (Update)` : manager;
          const conflicts = kind === 'update' ? [] : modelApply(model, by, values, kind === 'forceApply');
          if (kind === 'update') modelUpdate(model, by, values);
          const step =
            kind === 'update' ? update(manager, content) : (kind === 'apply' ? apply : forceApply)(manager, content);
          const ending = play([...steps, step]);
          const told = conflictsOf(ending.error).map((text) =>
            text.replace(/^"(\w+)"( using v1)?/, (_, name, using) => `${name}${using ? ' (Update)' : ''}`),
          );
          expect(new Set(told)).toEqual(new Set(conflicts));
          if (ending.error === undefined) steps.push(step);
          expect(flat(ending.object)).toEqual(model.values);
          const owned = Object.entries(ending.owners).map(([name, paths]) => [name, known(paths).sort()] as const);
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
