import { describe, expect, it } from 'vitest';
import { type Json, type JsonObject, jsonCopy } from '../meta/index.ts';
import type { StructSchema } from '../schema/index.ts';
import { apiextensionsV1, appsV1, authorizationV1, coreV1, policyV1 } from '../types/index.ts';
import { apply, item, named, names } from './testing/strategic.ts';

const own = (text: string): JsonObject => JSON.parse(text) as JsonObject;

interface Case {
  readonly name: string;
  readonly before: JsonObject;
  readonly patch: Json;
  readonly after: JsonObject;
  readonly schema?: StructSchema;
}

function table(cases: readonly Case[]) {
  it.each(cases)('$name', ({ before, patch, after, schema }) => {
    const kept = [jsonCopy(before), jsonCopy(patch)];
    expect(apply(before, patch, schema)).toEqual(after);
    expect([before, patch]).toEqual(kept);
  });
}

describe('members of objects', () => {
  table([
    { name: 'an empty patch changes nothing', before: { text: 'a' }, patch: {}, after: { text: 'a' } },
    { name: 'null as the patch changes nothing', before: { text: 'a' }, patch: null, after: { text: 'a' } },
    { name: 'a scalar is set', before: { text: 'a' }, patch: { text: 'b' }, after: { text: 'b' } },
    { name: 'a scalar is added', before: {}, patch: { text: 'b' }, after: { text: 'b' } },
    { name: 'null removes', before: { text: 'a', tags: [] }, patch: { text: null }, after: { tags: [] } },
    { name: 'null for an absent field has no effect', before: {}, patch: { text: null }, after: {} },
    {
      name: 'a struct is merged',
      before: { inner: { name: 'a', value: '1' } },
      patch: { inner: { value: '2' } },
      after: { inner: { name: 'a', value: '2' } },
    },
    {
      name: 'null removes a whole struct',
      before: { inner: { name: 'a' }, text: 'x' },
      patch: { inner: null },
      after: { text: 'x' },
    },
    {
      name: 'a map is merged by key',
      before: { labels: { a: '1', b: '2' } },
      patch: { labels: { a: null, c: '3' } },
      after: { labels: { b: '2', c: '3' } },
    },
    {
      name: 'a map of maps is merged at both depths',
      before: { maps: { x: { a: '1' }, y: { b: '1' } } },
      patch: { maps: { x: { c: '2' }, y: null, z: { d: '3' } } },
      after: { maps: { x: { a: '1', c: '2' }, z: { d: '3' } } },
    },
    {
      name: 'lists in a map are replaced: they have no strategy',
      before: { lists: { x: ['a'], y: ['b'] } },
      patch: { lists: { x: ['c'] } },
      after: { lists: { x: ['c'], y: ['b'] } },
    },
    {
      name: 'structs in a map are merged, and lists inside by their own strategy',
      before: { byName: { x: { tags: ['a'], value: '1' } } },
      patch: { byName: { x: { tags: ['b'] } } },
      after: { byName: { x: { tags: ['b', 'a'], value: '1' } } },
    },
    {
      name: 'a value of another type replaces the live one',
      before: { inner: { name: 'a' } },
      patch: { inner: 'x' },
      after: { inner: 'x' },
    },
    { name: 'a list replaces null', before: { tags: null }, patch: { tags: ['a'] }, after: { tags: ['a'] } },
    {
      name: 'null members of new values are dropped at every depth',
      before: {},
      patch: { inner: { name: 'a', value: null, set: { k: null, l: '1' } }, items: [{ name: 'x', value: null }] },
      after: { inner: { name: 'a', set: { l: '1' } }, items: [{ name: 'x' }] },
    },
    { name: 'an unknown field is kept, and the decoder reports it', before: {}, patch: { y: 1 }, after: { y: 1 } },
    {
      name: 'any key is data',
      before: { labels: own('{"__proto__":"1","constructor":"2"}') },
      patch: { labels: own('{"__proto__":"3","constructor":null,"toString":"4"}') },
      after: { labels: own('{"__proto__":"3","toString":"4"}') },
    },
    {
      name: 'patch strategy replace: the patch replaces the value',
      before: { whole: { name: 'a', value: '1' } },
      patch: { whole: { value: '2', other: null } },
      after: { whole: { value: '2', other: null } },
    },
    {
      name: 'a value without a schema is merged by key, its lists are replaced',
      before: { any: { a: { x: 1, l: [1, 2] }, b: true } },
      patch: { any: { a: { y: 2, l: [3] }, b: null } },
      after: { any: { a: { x: 1, y: 2, l: [3] } } },
    },
  ]);
});

describe('lists with a merge key', () => {
  const two = { items: [item('a', { value: '1' }), item('b', { value: '2' })] };
  table([
    {
      name: 'an entry is merged into the one with its key',
      before: two,
      patch: { items: [{ name: 'b', other: 'x' }] },
      after: { items: [item('a', { value: '1' }), item('b', { value: '2', other: 'x' })] },
    },
    {
      name: 'a new entry precedes those that the patch does not name',
      before: two,
      patch: { items: [{ name: 'c' }] },
      after: { items: [item('c'), ...two.items] },
    },
    {
      name: 'a new entry after a live one stays after it',
      before: two,
      patch: { items: [{ name: 'b' }, { name: 'c' }] },
      after: { items: [...two.items, item('c')] },
    },
    {
      name: 'entries of the patch take its order, the others keep theirs',
      before: { items: [item('a'), item('b'), item('c'), item('d')] },
      patch: { items: [{ name: 'd' }, { name: 'b' }] },
      after: {
        items: named('acdb'),
      },
    },
    { name: 'an empty list changes nothing', before: two, patch: { items: [] }, after: two },
    { name: 'null removes the list', before: two, patch: { items: null }, after: {} },
    { name: 'a new list is added', before: {}, patch: { items: [{ name: 'x' }] }, after: { items: [item('x')] } },
    {
      name: 'null removes a field of an entry',
      before: two,
      patch: { items: [{ name: 'a', value: null }] },
      after: { items: [item('a'), item('b', { value: '2' })] },
    },
    {
      name: 'nested lists are merged by their own merge keys',
      before: { items: [item('a', { ports: [{ number: '1', name: 'x' }] })] },
      patch: { items: [{ name: 'a', ports: [{ number: '1', name: 'y' }, { number: '2' }] }] },
      after: { items: [item('a', { ports: [{ number: '1', name: 'y' }, { number: '2' }] })] },
    },
    {
      name: 'two changes of one merge key are both applied',
      before: two,
      patch: {
        items: [
          { name: 'a', value: '8' },
          { name: 'a', other: '9' },
        ],
      },
      after: { items: [item('a', { value: '8', other: '9' }), item('b', { value: '2' })] },
    },
    {
      name: 'two new entries with one merge key become one',
      before: { items: [item('a')] },
      patch: {
        items: [
          { name: 'n', value: '8' },
          { name: 'n', other: '9' },
        ],
      },
      after: { items: [item('n', { value: '8', other: '9' }), item('a')] },
    },
    {
      name: 'of live duplicates the first is changed, and all are kept',
      before: { items: [item('a', { value: '1' }), item('b'), item('a', { value: '2' })] },
      patch: { items: [{ name: 'a', value: '3' }] },
      after: { items: [item('a', { value: '3' }), item('a', { value: '2' }), item('b')] },
    },
    {
      name: 'merge keys of different types differ',
      before: { items: [{ name: 1 }] },
      patch: { items: [{ name: '1' }] },
      after: { items: [{ name: '1' }, { name: 1 }] },
    },
    {
      name: 'null is a merge key, too',
      before: { items: [item('a')] },
      patch: { items: [{ name: null }] },
      after: { items: [{ name: null }, item('a')] },
    },
    {
      name: 'a merge key may be the name of an inherited member',
      before: { items: [item('__proto__', { value: '1' }), item('constructor')] },
      patch: {
        items: [
          { name: 'constructor', value: '2' },
          { name: '__proto__', other: 'x' },
        ],
      },
      after: { items: [item('constructor', { value: '2' }), item('__proto__', { value: '1', other: 'x' })] },
    },
    {
      name: 'a list without patch strategy is replaced',
      before: { rows: [item('a', { value: '1' })] },
      patch: { rows: [{ name: 'a', other: '2' }, { value: 'no name' }] },
      after: { rows: [item('a', { other: '2' }), { value: 'no name' }] },
    },
    {
      name: 'a list without patch strategy may become empty',
      before: { args: ['a'] },
      patch: { args: [] },
      after: { args: [] },
    },
    {
      name: 'merge,retainKeys merges entries as merge does',
      before: { both: [item('a', { value: '1' })] },
      patch: { both: [{ name: 'a', other: '2' }] },
      after: { both: [item('a', { value: '1', other: '2' })] },
    },
  ]);
});

describe('sets of scalars', () => {
  table([
    { name: 'a new scalar is added', before: { tags: ['a'] }, patch: { tags: ['b'] }, after: { tags: ['b', 'a'] } },
    {
      name: 'a live scalar is not repeated',
      before: { tags: ['a', 'b'] },
      patch: { tags: ['b'] },
      after: { tags: ['a', 'b'] },
    },
    {
      name: 'duplicates in the patch count once',
      before: { tags: ['a'] },
      patch: { tags: ['b', 'b'] },
      after: { tags: ['b', 'a'] },
    },
    {
      name: 'live duplicates count once',
      before: { tags: ['a', 'c', 'a'] },
      patch: { tags: ['b'] },
      after: { tags: ['b', 'a', 'c'] },
    },
    { name: 'an empty set changes nothing', before: { tags: ['a'] }, patch: { tags: [] }, after: { tags: ['a'] } },
    {
      name: 'a field whose name depends on the API domain',
      before: { 'orch.io/x': ['a'] },
      patch: { 'orch.io/x': ['a', 'b'] },
      after: { 'orch.io/x': ['a', 'b'] },
    },
    {
      name: '$deleteFromPrimitiveList removes scalars',
      before: { tags: ['a', 'b', 'c'] },
      patch: { '$deleteFromPrimitiveList/tags': ['b', 'x'] },
      after: { tags: ['a', 'c'] },
    },
    {
      name: '$deleteFromPrimitiveList of all leaves an empty list',
      before: { tags: ['a'] },
      patch: { '$deleteFromPrimitiveList/tags': ['a'] },
      after: { tags: [] },
    },
    {
      name: '$deleteFromPrimitiveList of absent scalars',
      before: { tags: ['a'] },
      patch: { '$deleteFromPrimitiveList/tags': [] },
      after: { tags: ['a'] },
    },
    {
      name: '$deleteFromPrimitiveList of an absent list',
      before: {},
      patch: { '$deleteFromPrimitiveList/tags': ['a'] },
      after: {},
    },
    {
      name: '$deleteFromPrimitiveList applies to lists without patch strategy',
      before: { args: ['a', 'b'] },
      patch: { '$deleteFromPrimitiveList/args': ['a'] },
      after: { args: ['b'] },
    },
    {
      name: 'adding, removing and ordering at once, as kubectl sends it',
      before: { tags: ['a', 'b', 'live'] },
      patch: { '$setElementOrder/tags': ['c', 'b'], '$deleteFromPrimitiveList/tags': ['a'], tags: ['c'] },
      after: { tags: ['c', 'b', 'live'] },
    },
    {
      name: 'a scalar that is added and removed at once is removed',
      before: { tags: ['a'] },
      patch: { tags: ['b'], '$deleteFromPrimitiveList/tags': ['b'] },
      after: { tags: ['a'] },
    },
    {
      name: '$setElementOrder alone orders the list',
      before: { tags: ['a', 'b', 'c'] },
      patch: { '$setElementOrder/tags': ['c', 'a'] },
      after: { tags: ['b', 'c', 'a'] },
    },
    {
      name: '$setElementOrder orders a list without patch strategy',
      before: { args: ['a', 'b'] },
      patch: { '$setElementOrder/args': ['b', 'a'] },
      after: { args: ['b', 'a'] },
    },
  ]);
});

describe('$patch', () => {
  const before = { inner: item('a', { value: '1', set: { k: 'v' } }), items: [item('a'), item('b'), item('c')] };
  table([
    {
      name: 'replace: the other members are the whole object',
      before,
      patch: { inner: { $patch: 'replace', other: 'x' } },
      after: { ...before, inner: { other: 'x' } },
    },
    { name: 'replace at the root', before, patch: { $patch: 'replace', text: 'x' }, after: { text: 'x' } },
    {
      name: 'replace takes nested nulls and directives as they are',
      before,
      patch: {
        inner: {
          $patch: 'replace',
          value: null,
          set: { $retainKeys: ['k'], k: '2' },
          tags: ['a'],
          '$setElementOrder/tags': ['a'],
        },
      },
      after: {
        ...before,
        inner: {
          value: null,
          set: { $retainKeys: ['k'], k: '2' },
          tags: ['a'],
          '$setElementOrder/tags': ['a'],
        },
      },
    },
    {
      name: 'delete: the object is left empty',
      before,
      patch: { inner: { $patch: 'delete', value: 'ignored' } },
      after: { ...before, inner: {} },
    },
    { name: 'delete at the root', before, patch: { $patch: 'delete' }, after: {} },
    {
      name: 'replace in a map',
      before: { labels: { a: '1', b: '2' } },
      patch: { labels: { $patch: 'replace', c: '3' } },
      after: { labels: { c: '3' } },
    },
    {
      name: 'delete in a map of maps',
      before: { maps: { x: { a: '1' } } },
      patch: { maps: { x: { $patch: 'delete' } } },
      after: { maps: { x: {} } },
    },
    {
      name: 'a directive under the patch strategy replace has no effect',
      before: { whole: item('a') },
      patch: { whole: { $patch: 'delete', value: '1' } },
      after: { whole: { $patch: 'delete', value: '1' } },
    },
    {
      name: 'a delete entry removes the entry with its merge key',
      before,
      patch: { items: [{ name: 'b', $patch: 'delete' }] },
      after: { ...before, items: [item('a'), item('c')] },
    },
    {
      name: 'delete removes all entries with the merge key',
      before: { items: [item('a'), item('b'), item('a')] },
      patch: { items: [{ name: 'a', $patch: 'delete' }] },
      after: { items: [item('b')] },
    },
    {
      name: 'delete of an absent entry has no effect',
      before,
      patch: { items: [{ name: 'x', $patch: 'delete' }] },
      after: before,
    },
    {
      name: 'deletions precede other changes, so that an entry can be replaced',
      before: { items: [item('a', { value: '1' }), item('b')] },
      patch: {
        items: [
          { name: 'a', other: '2' },
          { name: 'a', $patch: 'delete' },
        ],
      },
      after: { items: [item('a', { other: '2' }), item('b')] },
    },
    {
      name: 'delete together with other changes',
      before,
      patch: {
        items: [
          { name: 'a', $patch: 'delete' },
          { name: 'c', value: '1' },
        ],
      },
      after: { ...before, items: [item('b'), item('c', { value: '1' })] },
    },
    {
      name: 'an entry with replace: the other entries are the whole list',
      before,
      patch: { items: [{ $patch: 'replace' }, { name: 'x' }, { name: 'a', value: '1' }] },
      after: { ...before, items: [item('x'), item('a', { value: '1' })] },
    },
    {
      name: 'replace may come last, and delete entries are dropped',
      before,
      patch: { items: [{ name: 'x' }, { name: 'a', $patch: 'delete' }, { $patch: 'replace' }] },
      after: { ...before, items: [item('x')] },
    },
    {
      name: 'replace alone empties the list',
      before,
      patch: { items: [{ $patch: 'replace' }] },
      after: { ...before, items: [] },
    },
    {
      name: 'entries with directives are dropped from a new list',
      before: {},
      patch: { items: [{ name: 'a', $patch: 'delete' }, { $patch: 'replace' }, { name: 'x' }] },
      after: { items: [item('x')] },
    },
    {
      name: 'directives in a list without patch strategy have no effect',
      before: { rows: [item('a')] },
      patch: { rows: [{ $patch: 'replace' }, { name: 'b' }] },
      after: { rows: [{ $patch: 'replace' }, item('b')] },
    },
    {
      name: 'directives in a new entry have no effect',
      before,
      patch: { items: [{ name: 'a' }, { name: 'n', ports: [{ $patch: 'replace' }, { number: '1' }] }] },
      after: {
        ...before,
        items: [item('a'), item('n', { ports: [{ $patch: 'replace' }, { number: '1' }] }), item('b'), item('c')],
      },
    },
    {
      name: 'a directive for an absent object adds nothing',
      before: {},
      patch: { inner: { $patch: 'delete' }, union: { $patch: 'replace', name: 'x' } },
      after: {},
    },
    {
      name: 'an unknown directive for an absent object adds nothing either',
      before: {},
      patch: { inner: { $patch: 'merge', name: 'x' }, union: { $patch: 'x' } },
      after: {},
    },
    {
      name: 'a null is no directive in an absent object',
      before: {},
      patch: { inner: { $patch: null, name: 'x' } },
      after: { inner: item('x') },
    },
  ]);
});

describe('$retainKeys', () => {
  const before = { union: item('a', { value: '1', other: '2' }) };
  table([
    {
      name: 'keys that it does not name are removed',
      before,
      patch: { union: { $retainKeys: ['name', 'value'], value: '3' } },
      after: { union: item('a', { value: '3' }) },
    },
    { name: 'alone', before, patch: { union: { $retainKeys: ['other'] } }, after: { union: { other: '2' } } },
    {
      name: 'it may name absent keys',
      before,
      patch: { union: { $retainKeys: ['name', 'set'] } },
      after: { union: item('a') },
    },
    {
      name: 'a null need not be named',
      before,
      patch: { union: { $retainKeys: ['name'], value: null } },
      after: { union: item('a') },
    },
    {
      name: 'directives for lists need not be named',
      before: { inner: item('a', { tags: ['x', 'y'] }) },
      patch: {
        inner: { $retainKeys: ['tags'], '$setElementOrder/tags': ['y'], '$deleteFromPrimitiveList/tags': ['x'] },
      },
      after: { inner: { tags: ['y'] } },
    },
    { name: 'an empty list removes all keys', before, patch: { union: { $retainKeys: [] } }, after: { union: {} } },
    {
      name: 'it applies without the patch strategy retainKeys',
      before: { inner: item('a', { value: '1' }) },
      patch: { inner: { $retainKeys: ['value'] } },
      after: { inner: { value: '1' } },
    },
    {
      name: 'in an entry of a list',
      before: { both: [item('v', { value: '1' })] },
      patch: { both: [{ name: 'v', $retainKeys: ['name', 'other'], other: '2' }] },
      after: { both: [item('v', { other: '2' })] },
    },
    {
      name: 'in a map',
      before: { labels: { a: '1', b: '2' } },
      patch: { labels: { $retainKeys: ['b'] } },
      after: { labels: { b: '2' } },
    },
    {
      name: 'it has no effect in a new object',
      before: {},
      patch: { union: { $retainKeys: ['name'], name: 'a' } },
      after: { union: { $retainKeys: ['name'], name: 'a' } },
    },
    {
      name: 'it has no effect in a new entry',
      before: { both: [item('a')] },
      patch: { both: [{ name: 'n', $retainKeys: ['name'] }] },
      after: { both: [{ name: 'n', $retainKeys: ['name'] }, item('a')] },
    },
  ]);
});

describe('$setElementOrder', () => {
  const order = (wanted: string, patch: string | undefined, before: string | undefined): string => {
    const object = before === undefined ? {} : { items: named(before) };
    const items = patch === undefined ? {} : { items: named(patch) };
    const after = apply(object, { '$setElementOrder/items': named(wanted), ...items }) as { items: { name: string }[] };
    return after.items.map(({ name }) => name).join('');
  };
  it.each([
    // Entries in the order list take its order; the others keep theirs and stay before the entry that followed them.
    { wanted: 'dcba', patch: undefined, before: 'abcd', after: 'dcba' },
    { wanted: 'ba', patch: 'ba', before: 'ab', after: 'ba' },
    { wanted: 'ab', patch: undefined, before: 'abcd', after: 'abcd' },
    { wanted: 'dc', patch: undefined, before: 'abcd', after: 'abdc' },
    { wanted: 'da', patch: undefined, before: 'abcd', after: 'bcda' },
    { wanted: 'nab', patch: 'n', before: 'ab', after: 'nab' },
    { wanted: 'anb', patch: 'n', before: 'ab', after: 'anb' },
    { wanted: 'abn', patch: 'n', before: 'ab', after: 'abn' },
    { wanted: 'abn', patch: 'n', before: 'axb', after: 'axbn' },
    { wanted: 'abn', patch: 'n', before: 'abx', after: 'abnx' },
    { wanted: 'abn', patch: 'n', before: 'xab', after: 'xabn' },
    { wanted: 'mn', patch: 'mn', before: 'xy', after: 'mnxy' },
    { wanted: 'ba', patch: 'ba', before: undefined, after: 'ba' },
    { wanted: 'ab', patch: 'a', before: 'bxa', after: 'xab' },
    { wanted: '', patch: undefined, before: 'ab', after: 'ab' },
    { wanted: 'zy', patch: undefined, before: 'ab', after: 'ab' },
    { wanted: 'bca', patch: '', before: 'abc', after: 'bca' },
  ])('order $wanted, patch $patch, live $before gives $after', ({ wanted, patch, before, after }) => {
    expect(order(wanted, patch, before)).toBe(after);
  });

  table([
    {
      name: 'with changes and deletions, as kubectl sends it',
      before: { items: named('abcd') },
      patch: {
        '$setElementOrder/items': named('can'),
        items: [{ name: 'c', value: '1' }, { name: 'n' }, { name: 'b', $patch: 'delete' }],
      },
      after: { items: [item('c', { value: '1' }), item('a'), item('n'), item('d')] },
    },
    {
      name: 'in a list that is replaced',
      before: { items: named('abcd') },
      patch: { '$setElementOrder/items': named('yx'), items: [{ $patch: 'replace' }, { name: 'y' }, { name: 'x' }] },
      after: { items: [item('y'), item('x')] },
    },
    {
      name: 'in an entry',
      before: { items: [item('a', { ports: [{ number: '1' }, { number: '2' }] })] },
      patch: { items: [{ name: 'a', '$setElementOrder/ports': [{ number: '2' }, { number: '1' }] }] },
      after: { items: [item('a', { ports: [{ number: '2' }, { number: '1' }] })] },
    },
    { name: 'of an absent list', before: {}, patch: { '$setElementOrder/items': named('a') }, after: {} },
    { name: 'of an empty list', before: { tags: [] }, patch: { '$setElementOrder/tags': ['a'] }, after: { tags: [] } },
    {
      name: 'of a list that is null',
      before: { items: null },
      patch: { '$setElementOrder/items': named('a'), items: named('a') },
      after: { items: named('a') },
    },
    {
      name: 'with deletions from an absent list',
      before: {},
      patch: { '$setElementOrder/items': named('a'), items: [{ name: 'b', $patch: 'delete' }] },
      after: { items: [] },
    },
  ]);
});

describe('built-in types', () => {
  const container = (name: string, more: JsonObject = {}) => ({ name, image: `${name}:1`, ...more });
  table([
    {
      name: 'finalizers are a set',
      schema: coreV1.ConfigMap,
      before: { metadata: { name: 'x', finalizers: ['a.io/x'] } },
      patch: { metadata: { finalizers: ['b.io/y'] } },
      after: { metadata: { name: 'x', finalizers: ['b.io/y', 'a.io/x'] } },
    },
    {
      name: 'owner references are merged by uid',
      schema: coreV1.ConfigMap,
      before: { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: '1' }] } },
      patch: {
        metadata: {
          ownerReferences: [
            { uid: '1', controller: true },
            { uid: '2', name: 'q' },
          ],
        },
      },
      after: {
        metadata: {
          ownerReferences: [
            { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: '1', controller: true },
            { uid: '2', name: 'q' },
          ],
        },
      },
    },
    {
      name: 'an owner reference is removed',
      schema: coreV1.ConfigMap,
      before: {
        metadata: {
          ownerReferences: [
            { name: 'p', uid: '1' },
            { name: 'q', uid: '2' },
          ],
        },
      },
      patch: { metadata: { ownerReferences: [{ $patch: 'delete', uid: '1' }] } },
      after: { metadata: { ownerReferences: [{ name: 'q', uid: '2' }] } },
    },
    {
      name: 'managedFields are replaced, so that an empty entry resets them',
      schema: coreV1.ConfigMap,
      before: { metadata: { managedFields: [{ manager: 'a' }, { manager: 'b' }] } },
      patch: { metadata: { managedFields: [{}] } },
      after: { metadata: { managedFields: [{}] } },
    },
    {
      name: 'set image: two containers of a pod template',
      schema: appsV1.Deployment,
      before: { spec: { template: { spec: { containers: [container('a'), container('b')] } } } },
      patch: {
        spec: {
          template: {
            spec: {
              '$setElementOrder/containers': [{ name: 'a' }, { name: 'b' }],
              containers: [{ name: 'b', image: 'b:2' }],
            },
          },
        },
      },
      after: { spec: { template: { spec: { containers: [container('a'), { name: 'b', image: 'b:2' }] } } } },
    },
    {
      name: 'ports of a service are merged by port',
      schema: coreV1.Service,
      before: { spec: { ports: [{ port: 80, targetPort: 8080 }, { port: 443 }] } },
      patch: {
        spec: {
          ports: [
            { port: 443, name: 'tls' },
            { port: 80, $patch: 'delete' },
          ],
        },
      },
      after: { spec: { ports: [{ port: 443, name: 'tls' }] } },
    },
    {
      name: 'container ports are merged by containerPort, env by name, volumeMounts by mountPath',
      schema: coreV1.Pod,
      before: {
        spec: {
          containers: [
            container('a', {
              ports: [{ containerPort: 80 }],
              env: [{ name: 'A', value: '1' }],
              volumeMounts: [{ mountPath: '/x', name: 'v' }],
            }),
          ],
        },
      },
      patch: {
        spec: {
          containers: [
            {
              name: 'a',
              ports: [{ containerPort: 80, name: 'http' }],
              env: [{ name: 'A', value: null, valueFrom: { fieldRef: { fieldPath: 'x' } } }],
              volumeMounts: [{ mountPath: '/x', readOnly: true }],
            },
          ],
        },
      },
      after: {
        spec: {
          containers: [
            container('a', {
              ports: [{ containerPort: 80, name: 'http' }],
              env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'x' } } }],
              volumeMounts: [{ mountPath: '/x', name: 'v', readOnly: true }],
            }),
          ],
        },
      },
    },
    {
      name: 'commands and arguments are replaced',
      schema: coreV1.Pod,
      before: { spec: { containers: [container('a', { command: ['x'], args: ['1', '2'] })] } },
      patch: { spec: { containers: [{ name: 'a', args: ['3'] }] } },
      after: { spec: { containers: [container('a', { command: ['x'], args: ['3'] })] } },
    },
    {
      name: 'a volume changes its source',
      schema: coreV1.Pod,
      before: { spec: { volumes: [{ name: 'v', emptyDir: {} }] } },
      patch: { spec: { volumes: [{ name: 'v', $retainKeys: ['name', 'configMap'], configMap: { name: 'c' } }] } },
      after: { spec: { volumes: [{ name: 'v', configMap: { name: 'c' } }] } },
    },
    {
      name: 'the strategy of a deployment changes its type',
      schema: appsV1.Deployment,
      before: { spec: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } } } },
      patch: { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } },
      after: { spec: { strategy: { type: 'Recreate' } } },
    },
    {
      name: 'the selector of a disruption budget is replaced',
      schema: policyV1.PodDisruptionBudget,
      before: { spec: { selector: { matchLabels: { a: '1' } }, minAvailable: 1 } },
      patch: { spec: { selector: { matchLabels: { b: '2' } } } },
      after: { spec: { selector: { matchLabels: { b: '2' } }, minAvailable: 1 } },
    },
    {
      name: 'other selectors are merged',
      schema: appsV1.Deployment,
      before: { spec: { selector: { matchLabels: { a: '1' } } } },
      patch: { spec: { selector: { matchLabels: { b: '2' } } } },
      after: { spec: { selector: { matchLabels: { a: '1', b: '2' } } } },
    },
    {
      name: 'conditions are merged by type',
      schema: appsV1.Deployment,
      before: {
        status: {
          conditions: [
            { type: 'A', status: 'True' },
            { type: 'B', status: 'True' },
          ],
        },
      },
      patch: { status: { conditions: [{ type: 'B', status: 'False' }] } },
      after: {
        status: {
          conditions: [
            { type: 'A', status: 'True' },
            { type: 'B', status: 'False' },
          ],
        },
      },
    },
    {
      name: 'imagePullSecrets are merged by name',
      schema: coreV1.ServiceAccount,
      before: { imagePullSecrets: [{ name: 'a' }] },
      patch: { imagePullSecrets: [{ name: 'a' }, { name: 'b' }] },
      after: { imagePullSecrets: [{ name: 'a' }, { name: 'b' }] },
    },
    {
      name: 'quantities in a map',
      schema: coreV1.ResourceQuota,
      before: { spec: { hard: { pods: '1', cpu: '2' } } },
      patch: { spec: { hard: { pods: 5, cpu: null } } },
      after: { spec: { hard: { pods: 5 } } },
    },
    {
      name: 'lists of scalars in a map',
      schema: authorizationV1.SubjectAccessReview,
      before: { spec: { extra: { a: ['1', '2'] } } },
      patch: { spec: { extra: { a: ['3'] } } },
      after: { spec: { extra: { a: ['3'] } } },
    },
    {
      name: 'a recursive schema with alternatives',
      schema: apiextensionsV1.CustomResourceDefinition,
      before: {
        spec: {
          versions: [{ name: 'v1', schema: { openAPIV3Schema: { properties: { a: { items: { type: 'string' } } } } } }],
        },
      },
      patch: { spec: { names: { plural: 'x' } } },
      after: {
        spec: {
          names: { plural: 'x' },
          versions: [{ name: 'v1', schema: { openAPIV3Schema: { properties: { a: { items: { type: 'string' } } } } } }],
        },
      },
    },
    {
      name: 'members of a value with alternative schemas',
      schema: apiextensionsV1.JSONSchemaProps,
      before: { items: { type: 'object', properties: { a: { type: 'string' } } }, default: { x: 1 } },
      patch: { items: { properties: { b: { type: 'integer' } } }, default: { y: [2] }, additionalProperties: true },
      after: {
        items: { type: 'object', properties: { a: { type: 'string' }, b: { type: 'integer' } } },
        default: { x: 1, y: [2] },
        additionalProperties: true,
      },
    },
    {
      name: 'rules are merged by their expression',
      schema: apiextensionsV1.JSONSchemaProps,
      before: { [`x-${names.product}-validations`]: [{ rule: 'a', message: 'm' }] },
      patch: { [`x-${names.product}-validations`]: [{ rule: 'a', reason: 'r' }] },
      after: { [`x-${names.product}-validations`]: [{ rule: 'a', message: 'm', reason: 'r' }] },
    },
  ]);
});
