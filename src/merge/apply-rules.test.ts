import { describe, expect, it } from 'vitest';
import { type ApiObject, atOnce } from '../meta/index.ts';
import { field, int32, list, map, string, struct } from '../schema/index.ts';
import { applyConfiguration } from './apply.ts';
import { managerName } from './manager-name.ts';
import { apply, entry, forceApply, ownersOf, play, type Story, schema, update, World } from './testing/story.ts';
import { tell } from './testing/tell.ts';
import { thing } from './testing/thing.ts';

// The numbers are those of "Server-side apply rules" in the specification.

const data = (values: { [key: string]: string }) => ({ data: values });
const replicas = (count: number) => ({ spec: { replicas: count } });

tell('rule 1: an applyConfig creates the object with defaults, or merges with the live one', [
  {
    name: 'creates, owning what it says and no default',
    steps: [apply('one', { data: { a: '1' }, spec: { text: 'x' } })],
    object: { data: { a: '1' }, spec: { replicas: 1, text: 'x' } },
    owners: { one: '.data.a .spec.text' },
  },
  { name: 'creates from nothing but an identity', steps: [apply('one', {})], object: {}, owners: {} },
  {
    name: 'an empty map is owned itself',
    steps: [apply('one', data({}))],
    object: {},
    owners: { one: '.data' },
  },
  {
    name: 'an empty map that another fills is a change of it',
    steps: [apply('one', data({})), apply('two', data({ a: '1' }))],
    conflicts: ['"one" .data'],
  },
  {
    name: 'an empty list of entries owns nothing',
    steps: [apply('one', { data: { a: '1' }, spec: { tags: [] } })],
    owners: { one: '.data.a' },
  },
  {
    name: 'an empty atomic list is owned',
    steps: [apply('one', { spec: { args: [] } })],
    owners: { one: '.spec.args' },
  },
  {
    name: 'merges with what is there',
    steps: [apply('one', data({ a: '1' })), apply('two', data({ b: '2' }))],
    object: data({ a: '1', b: '2' }),
    owners: { one: '.data.a', two: '.data.b' },
  },
  {
    name: 'an explicit null is owned and leaves a map alone',
    steps: [apply('one', data({ a: '1' })), apply('two', { data: null })],
    object: data({ a: '1' }),
    owners: { one: '.data.a', two: '.data' },
  },
  {
    name: 'an explicit null takes a value away from nobody else',
    steps: [apply('one', { spec: { text: 'x' } }), apply('two', { spec: { text: null } })],
    conflicts: ['"one" .spec.text'],
  },
  {
    name: 'the identity of an object belongs to nobody',
    steps: [
      apply('one', { metadata: { name: 't', namespace: 'n', uid: 'u', resourceVersion: '1', labels: { l: '1' } } }),
    ],
    owners: { one: '.metadata.labels.l' },
  },
  {
    name: 'a value of the wrong type fails, with its path',
    steps: [apply('one', { data: { a: 1 } })],
    error:
      'failed to create typed patch object (/t; /v1, Kind=Thing): .data.a: expected string, got &value.valueUnstructured{Value:1}',
  },
  {
    name: 'a field that nobody declares fails',
    steps: [apply('one', { bogus: 1 })],
    error: 'failed to create typed patch object (/t; /v1, Kind=Thing): .bogus: field not declared in schema',
  },
  {
    name: 'an undeclared field inside an atomic struct fails, too',
    steps: [apply('one', { spec: { ref: { nope: 'x' } } })],
    error: /\.spec\.ref\.nope: field not declared in schema$/,
  },
  {
    name: 'several findings are told together',
    steps: [apply('one', { data: { a: true }, spec: { flag: 'x', replicas: 'y', args: 'z', containers: {} } })],
    error:
      /: errors:\n {2}\.data\.a: expected string.*\n {2}\.spec\.flag: expected boolean, got &\{x\}\n {2}\.spec\.replicas: expected numeric \(int or float\), got string\n {2}\.spec\.args: expected list, got &\{z\}\n {2}\.spec\.containers: expected list, got &\{map\[\]\}$/,
  },
  {
    name: 'a scalar where a map belongs fails',
    steps: [apply('one', { data: 'x' })],
    error: /\.data: expected map, got &\{x\}$/,
  },
  {
    name: 'an entry that is there twice fails',
    steps: [apply('one', { spec: { containers: [{ name: 'a' }, { name: 'a' }] } })],
    error: /: \.spec\.containers: duplicate entries for key \[name="a"\]$/,
  },
  {
    name: 'a value that is twice in a set fails',
    steps: [apply('one', { metadata: { finalizers: ['e.com/a', 'e.com/a'] } })],
    error: /: \.metadata\.finalizers: duplicate entries for key \[="e\.com\/a"\]$/,
  },
  {
    name: 'a failed apply leaves the object as it was',
    steps: [apply('one', data({ a: '1' })), apply('two', { bogus: 1 })],
    error: /bogus/,
    object: data({ a: '1' }),
    owners: { one: '.data.a' },
  },
]);

describe('rule 2: the manager is named by the request, or by its user agent', () => {
  it.each([
    ['the name that the request gives', 'm', 'kubectl/v1', 'm'],
    ['else the product of the user agent', '', 'kubectl/v1.30 (linux/amd64)', 'kubectl'],
    ['a user agent without a version', undefined, 'editor', 'editor'],
    ['a user agent with spaces', undefined, 'Go http client/1.1', 'Go http client'],
    ['characters that cannot be printed are left out', undefined, 'a\u0007b\u200b\u00a0c/1', 'abc'],
    ['at most 128 bytes', undefined, `${'x'.repeat(200)}/1`, 'x'.repeat(128)],
    ['and no half of a character', undefined, `${'x'.repeat(127)}é/1`, 'x'.repeat(127)],
    ['no user agent at all', undefined, undefined, 'unknown'],
    ['a user agent without a product', undefined, '/1.0', 'unknown'],
  ])('%s', (_, given, agent, expected) => {
    expect(managerName(given, agent)).toBe(expected);
  });
});

tell('rule 3: an applyConfig may not set managedFields', [
  {
    name: 'entries are refused',
    steps: [apply('one', { metadata: { managedFields: [entry('x', {})] } })],
    error: 'metadata.managedFields must be nil',
  },
  {
    name: 'an empty list is refused',
    steps: [apply('one', { metadata: { managedFields: [] } })],
    error: 'metadata.managedFields must be nil',
  },
  {
    name: 'null is none',
    steps: [apply('one', { metadata: { managedFields: null }, data: { a: '1' } })],
    owners: { one: '.data.a' },
  },
]);

const rule4: Story[] = [
  {
    name: 'the same value from two appliers is shared',
    steps: [apply('one', data({ a: '1' })), apply('two', data({ a: '1' }))],
    object: data({ a: '1' }),
    owners: { one: '.data.a', two: '.data.a' },
  },
  {
    name: 'a change of a shared field conflicts with the other',
    steps: [apply('one', data({ a: '1' })), apply('two', data({ a: '1' })), apply('two', data({ a: '2' }))],
    conflicts: ['"one" .data.a'],
    object: data({ a: '1' }),
  },
  {
    name: 'and with each of the others',
    steps: [
      apply('one', data({ a: '1' })),
      apply('two', data({ a: '1' })),
      apply('three', data({ a: '1' })),
      apply('one', data({ a: '2' })),
    ],
    conflicts: ['"three" .data.a', '"two" .data.a'],
  },
  {
    name: 'an owner alone changes its field freely',
    steps: [apply('one', data({ a: '1' })), apply('one', data({ a: '2' }))],
    object: data({ a: '2' }),
    owners: { one: '.data.a' },
  },
  {
    name: 'a field left out is given up: others keep it',
    steps: [apply('one', data({ a: '1' })), apply('two', data({ a: '1' })), apply('one', data({}))],
    object: data({ a: '1' }),
    owners: { one: '.data', two: '.data.a' },
  },
  {
    name: 'a field left out that nobody else owns is deleted',
    steps: [apply('one', data({ a: '1', b: '1' })), apply('one', data({ a: '1' }))],
    object: data({ a: '1' }),
    owners: { one: '.data.a' },
  },
  {
    name: 'or goes back to its default',
    steps: [apply('one', { spec: { replicas: 3, text: 'x' } }), apply('one', { spec: { text: 'x' } })],
    object: { spec: { replicas: 1, text: 'x' } },
    owners: { one: '.spec.text' },
  },
  {
    name: 'the last field of a struct takes the struct with it',
    steps: [apply('one', { data: { a: '1' }, spec: { text: 'x' } }), apply('one', data({ a: '1' }))],
    object: data({ a: '1' }),
    owners: { one: '.data.a' },
  },
  {
    name: 'a struct in which another owns something stays',
    steps: [apply('one', { spec: { text: 'x' } }), apply('two', { spec: { flag: true } }), apply('one', {})],
    object: { spec: { flag: true, replicas: 1 } },
    owners: { two: '.spec.flag' },
  },
  {
    name: 'giving up everything ends the entry',
    steps: [apply('one', data({ a: '1' })), apply('two', data({ b: '1' })), apply('one', {})],
    object: data({ b: '1' }),
    owners: { two: '.data.b' },
  },
  {
    name: 'giving up everything takes a nested map with it',
    steps: [apply('one', { metadata: { labels: { l: '1' } }, data: { a: '1' } }), apply('one', data({ a: '1' }))],
    object: data({ a: '1' }),
  },
  {
    name: 'a field that an update owns as well stays',
    steps: [
      apply('one', data({ a: '1' })),
      update('two', data({ a: '2' })),
      apply('one', data({ a: '2' })),
      apply('one', {}),
    ],
    object: data({ a: '2' }),
    owners: { 'two (Update)': '.data.a' },
  },
  {
    name: 'a field that one never applied is not removed by leaving it out',
    steps: [apply('one', data({ a: '1' })), update('two', data({ a: '1', b: '2' })), apply('one', {})],
    object: data({ b: '2' }),
    owners: { 'two (Update)': '.data.b' },
  },
  {
    name: 'a value that nobody owns is not removed with its neighbours',
    steps: [
      update('two', data({ a: '1', b: '2' })),
      update('two', { ...data({ a: '1', b: '2' }), metadata: { managedFields: [entry('x', { 'f:spec': {} })] } }),
      apply('one', data({ a: '1' })),
      apply('one', data({})),
    ],
    object: data({ b: '2' }),
  },
  {
    name: 'values that are as good as absent are shared, too',
    steps: [apply('one', { data: {}, spec: { text: '' } }), apply('two', { data: {}, spec: { text: '' } })],
    owners: { one: '.data .spec.text', two: '.data .spec.text' },
  },
  {
    name: 'two spellings of an amount are one value',
    steps: [
      apply('one', { spec: { containers: [{ name: 'a', limits: { cpu: '1' } }] } }),
      apply('two', { spec: { containers: [{ name: 'a', limits: { cpu: '1000m' } }] } }),
    ],
    object: { spec: { replicas: 1, containers: [{ name: 'a', limits: { cpu: '1' } }] } },
  },
  {
    name: 'sharing twice changes nothing',
    steps: [apply('one', data({ a: '1' })), apply('two', data({ a: '1' })), apply('two', data({ a: '1' }))],
    owners: { one: '.data.a', two: '.data.a' },
  },
];
tell('rule 4: equal values are shared, and what is left out is given up', rule4);

tell('rule 5: a change of what others own conflicts, unless forced', [
  {
    name: 'one conflict is told with its field',
    steps: [apply('one', data({ a: '1' })), apply('two', data({ a: '2' }))],
    conflicts: ['"one" .data.a'],
    error: 'Apply failed with 1 conflict: conflict with "one": .data.a',
    object: data({ a: '1' }),
    owners: { one: '.data.a' },
  },
  {
    name: 'an update is told with its version',
    steps: [update('editor', data({ a: '1' })), apply('two', data({ a: '2' }))],
    conflicts: ['"editor" using v1 .data.a'],
  },
  {
    name: 'an owner through a subresource is told with it',
    steps: [
      apply('one', { data: { a: '1' } }),
      update('st', { data: { a: '1' }, status: { count: 1 } }, { subresource: 'status' }),
      apply('one', { status: { count: 2 } }),
    ],
    conflicts: ['"st" with subresource "status" using v1 .status.count'],
  },
  {
    name: 'several fields of several managers',
    steps: [
      apply('one', { data: { a: '1', b: '1' }, spec: { text: 'x' } }),
      apply('two', { metadata: { labels: { l: '1' } } }),
      apply('three', { data: { a: '2', b: '2' }, spec: { text: 'y' }, metadata: { labels: { l: '2' } } }),
    ],
    conflicts: ['"one" .data.a', '"one" .data.b', '"one" .spec.text', '"two" .metadata.labels.l'],
  },
  {
    name: 'a forced apply overwrites and is the only owner',
    steps: [apply('one', data({ a: '1' })), forceApply('two', data({ a: '2' }))],
    object: data({ a: '2' }),
    owners: { two: '.data.a' },
  },
  {
    name: 'a forced apply takes only what it changes',
    steps: [apply('one', data({ a: '1', b: '1', c: '1' })), forceApply('two', data({ a: '2', b: '1' }))],
    object: data({ a: '2', b: '1', c: '1' }),
    owners: { one: '.data.b .data.c', two: '.data.a .data.b' },
  },
  {
    name: 'a forced apply takes from several at once',
    steps: [
      apply('one', data({ a: '1', x: '1' })),
      apply('two', data({ a: '1' })),
      update('three', data({ a: '1', x: '1', b: '1' })),
      forceApply('four', data({ a: '2', b: '2' })),
    ],
    owners: { one: '.data.x', four: '.data.a .data.b' },
  },
  {
    name: 'force without a conflict is an apply as any other',
    steps: [apply('one', data({ a: '1' })), forceApply('two', data({ a: '1' }))],
    owners: { one: '.data.a', two: '.data.a' },
  },
  {
    name: 'way out: leave the field out, giving it up',
    steps: [apply('one', replicas(1)), forceApply('scaler', replicas(3)), apply('one', { spec: { text: 'x' } })],
    object: { spec: { replicas: 3, text: 'x' } },
    owners: { one: '.spec.text', scaler: '.spec.replicas' },
  },
  {
    name: 'way out: take the live value, sharing it',
    steps: [apply('one', replicas(1)), forceApply('scaler', replicas(3)), apply('one', replicas(3))],
    owners: { one: '.spec.replicas', scaler: '.spec.replicas' },
  },
  {
    name: 'whom a field was taken from conflicts when it applies the old value again',
    steps: [apply('one', replicas(1)), forceApply('scaler', replicas(3)), apply('one', replicas(1))],
    conflicts: ['"scaler" .spec.replicas'],
  },
  {
    name: 'a default belongs to nobody and is taken freely',
    steps: [apply('one', { spec: { text: 'x' } }), apply('two', replicas(5))],
    object: { spec: { text: 'x', replicas: 5 } },
    owners: { one: '.spec.text', two: '.spec.replicas' },
  },
  {
    name: 'an atomic list conflicts as a whole',
    steps: [apply('one', { spec: { args: ['a'] } }), apply('two', { spec: { args: ['a', 'b'] } })],
    conflicts: ['"one" .spec.args'],
  },
  {
    name: 'an atomic map conflicts as a whole',
    steps: [apply('one', { spec: { selector: { a: '1' } } }), apply('two', { spec: { selector: { b: '1' } } })],
    conflicts: ['"one" .spec.selector'],
  },
  {
    name: 'an atomic struct conflicts as a whole',
    steps: [apply('one', { spec: { ref: { kind: 'K' } } }), apply('two', { spec: { ref: { kind: 'K', name: 'n' } } })],
    conflicts: ['"one" .spec.ref'],
  },
  {
    name: 'an applier conflicts with its own updates under the same name',
    steps: [update('one', data({ a: '1' })), apply('one', data({ a: '2' }))],
    conflicts: ['"one" using v1 .data.a'],
  },
]);

it('rule 5: the message of several conflicts goes by manager', () => {
  const { error } = play([
    update('two', data({ a: '1', b: '1' })),
    apply('one', data({ b: '1' })),
    apply('three', data({ a: '2', b: '2' })),
  ]);
  expect(error?.message).toBe(
    [
      'Apply failed with 3 conflicts: conflicts with "one":',
      '- .data.b',
      'conflicts with "two" using v1:',
      '- .data.a',
      '- .data.b',
    ].join('\n'),
  );
  expect(error?.details).toEqual({
    causes: [
      { reason: 'FieldManagerConflict', message: 'conflict with "one"', field: '.data.b' },
      { reason: 'FieldManagerConflict', message: 'conflict with "two" using v1', field: '.data.a' },
      { reason: 'FieldManagerConflict', message: 'conflict with "two" using v1', field: '.data.b' },
    ],
  });
});

tell('rule 6: an update never conflicts and takes what it changes', [
  {
    name: 'a replaced value is the writer’s',
    steps: [apply('one', data({ a: '1', b: '1' })), update('two', data({ a: '2', b: '1' }))],
    object: data({ a: '2', b: '1' }),
    owners: { one: '.data.b', 'two (Update)': '.data.a' },
  },
  {
    name: 'an equal value stays with its owner',
    steps: [apply('one', data({ a: '1' })), update('two', data({ a: '1' }))],
    owners: { one: '.data.a' },
  },
  {
    name: 'the owner that lost a field conflicts afterwards',
    steps: [apply('one', data({ a: '1' })), update('two', data({ a: '2' })), apply('one', data({ a: '1' }))],
    conflicts: ['"two" using v1 .data.a'],
  },
  {
    name: 'a field that an update removes is nobody’s',
    steps: [apply('one', data({ a: '1', b: '1' })), update('two', data({ a: '1' }))],
    owners: { one: '.data.a' },
  },
  {
    name: 'the owner of a removed field may set it again',
    steps: [
      apply('one', data({ a: '1', b: '1' })),
      update('two', data({ a: '1' })),
      apply('one', data({ a: '1', b: '1' })),
    ],
    object: data({ a: '1', b: '1' }),
    owners: { one: '.data.a .data.b' },
  },
  {
    name: 'a new map counts itself',
    steps: [update('two', data({ a: '1' }))],
    owners: { 'two (Update)': '.data .data.a' },
  },
  {
    name: 'a created object belongs to its creator, defaults included',
    steps: [update('two', { spec: { text: 'x' } })],
    owners: { 'two (Update)': '.spec .spec.replicas .spec.text' },
  },
  {
    name: 'an update that changes nothing owns nothing',
    steps: [apply('one', { spec: { text: 'x' } }), update('two', { spec: { text: 'x', replicas: 1 } })],
    owners: { one: '.spec.text' },
  },
]);

tell('rule 7: whoever really changes a value owns it', [
  {
    name: 'an update after an update',
    steps: [update('one', data({ a: '1', b: '1' })), update('two', data({ a: '2', b: '1' }))],
    owners: { 'one (Update)': '.data .data.b', 'two (Update)': '.data.a' },
  },
  {
    name: 'back and forth',
    steps: [update('one', data({ a: '1' })), update('two', data({ a: '2' })), update('one', data({ a: '1' }))],
    owners: { 'one (Update)': '.data .data.a' },
  },
  {
    name: 'a list entry that an update changes',
    steps: [
      apply('one', { spec: { containers: [{ name: 'a', image: 'i:1' }] } }),
      update('two', { spec: { containers: [{ name: 'a', image: 'i:2' }] } }),
    ],
    owners: {
      one: '.spec.containers[name="a"] .spec.containers[name="a"].name',
      'two (Update)': '.spec.containers[name="a"].image',
    },
  },
  {
    name: 'a value of an object that nobody owned anything of',
    steps: [
      apply('one', data({ a: '1' })),
      update('two', { ...data({ a: '1' }), metadata: { managedFields: [{}] } }),
      update('three', data({ a: '1', b: '2' })),
    ],
    owners: { 'three (Update)': '.data.b' },
  },
  {
    name: 'an applier takes over a value that it changes by force, an update takes it back',
    steps: [update('one', data({ a: '1' })), forceApply('two', data({ a: '2' })), update('one', data({ a: '3' }))],
    owners: { 'one (Update)': '.data .data.a' },
  },
]);

describe('rule 8: an apply creates what is not there', () => {
  it('so that the caller can ask for the permission to create', () => {
    const world = new World();
    const live: ApiObject | undefined = world.live;
    expect(live).toBeUndefined();
    const applyConfig = { kind: 'Thing', apiVersion: 'v1', metadata: { name: 't' }, data: { a: '1' } };
    const writer = { manager: 'm', apiVersion: 'v1', now: world.now };
    const created = atOnce(applyConfiguration({ type: world.type(), writer, live, applyConfig, force: false }));
    expect(created).toMatchObject({ kind: 'Thing', apiVersion: 'v1', metadata: { name: 't' }, data: { a: '1' } });
    expect(ownersOf(created)).toEqual({ m: '.data.a' });
  });
});

// Rule 9 is in client-side.test.ts.

const word = struct('test/v1.Word', { name: field(1, string), value: field(2, string) });
const atomicMap = thing({ pairs: field(11, map(word), { mapType: 'atomic' }) });
const granularPairs = thing({ pairs: field(11, map(word)) });

tell('rule 10: markers may change', [
  {
    name: 'list to atomic: who owned an entry owns all of it',
    steps: [
      apply('one', { spec: { tags: ['a'] } }),
      apply('two', { spec: { tags: ['b'] } }),
      schema(thing({ tags: field(4, list(string), { listType: 'atomic' }) })),
      update('x', { spec: { tags: ['a', 'b'], text: 'y' } }),
    ],
    owners: { one: '.spec.tags', two: '.spec.tags', 'x (Update)': '.spec.text' },
  },
  {
    name: 'list to atomic: a later change conflicts with everyone',
    steps: [
      apply('one', { spec: { tags: ['a'] } }),
      apply('two', { spec: { tags: ['b'] } }),
      schema(thing({ tags: field(4, list(string), { listType: 'atomic' }) })),
      apply('one', { spec: { tags: ['a', 'c'] } }),
    ],
    conflicts: ['"two" .spec.tags'],
  },
  {
    name: 'list of entries to atomic',
    steps: [
      apply('one', { spec: { containers: [{ name: 'a', image: 'i' }] } }),
      schema(thing({ containers: field(6, list(word)) })),
      apply('two', { spec: { containers: [{ name: 'b' }] } }),
    ],
    conflicts: ['"one" .spec.containers'],
  },
  {
    name: 'map to atomic',
    steps: [
      schema(granularPairs),
      apply('one', { spec: { pairs: { x: { name: 'n' } } } }),
      apply('two', { spec: { pairs: { y: { name: 'n' } } } }),
      schema(atomicMap),
      apply('one', { spec: { pairs: { x: { name: 'n' } } } }),
    ],
    conflicts: ['"two" .spec.pairs'],
  },
  {
    name: 'struct to atomic',
    steps: [
      apply('one', { spec: { strategy: { type: 'x' } } }),
      schema(
        thing({
          strategy: field(8, struct('test/v1.S', { type: field(1, string), max: field(2, int32) }), {
            nullable: true,
            mapType: 'atomic',
          }),
        }),
      ),
      apply('two', { spec: { strategy: { type: 'x', max: 1 } } }),
    ],
    conflicts: ['"one" .spec.strategy'],
  },
  {
    name: 'atomic to set: no conflict arises, values of others stay',
    steps: [
      apply('one', { spec: { args: ['a', 'b'] } }),
      schema(thing({ args: field(10, list(string), { listType: 'set' }) })),
      apply('two', { spec: { args: ['c'] } }),
    ],
    object: { spec: { replicas: 1, args: ['a', 'b', 'c'] } },
    owners: { one: '.spec.args', two: '.spec.args[="c"]' },
  },
  {
    name: 'atomic to set: the old owner owns entries once it applies again',
    steps: [
      apply('one', { spec: { args: ['a', 'b'] } }),
      schema(thing({ args: field(10, list(string), { listType: 'set' }) })),
      apply('one', { spec: { args: ['a', 'b'] } }),
    ],
    owners: { one: '.spec.args[="a"] .spec.args[="b"]' },
  },
  {
    name: 'atomic to map of entries: no conflict arises',
    steps: [
      schema(thing({ containers: field(6, list(word)) })),
      apply('one', { spec: { containers: [{ name: 'a', value: '1' }] } }),
      schema(thing({ containers: field(6, list(word), { listType: 'map', listMapKeys: ['name'] }) })),
      apply('two', { spec: { containers: [{ name: 'a', value: '2' }] } }),
    ],
    object: { spec: { replicas: 1, containers: [{ name: 'a', value: '2' }] } },
  },
  {
    name: 'atomic to granular map: no conflict arises',
    steps: [
      schema(atomicMap),
      apply('one', { spec: { pairs: { x: { name: 'n' } } } }),
      schema(granularPairs),
      apply('two', { spec: { pairs: { x: { name: 'm' } } } }),
    ],
    object: { spec: { replicas: 1, pairs: { x: { name: 'm' } } } },
  },
  {
    name: 'a field that the schema no longer has is owned by nobody',
    steps: [
      apply('one', { spec: { text: 'x', flag: true } }),
      schema(thing({ flag: undefined })),
      update('two', { spec: { text: 'y' } }),
    ],
    object: { spec: { text: 'y', replicas: 1 } },
    owners: { 'two (Update)': '.spec.text' },
  },
  {
    name: 'a struct that became a scalar',
    steps: [
      apply('one', { spec: { strategy: { type: 'x' }, text: 'x' } }),
      schema(thing({ strategy: field(8, string) })),
      apply('two', { spec: { strategy: 'y' } }),
    ],
    object: { spec: { replicas: 1, text: 'x', strategy: 'y' } },
    owners: { one: '.spec.text', two: '.spec.strategy' },
  },
]);
