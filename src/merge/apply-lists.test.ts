import type { Json, JsonObject } from '../meta/index.ts';
import { anyObject, field } from '../schema/index.ts';
import { apply, entry, forceApply, type Step, type Story, schema, set, update } from './testing/story.ts';
import { tell } from './testing/tell.ts';
import { thing } from './testing/thing.ts';

const spec = (values: JsonObject): JsonObject => ({ spec: values });
const tags = (...values: string[]) => spec({ tags: values });
const withDefault = (values: JsonObject): JsonObject => ({ spec: { replicas: 1, ...values } });
const containers = (...entries: JsonObject[]) => spec({ containers: entries });
const ports = (...entries: JsonObject[]) => containers({ name: 'a', ports: entries });

/** The order of a merged list, one letter for each entry. */
const ordered = (name: string, live: string, applyConfig: string, expected: string): Story => ({
  name: `${live} with ${applyConfig}: ${name}`,
  steps: [update('x', tags(...live.split(''))), apply('one', tags(...applyConfig.split('')))],
  object: withDefault({ tags: expected.split('') }),
});

tell('sets', [
  {
    name: 'each value has its own owners',
    steps: [apply('one', tags('a', 'b')), apply('two', tags('b', 'c'))],
    object: withDefault({ tags: ['a', 'b', 'c'] }),
    owners: { one: '.spec.tags[="a"] .spec.tags[="b"]', two: '.spec.tags[="b"] .spec.tags[="c"]' },
  },
  {
    name: 'a value left out goes when nobody else owns it',
    steps: [apply('one', tags('a', 'b')), apply('two', tags('b')), apply('one', tags())],
    object: withDefault({ tags: ['b'] }),
    owners: { two: '.spec.tags[="b"]' },
  },
  {
    name: 'values never conflict',
    steps: [update('x', tags('a')), apply('one', tags('b'))],
    object: withDefault({ tags: ['a', 'b'] }),
  },
  {
    name: 'an update that adds a value owns that value',
    steps: [apply('one', tags('a')), update('x', tags('b', 'a'))],
    owners: { one: '.spec.tags[="a"]', 'x (Update)': '.spec.tags[="b"]' },
  },
  {
    name: 'an update that orders anew owns nothing',
    steps: [apply('one', tags('a', 'b')), update('x', tags('b', 'a'))],
    object: withDefault({ tags: ['b', 'a'] }),
    owners: { one: '.spec.tags[="a"] .spec.tags[="b"]' },
  },
  {
    name: 'numbers are told from texts',
    steps: [apply('one', spec({ numbers: [1, 10, 2] }))],
    owners: { one: '.spec.numbers[=1] .spec.numbers[=10] .spec.numbers[=2]' },
  },
  {
    name: 'a list with the patch strategy merge and no key is a set',
    steps: [apply('one', spec({ finalizers: ['a'] })), apply('two', spec({ finalizers: ['b'] }))],
    object: withDefault({ finalizers: ['a', 'b'] }),
    owners: { one: '.spec.finalizers[="a"]', two: '.spec.finalizers[="b"]' },
  },
  {
    name: 'a set without values conflicts with nobody',
    steps: [apply('one', tags('a')), apply('two', { spec: { tags: [], text: 'x' } })],
    object: withDefault({ text: 'x', tags: ['a'] }),
    owners: { one: '.spec.tags[="a"]', two: '.spec.text' },
  },
]);

tell('the order of merged lists', [
  ordered('the intent goes behind', 'ab', 'cd', 'abcd'),
  ordered('new entries go before the shared one they stand before', 'ab', 'cb', 'acb'),
  ordered('the intent’s order wins among shared entries', 'ab', 'ba', 'ba'),
  ordered('live entries stay where they are', 'abc', 'b', 'abc'),
  ordered('live entries keep their place before the next shared one', 'xaybz', 'ab', 'xaybz'),
  ordered('a shared one that comes later in the intent goes behind', 'xaybz', 'ba', 'xybza'),
  ordered('new entries at the end', 'ab', 'abc', 'abc'),
  ordered('new entries in front', 'ab', 'cab', 'cab'),
  ordered('new entries between', 'ab', 'acb', 'acb'),
  ordered('nothing new', 'abc', 'abc', 'abc'),
  ordered('reversed', 'abc', 'cba', 'cba'),
]);

tell('lists of entries', [
  {
    name: 'two appliers own an entry each',
    steps: [apply('one', containers({ name: 'a', image: 'i' })), apply('two', containers({ name: 'b', image: 'j' }))],
    object: withDefault({
      containers: [
        { name: 'a', image: 'i' },
        { name: 'b', image: 'j' },
      ],
    }),
    owners: {
      one: '.spec.containers[name="a"] .spec.containers[name="a"].image .spec.containers[name="a"].name',
      two: '.spec.containers[name="b"] .spec.containers[name="b"].image .spec.containers[name="b"].name',
    },
  },
  {
    name: 'two appliers own fields of one entry',
    steps: [apply('one', containers({ name: 'a', image: 'i' })), apply('two', containers({ name: 'a', args: ['x'] }))],
    object: withDefault({ containers: [{ name: 'a', image: 'i', args: ['x'] }] }),
    owners: {
      one: '.spec.containers[name="a"] .spec.containers[name="a"].image .spec.containers[name="a"].name',
      two: '.spec.containers[name="a"] .spec.containers[name="a"].args .spec.containers[name="a"].name',
    },
  },
  {
    name: 'a conflict inside an entry is told with its key',
    steps: [apply('one', containers({ name: 'a', image: 'i' })), apply('two', containers({ name: 'a', image: 'j' }))],
    conflicts: ['"one" .spec.containers[name="a"].image'],
  },
  {
    name: 'an entry left out goes',
    steps: [apply('one', containers({ name: 'a' }, { name: 'b' })), apply('one', containers({ name: 'b' }))],
    object: withDefault({ containers: [{ name: 'b' }] }),
  },
  {
    name: 'the last entry left out takes the list along',
    steps: [apply('one', spec({ text: 'x', containers: [{ name: 'a' }] })), apply('one', spec({ text: 'x' }))],
    object: withDefault({ text: 'x' }),
    owners: { one: '.spec.text' },
  },
  {
    name: 'an entry left out goes although an update owns a field of it',
    steps: [
      apply('one', containers({ name: 'a', image: 'i' }, { name: 'b' })),
      update('x', containers({ name: 'a', image: 'j' }, { name: 'b' })),
      apply('one', containers({ name: 'b' })),
    ],
    object: withDefault({ containers: [{ name: 'b' }] }),
    owners: { one: '.spec.containers[name="b"] .spec.containers[name="b"].name' },
  },
  {
    name: 'an entry that another applies, too, keeps the other’s fields',
    steps: [
      apply('one', containers({ name: 'a', image: 'i', args: ['x'] })),
      apply('two', containers({ name: 'a', image: 'i' })),
      apply('one', {}),
    ],
    object: withDefault({ containers: [{ name: 'a', image: 'i' }] }),
    owners: { two: '.spec.containers[name="a"] .spec.containers[name="a"].image .spec.containers[name="a"].name' },
  },
  {
    name: 'several keys, one of them by default',
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
    owners: {
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
    name: 'a key by default is the same entry as one that is spelled',
    steps: [
      apply('one', ports({ port: 80, name: 'h' })),
      apply('two', ports({ port: 80, protocol: 'TCP', name: 'g' })),
    ],
    conflicts: ['"one" .spec.containers[name="a"].ports[port=80,protocol="TCP"].name'],
  },
  {
    name: 'an entry without a key that has a zero value is the entry of that value',
    steps: [apply('one', containers({ image: 'i' }))],
    owners: { one: '.spec.containers[name=""] .spec.containers[name=""].image' },
  },
  {
    name: 'nested lists by the patch merge key',
    steps: [
      apply('one', containers({ name: 'a', env: [{ name: 'X', value: '1' }] })),
      apply('two', containers({ name: 'a', env: [{ name: 'Y', value: '2' }] })),
      apply('one', containers({ name: 'a' })),
    ],
    object: withDefault({ containers: [{ name: 'a', env: [{ name: 'Y', value: '2' }] }] }),
  },
  {
    name: 'an atomic list inside an entry belongs to one',
    steps: [
      apply('one', containers({ name: 'a', args: ['x'] })),
      apply('two', containers({ name: 'a', args: ['x', 'y'] })),
    ],
    conflicts: ['"one" .spec.containers[name="a"].args'],
  },
  {
    name: 'an update that removes an entry ends everyone’s ownership of it',
    steps: [apply('one', containers({ name: 'a' }, { name: 'b' })), update('x', containers({ name: 'b' }))],
    owners: { one: '.spec.containers[name="b"] .spec.containers[name="b"].name' },
  },
  {
    name: 'a list that an update adds counts itself',
    steps: [apply('one', spec({ text: 'x' })), update('x', spec({ text: 'x', containers: [{ name: 'a' }] }))],
    owners: {
      one: '.spec.text',
      'x (Update)': '.spec.containers .spec.containers[name="a"] .spec.containers[name="a"].name',
    },
  },
]);

const entryWithoutKey = thing({
  containers: undefined,
  raw: field(13, anyObject, { nullable: true }),
});
tell('entries that the intent may not have', [
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
    name: 'null among entries',
    steps: [apply('one', spec({ containers: [null] as Json }))],
    error: /element 0: associative list with keys may not have a null element$/,
  },
  {
    name: 'a scalar among entries',
    steps: [apply('one', spec({ containers: ['a'] }))],
    error: /element 0: associative list with keys may not have non-map elements$/,
  },
  {
    name: 'a list that the schema no longer has',
    steps: [schema(entryWithoutKey), apply('one', containers({ name: 'a' }))],
    error: /\.spec\.containers: field not declared in schema$/,
  },
]);

/** Brings in a list as an older server may have stored it. */
const stored = (values: JsonObject): Step =>
  set((world) => {
    if (world.live === undefined) throw new Error('nothing there');
    world.live = { ...world.live, spec: { ...(world.live['spec'] as JsonObject), ...values } };
  });

tell('duplicates from writes of another time', [
  {
    name: 'an applier may touch other fields',
    steps: [apply('one', spec({ text: 'x' })), stored({ tags: ['a', 'a'] }), apply('one', spec({ text: 'y' }))],
    object: withDefault({ text: 'y', tags: ['a', 'a'] }),
  },
  {
    name: 'an applier that names the value makes it one',
    steps: [apply('one', spec({ text: 'x' })), stored({ tags: ['a', 'a', 'b'] }), apply('one', tags('a'))],
    object: withDefault({ tags: ['a', 'b'] }),
    owners: { one: '.spec.tags[="a"]' },
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
    name: 'an update that brings them in owns them as one value',
    steps: [
      update('x', containers({ name: 'a', image: 'i' })),
      update('y', containers({ name: 'a', image: 'i' }, { name: 'a', image: 'j' })),
    ],
    owners: {
      'x (Update)': '.spec .spec.containers .spec.replicas',
      'y (Update)': '.spec.containers[name="a"]',
    },
  },
  {
    name: 'an update that changes them owns them as one value',
    steps: [
      update('x', containers({ name: 'a', image: 'i' }, { name: 'a', image: 'j' })),
      update('y', containers({ name: 'a', image: 'i' }, { name: 'a', image: 'k' })),
    ],
    owners: { 'x (Update)': '.spec .spec.containers .spec.replicas', 'y (Update)': '.spec.containers[name="a"]' },
  },
  {
    name: 'an update that ends them owns what is left',
    steps: [
      update('x', containers({ name: 'a', image: 'i' }, { name: 'a', image: 'j' })),
      update('y', containers({ name: 'a', image: 'j' })),
    ],
    owners: {
      'x (Update)': '.spec .spec.containers .spec.replicas',
      'y (Update)': '.spec.containers[name="a"] .spec.containers[name="a"].image .spec.containers[name="a"].name',
    },
  },
  {
    name: 'an update that keeps them owns nothing',
    steps: [
      update('x', containers({ name: 'a' }, { name: 'a', image: 'j' })),
      update('y', spec({ text: 'x', containers: [{ name: 'a' }, { name: 'a', image: 'j' }] })),
    ],
    owners: {
      'x (Update)': '.spec .spec.containers .spec.containers[name="a"] .spec.replicas',
      'y (Update)': '.spec.text',
    },
  },
]);

tell('maps, structs and values without a schema', [
  {
    name: 'entries of a map of structs',
    steps: [apply('one', spec({ pairs: { x: { a: '1' } } })), apply('two', spec({ pairs: { x: { b: '2' } } }))],
    object: withDefault({ pairs: { x: { a: '1', b: '2' } } }),
    owners: { one: '.spec.pairs.x .spec.pairs.x.a', two: '.spec.pairs.x .spec.pairs.x.b' },
  },
  {
    name: 'an entry of a map that two apply loses the fields of the one',
    steps: [
      apply('one', spec({ pairs: { x: { a: '1' } } })),
      apply('two', spec({ pairs: { x: { b: '2' } } })),
      apply('one', spec({ text: 'x' })),
    ],
    object: withDefault({ text: 'x', pairs: { x: { b: '2' } } }),
  },
  {
    name: 'an entry of a map that loses all of its fields stays for who owns the entry itself',
    steps: [
      apply('one', spec({ pairs: { x: { a: '1' } } })),
      forceApply('two', spec({ pairs: { x: { a: '2' } } })),
      apply('two', spec({ text: 'x' })),
    ],
    object: withDefault({ text: 'x', pairs: { x: {} } }),
    owners: { one: '.spec.pairs.x', two: '.spec.text' },
  },
  {
    name: 'keys that look like members of objects',
    steps: [apply('one', { data: { constructor: '1', toString: '2' } }), apply('two', { data: { constructor: '2' } })],
    conflicts: ['"one" .data.constructor'],
  },
  {
    name: 'an atomic map is replaced',
    steps: [apply('one', spec({ selector: { a: '1' } })), apply('one', spec({ selector: { b: '1' } }))],
    object: withDefault({ selector: { b: '1' } }),
    owners: { one: '.spec.selector' },
  },
  {
    name: 'an atomic struct by the mark of its type',
    steps: [apply('one', spec({ ref: { kind: 'K', name: 'n' } })), apply('one', spec({ ref: { kind: 'K' } }))],
    object: withDefault({ ref: { kind: 'K' } }),
    owners: { one: '.spec.ref' },
  },
  {
    name: 'the mark of a field goes before that of its type',
    steps: [apply('one', spec({ whole: { type: 'x' }, strategy: { type: 'x' } }))],
    owners: { one: '.spec.strategy.type .spec.whole' },
  },
  {
    name: 'an empty struct is owned itself',
    steps: [apply('one', spec({ strategy: {} }))],
    object: withDefault({ strategy: {} }),
    owners: { one: '.spec.strategy' },
  },
  {
    name: 'objects without a schema are granular',
    steps: [apply('one', spec({ free: { a: { x: 1 } } })), apply('two', spec({ free: { a: { y: 2 } } }))],
    object: withDefault({ free: { a: { x: 1, y: 2 } } }),
    owners: { one: '.spec.free.a .spec.free.a.x', two: '.spec.free.a .spec.free.a.y' },
  },
  {
    name: 'lists without a schema are atomic',
    steps: [apply('one', spec({ free: { a: [1] } })), apply('two', spec({ free: { a: [1, 2] } }))],
    conflicts: ['"one" .spec.free.a'],
  },
  {
    name: 'a value without a schema may become another kind of value',
    steps: [apply('one', spec({ free: { a: { x: 1 } } })), apply('one', spec({ free: { a: 'text' } }))],
    object: withDefault({ free: { a: 'text' } }),
    owners: { one: '.spec.free.a' },
  },
  {
    name: 'and conflicts with who owned what was in it',
    steps: [apply('one', spec({ free: { a: { x: 1 } } })), apply('two', spec({ free: { a: [1] } }))],
    conflicts: ['"one" .spec.free.a'],
  },
  {
    name: 'an object of any structure belongs to one',
    steps: [apply('one', spec({ raw: { a: 1 } })), apply('two', spec({ raw: { b: 1 } }))],
    conflicts: ['"one" .spec.raw'],
  },
  {
    name: 'by force it is replaced',
    steps: [apply('one', spec({ raw: { a: 1 } })), forceApply('two', spec({ raw: { b: 1 } }))],
    object: withDefault({ raw: { b: 1 } }),
    owners: { two: '.spec.raw' },
  },
  {
    name: 'a client may write down ownership itself',
    steps: [
      apply('one', { data: { a: '1' } }),
      update('x', {
        data: { a: '1' },
        metadata: { managedFields: [entry('two', { 'f:data': { 'f:a': {} } }, { operation: 'Apply' })] },
      }),
    ],
    owners: { two: '.data.a' },
  },
]);
