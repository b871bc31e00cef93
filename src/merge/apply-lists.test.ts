import type { Json, JsonObject } from '../meta/index.ts';
import { anyObject, field } from '../schema/index.ts';
import { apply, entry, forceApply, type Scenario, type Step, schema, set, update } from './testing/scenario.ts';
import { testScenarios } from './testing/test-scenarios.ts';
import { thing } from './testing/thing.ts';

const spec = (values: JsonObject): JsonObject => ({ spec: values });
const tags = (...values: string[]) => spec({ tags: values });
const withDefault = (values: JsonObject): JsonObject => ({ spec: { replicas: 1, ...values } });
const containers = (...entries: JsonObject[]) => spec({ containers: entries });
const ports = (...entries: JsonObject[]) => containers({ name: 'a', ports: entries });

/** The order of a merged list, one letter for each entry. */
const ordered = (name: string, live: string, applyConfig: string, expected: string): Scenario => ({
  name: `${live} with ${applyConfig}: ${name}`,
  steps: [update('x', tags(...live.split(''))), apply('one', tags(...applyConfig.split('')))],
  object: withDefault({ tags: expected.split('') }),
});

testScenarios('sets', [
  {
    name: 'each value has its own managers',
    steps: [apply('one', tags('a', 'b')), apply('two', tags('b', 'c'))],
    object: withDefault({ tags: ['a', 'b', 'c'] }),
    managers: { one: '.spec.tags[="a"] .spec.tags[="b"]', two: '.spec.tags[="b"] .spec.tags[="c"]' },
  },
  {
    name: 'a value left out is pruned when no other manager owns it',
    steps: [apply('one', tags('a', 'b')), apply('two', tags('b')), apply('one', tags())],
    object: withDefault({ tags: ['b'] }),
    managers: { two: '.spec.tags[="b"]' },
  },
  {
    name: 'values of a set never conflict',
    steps: [update('x', tags('a')), apply('one', tags('b'))],
    object: withDefault({ tags: ['a', 'b'] }),
  },
  {
    name: 'an update owns the values that it adds',
    steps: [apply('one', tags('a')), update('x', tags('b', 'a'))],
    managers: { one: '.spec.tags[="a"]', 'x (Update)': '.spec.tags[="b"]' },
  },
  {
    name: 'an update that reorders a set owns nothing',
    steps: [apply('one', tags('a', 'b')), update('x', tags('b', 'a'))],
    object: withDefault({ tags: ['b', 'a'] }),
    managers: { one: '.spec.tags[="a"] .spec.tags[="b"]' },
  },
  {
    name: 'numbers and strings are different values',
    steps: [apply('one', spec({ numbers: [1, 10, 2] }))],
    managers: { one: '.spec.numbers[=10] .spec.numbers[=1] .spec.numbers[=2]' },
  },
  {
    name: 'a list with patch strategy merge and no merge key is a set',
    steps: [apply('one', spec({ finalizers: ['a'] })), apply('two', spec({ finalizers: ['b'] }))],
    object: withDefault({ finalizers: ['a', 'b'] }),
    managers: { one: '.spec.finalizers[="a"]', two: '.spec.finalizers[="b"]' },
  },
  {
    name: 'an empty set never conflicts',
    steps: [apply('one', tags('a')), apply('two', { spec: { tags: [], text: 'x' } })],
    object: withDefault({ text: 'x', tags: ['a'] }),
    managers: { one: '.spec.tags[="a"]', two: '.spec.text' },
  },
]);

testScenarios('order of merged lists', [
  ordered('applied entries follow live ones', 'ab', 'cd', 'abcd'),
  ordered('new entries precede the shared entry that follows them', 'ab', 'cb', 'acb'),
  ordered('shared entries take the applied order', 'ab', 'ba', 'ba'),
  ordered('live entries keep their order', 'abc', 'b', 'abc'),
  ordered('live entries keep their position before the next shared entry', 'xaybz', 'ab', 'xaybz'),
  ordered('a shared entry that is later in the applied list moves back', 'xaybz', 'ba', 'xybza'),
  ordered('new entries at the end', 'ab', 'abc', 'abc'),
  ordered('new entries at the beginning', 'ab', 'cab', 'cab'),
  ordered('new entries between', 'ab', 'acb', 'acb'),
  ordered('nothing new', 'abc', 'abc', 'abc'),
  ordered('reversed', 'abc', 'cba', 'cba'),
]);

testScenarios('associative lists', [
  {
    name: 'two appliers own an entry each',
    steps: [apply('one', containers({ name: 'a', image: 'i' })), apply('two', containers({ name: 'b', image: 'j' }))],
    object: withDefault({
      containers: [
        { name: 'a', image: 'i' },
        { name: 'b', image: 'j' },
      ],
    }),
    managers: {
      one: '.spec.containers[name="a"] .spec.containers[name="a"].image .spec.containers[name="a"].name',
      two: '.spec.containers[name="b"] .spec.containers[name="b"].image .spec.containers[name="b"].name',
    },
  },
  {
    name: 'two appliers own fields of one entry',
    steps: [apply('one', containers({ name: 'a', image: 'i' })), apply('two', containers({ name: 'a', args: ['x'] }))],
    object: withDefault({ containers: [{ name: 'a', image: 'i', args: ['x'] }] }),
    managers: {
      one: '.spec.containers[name="a"] .spec.containers[name="a"].image .spec.containers[name="a"].name',
      two: '.spec.containers[name="a"] .spec.containers[name="a"].args .spec.containers[name="a"].name',
    },
  },
  {
    name: 'a conflict inside an entry names its key',
    steps: [apply('one', containers({ name: 'a', image: 'i' })), apply('two', containers({ name: 'a', image: 'j' }))],
    conflicts: ['"one" .spec.containers[name="a"].image'],
  },
  {
    name: 'an entry left out is pruned',
    steps: [apply('one', containers({ name: 'a' }, { name: 'b' })), apply('one', containers({ name: 'b' }))],
    object: withDefault({ containers: [{ name: 'b' }] }),
  },
  {
    name: 'the list is pruned with its last entry',
    steps: [apply('one', spec({ text: 'x', containers: [{ name: 'a' }] })), apply('one', spec({ text: 'x' }))],
    object: withDefault({ text: 'x' }),
    managers: { one: '.spec.text' },
  },
  {
    name: 'an entry left out is pruned although an update owns a field of it',
    steps: [
      apply('one', containers({ name: 'a', image: 'i' }, { name: 'b' })),
      update('x', containers({ name: 'a', image: 'j' }, { name: 'b' })),
      apply('one', containers({ name: 'b' })),
    ],
    object: withDefault({ containers: [{ name: 'b' }] }),
    managers: { one: '.spec.containers[name="b"] .spec.containers[name="b"].name' },
  },
  {
    name: 'an entry that another manager applies keeps the fields of that manager',
    steps: [
      apply('one', containers({ name: 'a', image: 'i', args: ['x'] })),
      apply('two', containers({ name: 'a', image: 'i' })),
      apply('one', {}),
    ],
    object: withDefault({ containers: [{ name: 'a', image: 'i' }] }),
    managers: { two: '.spec.containers[name="a"] .spec.containers[name="a"].image .spec.containers[name="a"].name' },
  },
  {
    name: 'several list map keys, one of them defaulted',
    steps: [apply('one', ports({ port: 80 })), apply('one', ports({ port: 80, protocol: 'UDP' }, { port: 80 }))],
    object: withDefault({
      containers: [
        {
          name: 'a',
          ports: [
            { port: 80, protocol: 'UDP' },
            { port: 80, protocol: 'TCP' },
          ],
        },
      ],
    }),
    managers: {
      one: [
        '.spec.containers[name="a"]',
        '.spec.containers[name="a"].name',
        '.spec.containers[name="a"].ports[port=80,protocol="TCP"]',
        '.spec.containers[name="a"].ports[port=80,protocol="TCP"].port',
        '.spec.containers[name="a"].ports[port=80,protocol="UDP"]',
        '.spec.containers[name="a"].ports[port=80,protocol="UDP"].port',
        '.spec.containers[name="a"].ports[port=80,protocol="UDP"].protocol',
      ].join(' '),
    },
  },
  {
    name: 'a defaulted key identifies the same entry as an explicit one',
    steps: [
      apply('one', ports({ port: 80, name: 'h' })),
      apply('two', ports({ port: 80, protocol: 'TCP', name: 'g' })),
    ],
    conflicts: ['"one" .spec.containers[name="a"].ports[port=80,protocol="TCP"].name'],
  },
  {
    name: 'an absent key with a zero value identifies the entry of that value',
    steps: [apply('one', containers({ image: 'i' }))],
    managers: { one: '.spec.containers[name=""] .spec.containers[name=""].image' },
  },
  {
    name: 'nested lists with a patch merge key',
    steps: [
      apply('one', containers({ name: 'a', env: [{ name: 'X', value: '1' }] })),
      apply('two', containers({ name: 'a', env: [{ name: 'Y', value: '2' }] })),
      apply('one', containers({ name: 'a' })),
    ],
    object: withDefault({ containers: [{ name: 'a', env: [{ name: 'Y', value: '2' }] }] }),
  },
  {
    name: 'an atomic list inside an entry has one manager',
    steps: [
      apply('one', containers({ name: 'a', args: ['x'] })),
      apply('two', containers({ name: 'a', args: ['x', 'y'] })),
    ],
    conflicts: ['"one" .spec.containers[name="a"].args'],
  },
  {
    name: 'an update that removes an entry removes it from all managers',
    steps: [apply('one', containers({ name: 'a' }, { name: 'b' })), update('x', containers({ name: 'b' }))],
    managers: { one: '.spec.containers[name="b"] .spec.containers[name="b"].name' },
  },
  {
    name: 'an update owns the list that it adds',
    steps: [apply('one', spec({ text: 'x' })), update('x', spec({ text: 'x', containers: [{ name: 'a' }] }))],
    managers: {
      one: '.spec.text',
      'x (Update)': '.spec.containers .spec.containers[name="a"] .spec.containers[name="a"].name',
    },
  },
]);

const entryWithoutKey = thing({
  containers: undefined,
  raw: field(13, anyObject, { nullable: true }),
});
testScenarios('invalid list entries of an applied configuration', [
  {
    name: 'null in a set',
    steps: [apply('one', spec({ tags: [null] as Json }))],
    error: /\.spec\.tags: element 0: associative list without keys has an element that's an explicit null$/,
  },
  {
    name: 'an object in a set',
    steps: [apply('one', spec({ tags: ['a', {}] }))],
    error: /\.spec\.tags: element 1: associative list without keys has an element that's a map type$/,
  },
  {
    name: 'a list in a set',
    steps: [apply('one', spec({ tags: [['a']] }))],
    error: /element 0: not supported: associative list with lists as elements$/,
  },
  {
    name: 'null in an associative list',
    steps: [apply('one', spec({ containers: [null] as Json }))],
    error: /element 0: associative list with keys may not have a null element$/,
  },
  {
    name: 'a scalar in an associative list',
    steps: [apply('one', spec({ containers: ['a'] }))],
    error: /element 0: associative list with keys may not have non-map elements$/,
  },
  {
    name: 'an entry without key when the key has no default',
    steps: [schema(entryWithoutKey), apply('one', containers({ name: 'a' }))],
    error: /\.spec\.containers: field not declared in schema$/,
  },
]);

/** Stores a list with duplicates, as an older server may have. */
const stored = (values: JsonObject): Step =>
  set((fixture) => {
    if (fixture.live === undefined) throw new Error('nothing there');
    fixture.live = { ...fixture.live, spec: { ...(fixture.live['spec'] as JsonObject), ...values } };
  });

testScenarios('duplicates stored by an older server', [
  {
    name: 'an apply may change other fields',
    steps: [apply('one', spec({ text: 'x' })), stored({ tags: ['a', 'a'] }), apply('one', spec({ text: 'y' }))],
    object: withDefault({ text: 'y', tags: ['a', 'a'] }),
  },
  {
    name: 'an apply of the value leaves it once',
    steps: [apply('one', spec({ text: 'x' })), stored({ tags: ['a', 'a', 'b'] }), apply('one', tags('a'))],
    object: withDefault({ tags: ['a', 'b'] }),
    managers: { one: '.spec.tags[="a"]' },
  },
  {
    name: 'entries with the same key are replaced, not merged',
    steps: [
      apply('one', spec({ text: 'x' })),
      stored({
        containers: [
          { name: 'a', image: 'i' },
          { name: 'a', args: ['x'] },
        ],
      }),
      apply('one', containers({ name: 'a', image: 'j' })),
    ],
    object: withDefault({ containers: [{ name: 'a', image: 'j' }] }),
  },
  {
    name: 'an update that adds duplicates owns them as one value',
    steps: [
      update('x', containers({ name: 'a', image: 'i' })),
      update('y', containers({ name: 'a', image: 'i' }, { name: 'a', image: 'j' })),
    ],
    managers: {
      'x (Update)': '.spec .spec.containers .spec.replicas',
      'y (Update)': '.spec.containers[name="a"]',
    },
  },
  {
    name: 'an update that changes duplicates owns them as one value',
    steps: [
      update('x', containers({ name: 'a', image: 'i' }, { name: 'a', image: 'j' })),
      update('y', containers({ name: 'a', image: 'i' }, { name: 'a', image: 'k' })),
    ],
    managers: { 'x (Update)': '.spec .spec.containers .spec.replicas', 'y (Update)': '.spec.containers[name="a"]' },
  },
  {
    name: 'an update that leaves one of the duplicates owns it',
    steps: [
      update('x', containers({ name: 'a', image: 'i' }, { name: 'a', image: 'j' })),
      update('y', containers({ name: 'a', image: 'j' })),
    ],
    managers: {
      'x (Update)': '.spec .spec.containers .spec.replicas',
      'y (Update)': '.spec.containers[name="a"] .spec.containers[name="a"].image .spec.containers[name="a"].name',
    },
  },
  {
    name: 'an update that keeps the duplicates owns nothing',
    steps: [
      update('x', containers({ name: 'a' }, { name: 'a', image: 'j' })),
      update('y', spec({ text: 'x', containers: [{ name: 'a' }, { name: 'a', image: 'j' }] })),
    ],
    managers: {
      'x (Update)': '.spec .spec.containers .spec.containers[name="a"] .spec.replicas',
      'y (Update)': '.spec.text',
    },
  },
]);

testScenarios('maps, structs and values without a schema', [
  {
    name: 'entries of a map of structs',
    steps: [apply('one', spec({ pairs: { x: { a: '1' } } })), apply('two', spec({ pairs: { x: { b: '2' } } }))],
    object: withDefault({ pairs: { x: { a: '1', b: '2' } } }),
    managers: { one: '.spec.pairs.x .spec.pairs.x.a', two: '.spec.pairs.x .spec.pairs.x.b' },
  },
  {
    name: 'an entry of a map that two managers apply loses only the fields of the one',
    steps: [
      apply('one', spec({ pairs: { x: { a: '1' } } })),
      apply('two', spec({ pairs: { x: { b: '2' } } })),
      apply('one', spec({ text: 'x' })),
    ],
    object: withDefault({ text: 'x', pairs: { x: { b: '2' } } }),
  },
  {
    name: 'an entry of a map without fields stays while a manager owns the entry',
    steps: [
      apply('one', spec({ pairs: { x: { a: '1' } } })),
      forceApply('two', spec({ pairs: { x: { a: '2' } } })),
      apply('two', spec({ text: 'x' })),
    ],
    object: withDefault({ text: 'x', pairs: { x: {} } }),
    managers: { one: '.spec.pairs.x', two: '.spec.text' },
  },
  {
    name: 'map keys named like members of every object',
    steps: [apply('one', { data: { constructor: '1', toString: '2' } }), apply('two', { data: { constructor: '2' } })],
    conflicts: ['"one" .data.constructor'],
  },
  {
    name: 'an atomic map is replaced',
    steps: [apply('one', spec({ selector: { a: '1' } })), apply('one', spec({ selector: { b: '1' } }))],
    object: withDefault({ selector: { b: '1' } }),
    managers: { one: '.spec.selector' },
  },
  {
    name: 'structType atomic',
    steps: [apply('one', spec({ ref: { kind: 'K', name: 'n' } })), apply('one', spec({ ref: { kind: 'K' } }))],
    object: withDefault({ ref: { kind: 'K' } }),
    managers: { one: '.spec.ref' },
  },
  {
    name: 'mapType of the field precedes structType',
    steps: [apply('one', spec({ whole: { type: 'x' }, strategy: { type: 'x' } }))],
    managers: { one: '.spec.strategy.type .spec.whole' },
  },
  {
    name: 'an empty struct is owned',
    steps: [apply('one', spec({ strategy: {} }))],
    object: withDefault({ strategy: {} }),
    managers: { one: '.spec.strategy' },
  },
  {
    name: 'objects without a schema are granular',
    steps: [apply('one', spec({ free: { a: { x: 1 } } })), apply('two', spec({ free: { a: { y: 2 } } }))],
    object: withDefault({ free: { a: { x: 1, y: 2 } } }),
    managers: { one: '.spec.free.a .spec.free.a.x', two: '.spec.free.a .spec.free.a.y' },
  },
  {
    name: 'lists without a schema are atomic',
    steps: [apply('one', spec({ free: { a: [1] } })), apply('two', spec({ free: { a: [1, 2] } }))],
    conflicts: ['"one" .spec.free.a'],
  },
  {
    name: 'a value without a schema may change its JSON type',
    steps: [apply('one', spec({ free: { a: { x: 1 } } })), apply('one', spec({ free: { a: 'text' } }))],
    object: withDefault({ free: { a: 'text' } }),
    managers: { one: '.spec.free.a' },
  },
  {
    name: 'a change of the JSON type conflicts with the managers of its members',
    steps: [apply('one', spec({ free: { a: { x: 1 } } })), apply('two', spec({ free: { a: [1] } }))],
    conflicts: ['"one" .spec.free.a'],
  },
  {
    name: 'an opaque object has one manager',
    steps: [apply('one', spec({ raw: { a: 1 } })), apply('two', spec({ raw: { b: 1 } }))],
    conflicts: ['"one" .spec.raw'],
  },
  {
    name: 'a forced apply replaces an opaque object',
    steps: [apply('one', spec({ raw: { a: 1 } })), forceApply('two', spec({ raw: { b: 1 } }))],
    object: withDefault({ raw: { b: 1 } }),
    managers: { two: '.spec.raw' },
  },
  {
    name: 'a client may set managedFields',
    steps: [
      apply('one', { data: { a: '1' } }),
      update('x', {
        data: { a: '1' },
        metadata: { managedFields: [entry('two', { 'f:data': { 'f:a': {} } }, { operation: 'Apply' })] },
      }),
    ],
    managers: { two: '.data.a' },
  },
]);
