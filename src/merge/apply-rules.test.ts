import { describe, expect, it } from 'vitest';
import { type ApiObject, isJsonObject, type JsonObject } from '../meta/index.ts';
import { field, int32, list, map, string, struct } from '../schema/index.ts';
import { applyAtOnce } from './testing/apply.ts';
import {
  apply,
  entry,
  Fixture,
  forceApply,
  managedPaths,
  run,
  type Scenario,
  schema,
  update,
} from './testing/scenario.ts';
import { testScenarios } from './testing/test-scenarios.ts';
import { thing } from './testing/thing.ts';

// The numbers are those of "Server-side apply rules" in the specification.

const data = (values: { [key: string]: string }) => ({ data: values });
const replicas = (count: number) => ({ spec: { replicas: count } });

testScenarios('rule 1: an applied configuration creates the object with defaults, or merges into the live object', [
  {
    name: 'a created object has defaults that nobody owns',
    steps: [apply('one', { data: { a: '1' }, spec: { text: 'x' } })],
    object: { data: { a: '1' }, spec: { replicas: 1, text: 'x' } },
    managers: { one: '.data.a .spec.text' },
  },
  { name: 'an applied configuration may hold the identity alone', steps: [apply('one', {})], object: {}, managers: {} },
  {
    name: 'an empty map is owned',
    steps: [apply('one', data({}))],
    object: {},
    managers: { one: '.data' },
  },
  {
    name: 'adding an entry to an empty map changes the map',
    steps: [apply('one', data({})), apply('two', data({ a: '1' }))],
    conflicts: ['"one" .data'],
  },
  {
    name: 'an empty associative list is not owned',
    steps: [apply('one', { data: { a: '1' }, spec: { tags: [] } })],
    managers: { one: '.data.a' },
  },
  {
    name: 'an empty atomic list is owned',
    steps: [apply('one', { spec: { args: [] } })],
    managers: { one: '.spec.args' },
  },
  {
    name: 'merges into the live object',
    steps: [apply('one', data({ a: '1' })), apply('two', data({ b: '2' }))],
    object: data({ a: '1', b: '2' }),
    managers: { one: '.data.a', two: '.data.b' },
  },
  {
    name: 'an explicit null is owned and does not change a map',
    steps: [apply('one', data({ a: '1' })), apply('two', { data: null })],
    object: data({ a: '1' }),
    managers: { one: '.data.a', two: '.data' },
  },
  {
    name: 'an explicit null does not remove values of other managers',
    steps: [apply('one', { spec: { text: 'x' } }), apply('two', { spec: { text: null } })],
    conflicts: ['"one" .spec.text'],
  },
  {
    name: 'the identity of an object is not owned',
    steps: [
      apply('one', { metadata: { name: 't', namespace: 'n', uid: 'u', resourceVersion: '1', labels: { l: '1' } } }),
    ],
    managers: { one: '.metadata.labels.l' },
  },
  {
    name: 'a value of the wrong type fails, with its path',
    steps: [apply('one', { data: { a: 1 } })],
    error:
      'failed to create typed patch object (/t; /v1, Kind=Thing): .data.a: expected string, got &value.valueUnstructured{Value:1}',
  },
  {
    name: 'an undeclared field fails',
    steps: [apply('one', { bogus: 1 })],
    error: 'failed to create typed patch object (/t; /v1, Kind=Thing): .bogus: field not declared in schema',
  },
  {
    name: 'an undeclared field inside an atomic struct fails, too',
    steps: [apply('one', { spec: { ref: { nope: 'x' } } })],
    error: /\.spec\.ref\.nope: field not declared in schema$/,
  },
  {
    name: 'several errors are reported together',
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
    name: 'a duplicate entry fails',
    steps: [apply('one', { spec: { containers: [{ name: 'a' }, { name: 'a' }] } })],
    error: /: \.spec\.containers: duplicate entries for key \[name="a"\]$/,
  },
  {
    name: 'a duplicate value of a set fails',
    steps: [apply('one', { metadata: { finalizers: ['e.com/a', 'e.com/a'] } })],
    error: /: \.metadata\.finalizers: duplicate entries for key \[="e\.com\/a"\]$/,
  },
  {
    name: 'a failed apply does not change the object',
    steps: [apply('one', data({ a: '1' })), apply('two', { bogus: 1 })],
    error: /bogus/,
    object: data({ a: '1' }),
    managers: { one: '.data.a' },
  },
]);

testScenarios('rule 3: an applied configuration may not set managedFields', [
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
    name: 'null is allowed',
    steps: [apply('one', { metadata: { managedFields: null }, data: { a: '1' } })],
    managers: { one: '.data.a' },
  },
]);

const rule4: Scenario[] = [
  {
    name: 'equal values of two appliers are shared',
    steps: [apply('one', data({ a: '1' })), apply('two', data({ a: '1' }))],
    object: data({ a: '1' }),
    managers: { one: '.data.a', two: '.data.a' },
  },
  {
    name: 'a change of a shared field conflicts with the other manager',
    steps: [apply('one', data({ a: '1' })), apply('two', data({ a: '1' })), apply('two', data({ a: '2' }))],
    conflicts: ['"one" .data.a'],
    object: data({ a: '1' }),
  },
  {
    name: 'a change of a shared field conflicts with each other manager',
    steps: [
      apply('one', data({ a: '1' })),
      apply('two', data({ a: '1' })),
      apply('three', data({ a: '1' })),
      apply('one', data({ a: '2' })),
    ],
    conflicts: ['"three" .data.a', '"two" .data.a'],
  },
  {
    name: 'the only manager of a field changes it without conflict',
    steps: [apply('one', data({ a: '1' })), apply('one', data({ a: '2' }))],
    object: data({ a: '2' }),
    managers: { one: '.data.a' },
  },
  {
    name: 'a field left out stays for its other managers',
    steps: [apply('one', data({ a: '1' })), apply('two', data({ a: '1' })), apply('one', data({}))],
    object: data({ a: '1' }),
    managers: { one: '.data', two: '.data.a' },
  },
  {
    name: 'a field left out that no other manager owns is pruned',
    steps: [apply('one', data({ a: '1', b: '1' })), apply('one', data({ a: '1' }))],
    object: data({ a: '1' }),
    managers: { one: '.data.a' },
  },
  {
    name: 'a pruned field returns to its default',
    steps: [apply('one', { spec: { replicas: 3, text: 'x' } }), apply('one', { spec: { text: 'x' } })],
    object: { spec: { replicas: 1, text: 'x' } },
    managers: { one: '.spec.text' },
  },
  {
    name: 'a struct is pruned with its last field',
    steps: [apply('one', { data: { a: '1' }, spec: { text: 'x' } }), apply('one', data({ a: '1' }))],
    object: data({ a: '1' }),
    managers: { one: '.data.a' },
  },
  {
    name: 'a struct with a field of another manager stays',
    steps: [apply('one', { spec: { text: 'x' } }), apply('two', { spec: { flag: true } }), apply('one', {})],
    object: { spec: { flag: true, replicas: 1 } },
    managers: { two: '.spec.flag' },
  },
  {
    name: 'a manager that applies no fields has no entry',
    steps: [apply('one', data({ a: '1' })), apply('two', data({ b: '1' })), apply('one', {})],
    object: data({ b: '1' }),
    managers: { two: '.data.b' },
  },
  {
    name: 'a nested map is pruned with its last entry',
    steps: [apply('one', { metadata: { labels: { l: '1' } }, data: { a: '1' } }), apply('one', data({ a: '1' }))],
    object: data({ a: '1' }),
  },
  {
    name: 'a field left out stays when an update owns it',
    steps: [
      apply('one', data({ a: '1' })),
      update('two', data({ a: '2' })),
      apply('one', data({ a: '2' })),
      apply('one', {}),
    ],
    object: data({ a: '2' }),
    managers: { 'two (Update)': '.data.a' },
  },
  {
    name: 'a field that the manager never applied is not pruned',
    steps: [apply('one', data({ a: '1' })), update('two', data({ a: '1', b: '2' })), apply('one', {})],
    object: data({ b: '2' }),
    managers: { 'two (Update)': '.data.b' },
  },
  {
    name: 'a value without a manager is not pruned with its neighbours',
    steps: [
      update('two', data({ a: '1', b: '2' })),
      update('two', { ...data({ a: '1', b: '2' }), metadata: { managedFields: [entry('x', { 'f:spec': {} })] } }),
      apply('one', data({ a: '1' })),
      apply('one', data({})),
    ],
    object: data({ b: '2' }),
  },
  {
    name: 'a struct that another manager owns stays when its last field is pruned',
    steps: [
      update('one', { spec: { strategy: { type: 'x' } } }),
      forceApply('two', { spec: { strategy: { type: 'y' } } }),
      apply('two', { spec: {} }),
    ],
    object: { spec: { replicas: 1, strategy: {} } },
    managers: { 'one (Update)': '.spec .spec.replicas .spec.strategy', two: '.spec' },
  },
  {
    name: 'an empty struct that another manager applies stays',
    steps: [
      apply('one', { spec: { strategy: {} } }),
      apply('two', { spec: { strategy: { type: 'y' } } }),
      apply('two', { spec: {} }),
    ],
    object: { spec: { replicas: 1, strategy: {} } },
    managers: { one: '.spec.strategy', two: '.spec' },
  },
  {
    name: 'zero values are shared',
    steps: [apply('one', { data: {}, spec: { text: '' } }), apply('two', { data: {}, spec: { text: '' } })],
    managers: { one: '.data .spec.text', two: '.data .spec.text' },
  },
  {
    name: 'equal quantities in different formats are one value',
    steps: [
      apply('one', { spec: { containers: [{ name: 'a', limits: { cpu: '1' } }] } }),
      apply('two', { spec: { containers: [{ name: 'a', limits: { cpu: '1000m' } }] } }),
    ],
    object: { spec: { replicas: 1, containers: [{ name: 'a', limits: { cpu: '1' } }] } },
  },
  {
    name: 'applying a shared value again changes nothing',
    steps: [apply('one', data({ a: '1' })), apply('two', data({ a: '1' })), apply('two', data({ a: '1' }))],
    managers: { one: '.data.a', two: '.data.a' },
  },
];
testScenarios('rule 4: equal values are shared, and fields left out are pruned', rule4);

testScenarios('rule 5: a change of fields of other managers conflicts unless forced', [
  {
    name: 'a conflict names its field',
    steps: [apply('one', data({ a: '1' })), apply('two', data({ a: '2' }))],
    conflicts: ['"one" .data.a'],
    error: 'Apply failed with 1 conflict: conflict with "one": .data.a',
    object: data({ a: '1' }),
    managers: { one: '.data.a' },
  },
  {
    name: 'a conflict with an update names its version',
    steps: [update('editor', data({ a: '1' })), apply('two', data({ a: '2' }))],
    conflicts: ['"editor" using v1 .data.a'],
  },
  {
    name: 'a conflict with a write to a subresource names the subresource',
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
    name: 'fields come before the fields of nested objects',
    steps: [
      apply('one', { spec: { strategy: { type: 'x' }, text: 'x' } }),
      apply('two', { spec: { strategy: { type: 'y' }, text: 'y' } }),
    ],
    error: 'Apply failed with 2 conflicts: conflicts with "one":\n- .spec.text\n- .spec.strategy.type',
  },
  {
    name: 'a forced apply overwrites the value and is its only manager',
    steps: [apply('one', data({ a: '1' })), forceApply('two', data({ a: '2' }))],
    object: data({ a: '2' }),
    managers: { two: '.data.a' },
  },
  {
    name: 'a forced apply takes only the fields that it changes',
    steps: [apply('one', data({ a: '1', b: '1', c: '1' })), forceApply('two', data({ a: '2', b: '1' }))],
    object: data({ a: '2', b: '1', c: '1' }),
    managers: { one: '.data.b .data.c', two: '.data.a .data.b' },
  },
  {
    name: 'a forced apply takes fields from several managers',
    steps: [
      apply('one', data({ a: '1', x: '1' })),
      apply('two', data({ a: '1' })),
      update('three', data({ a: '1', x: '1', b: '1' })),
      forceApply('four', data({ a: '2', b: '2' })),
    ],
    managers: { one: '.data.x', four: '.data.a .data.b' },
  },
  {
    name: 'force without a conflict has no effect',
    steps: [apply('one', data({ a: '1' })), forceApply('two', data({ a: '1' }))],
    managers: { one: '.data.a', two: '.data.a' },
  },
  {
    name: 'resolved by leaving the field out',
    steps: [apply('one', replicas(1)), forceApply('scaler', replicas(3)), apply('one', { spec: { text: 'x' } })],
    object: { spec: { replicas: 3, text: 'x' } },
    managers: { one: '.spec.text', scaler: '.spec.replicas' },
  },
  {
    name: 'resolved by applying the live value, which is then shared',
    steps: [apply('one', replicas(1)), forceApply('scaler', replicas(3)), apply('one', replicas(3))],
    managers: { one: '.spec.replicas', scaler: '.spec.replicas' },
  },
  {
    name: 'the manager that lost a field conflicts when it applies the old value again',
    steps: [apply('one', replicas(1)), forceApply('scaler', replicas(3)), apply('one', replicas(1))],
    conflicts: ['"scaler" .spec.replicas'],
  },
  {
    name: 'a defaulted field has no manager and never conflicts',
    steps: [apply('one', { spec: { text: 'x' } }), apply('two', replicas(5))],
    object: { spec: { text: 'x', replicas: 5 } },
    managers: { one: '.spec.text', two: '.spec.replicas' },
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
    name: 'an apply conflicts with updates of the same manager',
    steps: [update('one', data({ a: '1' })), apply('one', data({ a: '2' }))],
    conflicts: ['"one" using v1 .data.a'],
  },
]);

it('rule 5: the message of several conflicts is grouped by manager', () => {
  const { error } = run([
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

testScenarios('rule 6: an update never conflicts and owns the fields that it changes', [
  {
    name: 'the writer owns a replaced value',
    steps: [apply('one', data({ a: '1', b: '1' })), update('two', data({ a: '2', b: '1' }))],
    object: data({ a: '2', b: '1' }),
    managers: { one: '.data.b', 'two (Update)': '.data.a' },
  },
  {
    name: 'an equal value keeps its manager',
    steps: [apply('one', data({ a: '1' })), update('two', data({ a: '1' }))],
    managers: { one: '.data.a' },
  },
  {
    name: 'the manager that lost a field conflicts afterwards',
    steps: [apply('one', data({ a: '1' })), update('two', data({ a: '2' })), apply('one', data({ a: '1' }))],
    conflicts: ['"two" using v1 .data.a'],
  },
  {
    name: 'a field that an update removes has no manager',
    steps: [apply('one', data({ a: '1', b: '1' })), update('two', data({ a: '1' }))],
    managers: { one: '.data.a' },
  },
  {
    name: 'a manager may apply a removed field again',
    steps: [
      apply('one', data({ a: '1', b: '1' })),
      update('two', data({ a: '1' })),
      apply('one', data({ a: '1', b: '1' })),
    ],
    object: data({ a: '1', b: '1' }),
    managers: { one: '.data.a .data.b' },
  },
  {
    name: 'an update owns a new map',
    steps: [update('two', data({ a: '1' }))],
    managers: { 'two (Update)': '.data .data.a' },
  },
  {
    name: 'the creator owns all fields, defaults included',
    steps: [update('two', { spec: { text: 'x' } })],
    managers: { 'two (Update)': '.spec .spec.replicas .spec.text' },
  },
  {
    name: 'an update that changes nothing owns nothing',
    steps: [apply('one', { spec: { text: 'x' } }), update('two', { spec: { text: 'x', replicas: 1 } })],
    managers: { one: '.spec.text' },
  },
]);

testScenarios('rule 7: the manager that changes a value owns it', [
  {
    name: 'an update after an update',
    steps: [update('one', data({ a: '1', b: '1' })), update('two', data({ a: '2', b: '1' }))],
    managers: { 'one (Update)': '.data .data.b', 'two (Update)': '.data.a' },
  },
  {
    name: 'alternating updates',
    steps: [update('one', data({ a: '1' })), update('two', data({ a: '2' })), update('one', data({ a: '1' }))],
    managers: { 'one (Update)': '.data .data.a' },
  },
  {
    name: 'a list entry that an update changes',
    steps: [
      apply('one', { spec: { containers: [{ name: 'a', image: 'i:1' }] } }),
      update('two', { spec: { containers: [{ name: 'a', image: 'i:2' }] } }),
    ],
    managers: {
      one: '.spec.containers[name="a"] .spec.containers[name="a"].name',
      'two (Update)': '.spec.containers[name="a"].image',
    },
  },
  {
    name: 'nobody owns a value of an object without managed fields',
    steps: [
      apply('one', data({ a: '1' })),
      update('two', { ...data({ a: '1' }), metadata: { managedFields: [{}] } }),
      update('three', data({ a: '1', b: '2' })),
    ],
    managers: {},
  },
  {
    name: 'a forced apply takes a value, an update takes it back',
    steps: [update('one', data({ a: '1' })), forceApply('two', data({ a: '2' })), update('one', data({ a: '3' }))],
    managers: { 'one (Update)': '.data .data.a' },
  },
]);

describe('times of entries', () => {
  const entryOf = (...configs: readonly JsonObject[]) => {
    const { fixture } = run([update('one', data({ a: '1' })), ...configs.map((config) => apply('two', config))]);
    return fixture.live?.metadata.managedFields?.find((found) => isJsonObject(found) && found['manager'] === 'two');
  };

  it('an apply of values that the object has adds an entry without a time', () => {
    expect(entryOf(data({ a: '1' }))).not.toHaveProperty('time');
  });

  it('an apply of an empty map that the object does not have sets the time', () => {
    expect(entryOf({ metadata: { labels: {} } })).toHaveProperty('time', '2024-01-01T00:00:02Z');
  });
});

describe('rule 8: an apply creates a missing object', () => {
  it('without a live object, as the caller checks the permission to create', () => {
    const fixture = new Fixture();
    const live: ApiObject | undefined = fixture.live;
    expect(live).toBeUndefined();
    const applyConfig = { kind: 'Thing', apiVersion: 'v1', metadata: { name: 't' }, data: { a: '1' } };
    const writer = { manager: 'm', apiVersion: 'v1', now: fixture.now };
    const request = { type: fixture.type(), writer, live, applyConfig, force: false };
    const created = applyAtOnce(request, (object) => fixture.decode(object));
    expect(created).toMatchObject({ kind: 'Thing', apiVersion: 'v1', metadata: { name: 't' }, data: { a: '1' } });
    expect(managedPaths(created)).toEqual({ m: '.data.a' });
  });
});

// Rule 9 is in client-side.test.ts.

const word = struct('test/v1.Word', { name: field(1, string), value: field(2, string) });
const atomicMap = thing({ pairs: field(11, map(word), { mapType: 'atomic' }) });
const granularPairs = thing({ pairs: field(11, map(word)) });

testScenarios('rule 10: the list type, map type and struct type may change', [
  {
    name: 'list to atomic: the manager of an entry owns the whole list',
    steps: [
      apply('one', { spec: { tags: ['a'] } }),
      apply('two', { spec: { tags: ['b'] } }),
      schema(thing({ tags: field(4, list(string), { listType: 'atomic' }) })),
      update('x', { spec: { tags: ['a', 'b'], text: 'y' } }),
    ],
    managers: { one: '.spec.tags', two: '.spec.tags', 'x (Update)': '.spec.text' },
  },
  {
    name: 'list to atomic: a later change conflicts with all managers',
    steps: [
      apply('one', { spec: { tags: ['a'] } }),
      apply('two', { spec: { tags: ['b'] } }),
      schema(thing({ tags: field(4, list(string), { listType: 'atomic' }) })),
      apply('one', { spec: { tags: ['a', 'c'] } }),
    ],
    conflicts: ['"two" .spec.tags'],
  },
  {
    name: 'associative list to atomic',
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
    name: 'atomic to set: no conflict arises, and values of other managers stay',
    steps: [
      apply('one', { spec: { args: ['a', 'b'] } }),
      schema(thing({ args: field(10, list(string), { listType: 'set' }) })),
      apply('two', { spec: { args: ['c'] } }),
    ],
    object: { spec: { replicas: 1, args: ['a', 'b', 'c'] } },
    managers: { one: '.spec.args', two: '.spec.args[="c"]' },
  },
  {
    name: 'atomic to set: the old manager owns entries when it applies again',
    steps: [
      apply('one', { spec: { args: ['a', 'b'] } }),
      schema(thing({ args: field(10, list(string), { listType: 'set' }) })),
      apply('one', { spec: { args: ['a', 'b'] } }),
    ],
    managers: { one: '.spec.args[="a"] .spec.args[="b"]' },
  },
  {
    name: 'atomic to associative list: no conflict arises',
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
    name: 'a field that the schema no longer declares has no manager',
    steps: [
      apply('one', { spec: { text: 'x', flag: true } }),
      schema(thing({ flag: undefined })),
      update('two', { spec: { text: 'y' } }),
    ],
    object: { spec: { text: 'y', replicas: 1 } },
    managers: { 'two (Update)': '.spec.text' },
  },
  {
    name: 'a struct that became a scalar',
    steps: [
      apply('one', { spec: { strategy: { type: 'x' }, text: 'x' } }),
      schema(thing({ strategy: field(8, string) })),
      apply('two', { spec: { strategy: 'y' } }),
    ],
    object: { spec: { replicas: 1, text: 'x', strategy: 'y' } },
    managers: { one: '.spec.text', two: '.spec.strategy' },
  },
]);
