import { describe, expect, it } from 'vitest';
import { type ApiObject, atOnce, type Json, type JsonObject } from '../meta/index.ts';
import { setOf } from './field-set.ts';
import { sameManagedFields } from './managed-fields.ts';
import { fieldPath } from './path.ts';
import { applyAtOnce } from './testing/apply.ts';
import { apply, entry, forceApply, run, type Step, set, update } from './testing/scenario.ts';
import { testScenarios } from './testing/test-scenarios.ts';
import { updateManagedFields } from './update.ts';

const data = (values: { [key: string]: string }) => ({ data: values });
const managed = (managedFields: Json[] | null, values: { [key: string]: string }): JsonObject => ({
  metadata: { managedFields },
  data: values,
});

// "Update mechanisms" 5 of the specification.
testScenarios('update mechanisms 5: resetting managed fields', [
  {
    name: 'a list of one empty entry resets them',
    steps: [apply('one', data({ a: '1' })), update('x', managed([{}], { a: '1' }))],
    object: data({ a: '1' }),
    managers: {},
  },
  {
    name: 'an entry whose fields are all empty is an empty one',
    steps: [apply('one', data({ a: '1' })), update('x', managed([{ manager: '', time: null }], { a: '1' }))],
    managers: {},
  },
  {
    name: 'an empty list does not',
    steps: [apply('one', data({ a: '1' })), update('x', managed([], { a: '1' }))],
    managers: { one: '.data.a' },
  },
  {
    name: 'null does not',
    steps: [apply('one', data({ a: '1' })), update('x', managed(null, { a: '1' }))],
    managers: { one: '.data.a' },
  },
  {
    name: 'no list at all does not',
    steps: [apply('one', data({ a: '1' })), update('x', data({ a: '1' }))],
    managers: { one: '.data.a' },
  },
  {
    name: 'the reset precedes other changes, and the writer owns what it changed',
    steps: [apply('one', data({ a: '1', b: '1' })), update('x', managed([{}], { a: '2', b: '1' }))],
    managers: { 'x (Update)': '.data.a' },
  },
  {
    name: 'a reset with a removal leaves no entry',
    steps: [apply('one', data({ a: '1', b: '1' })), update('x', managed([{}], { a: '1' }))],
    managers: {},
  },
  {
    name: 'an empty list with other changes is ignored',
    steps: [apply('one', data({ a: '1', b: '1' })), update('x', managed([], { a: '2', b: '1' }))],
    managers: { one: '.data.b', 'x (Update)': '.data.a' },
  },
  {
    name: 'a write to a subresource cannot reset',
    steps: [apply('one', data({ a: '1' })), update('x', managed([{}], { a: '1' }), { subresource: 'status' })],
    managers: { one: '.data.a' },
  },
  {
    name: 'two empty entries are ignored',
    steps: [apply('one', data({ a: '1' })), update('x', managed([{}, {}], { a: '1' }))],
    managers: { one: '.data.a' },
  },
  {
    name: 'after a reset with a change no conflict arises',
    steps: [
      apply('one', data({ a: '1' })),
      update('x', managed([{}], { a: '1', b: '1' })),
      apply('two', data({ a: '2' })),
    ],
    managers: { two: '.data.a', 'x (Update)': '.data.b' },
  },
  {
    name: 'the first apply to an object without managed fields adds before-first-apply',
    steps: [apply('one', data({ a: '1' })), update('x', managed([{}], { a: '1' })), apply('two', data({ a: '2' }))],
    conflicts: ['"before-first-apply" using v1 .data.a'],
  },
  {
    name: 'an update in between adds no managed fields',
    steps: [
      apply('one', data({ a: '1' })),
      update('x', managed([{}], { a: '1' })),
      update('x', data({ a: '1', b: '1' })),
      apply('two', data({ a: '2' })),
    ],
    conflicts: ['"before-first-apply" using v1 .data.a'],
  },
  {
    name: 'before-first-apply shares equal values',
    steps: [
      apply('one', data({ a: '1', b: '1' })),
      update('x', managed([{}], { a: '1', b: '1' })),
      apply('two', data({ a: '1' })),
    ],
    managers: { two: '.data.a', 'before-first-apply (Update)': '.data .data.a .data.b' },
  },
]);

const owns = (...names: string[]): JsonObject => ({
  'f:data': Object.fromEntries(names.map((name) => [`f:${name}`, {}])),
});
testScenarios('managedFields set by a client', [
  {
    name: 'replaces the stored entries',
    steps: [apply('one', data({ a: '1' })), update('x', managed([entry('two', owns('a'))], { a: '1' }))],
    managers: { 'two (Update)': '.data.a' },
  },
  {
    name: 'is updated with the changes of the same write',
    steps: [apply('one', data({ a: '1' })), update('x', managed([entry('two', owns('a', 'b'))], { a: '1', b: '2' }))],
    managers: { 'two (Update)': '.data.a', 'x (Update)': '.data.b' },
  },
  {
    name: 'may be set on create',
    steps: [update('x', managed([entry('two', owns('z'))], { a: '1' }))],
    managers: { 'two (Update)': '.data.z', 'x (Update)': '.data .data.a' },
  },
  ...(
    [
      ['an unknown operation', entry('two', owns('a'), { operation: 'Patch' })],
      ['no version', entry('two', owns('a'), { apiVersion: '' })],
      ['another type of fields', entry('two', owns('a'), { fieldsType: 'FieldsV2' })],
      ['an invalid path element', entry('two', { data: {} })],
      ['keys that are not JSON', entry('two', { 'f:data': { 'k:{': {} } })],
      ['fields that are not an object', entry('two', { 'f:data': 1 })],
    ] as const
  ).map(([name, bad]) => ({
    name: `does not count with ${name}`,
    steps: [apply('one', data({ a: '1' })), update('x', managed([bad as Json], { a: '1' }))],
    managers: { one: '.data.a' },
  })),
  {
    name: 'is normalized',
    steps: [
      apply('one', { spec: { containers: [{ name: 'a', ports: [{ port: 80 }] }] } }),
      update('x', {
        spec: { containers: [{ name: 'a', ports: [{ port: 80 }] }] },
        metadata: {
          managedFields: [
            entry('two', {
              'f:spec': {
                'f:containers': {
                  'k:{ "name": "a" }': { 'f:ports': { 'k:{"protocol":"TCP","port":80}': { '.': {}, 'f:port': {} } } },
                },
              },
            }),
          ],
        },
      }),
    ],
    managers: {
      'two (Update)':
        '.spec.containers[name="a"].ports[port=80,protocol="TCP"] .spec.containers[name="a"].ports[port=80,protocol="TCP"].port',
    },
  },
]);

const status = setOf(fieldPath('status'));
const everythingElse = setOf(fieldPath('data'), fieldPath('spec'), fieldPath('metadata'));
const split: Step = set((fixture) => {
  fixture.kept = (subresource) => (subresource === 'status' ? everythingElse : status);
});
testScenarios('subresources and reset fields', [
  {
    name: 'an update of the main resource owns no status',
    steps: [split, update('x', { data: { a: '1' }, status: { count: 1 } })],
    managers: { 'x (Update)': '.data .data.a' },
  },
  {
    name: 'an apply to the main resource owns no status',
    steps: [split, apply('x', { data: { a: '1' }, status: { count: 1 } })],
    managers: { x: '.data.a' },
  },
  {
    name: 'an update of the status owns the status alone, in an entry of its own',
    steps: [
      split,
      update('x', data({ a: '1' })),
      update('x', { data: { a: '2' }, status: { count: 1 } }, { subresource: 'status' }),
    ],
    managers: { 'x (Update)': '.data .data.a', 'x/status (Update)': '.status .status.count' },
  },
  {
    name: 'an apply to the status',
    steps: [
      split,
      apply('x', data({ a: '1' })),
      apply('x', { status: { conditions: [{ type: 'Ready', status: 'True' }] } }, { subresource: 'status' }),
    ],
    managers: {
      x: '.data.a',
      'x/status':
        '.status.conditions[type="Ready"] .status.conditions[type="Ready"].status .status.conditions[type="Ready"].type',
    },
  },
  {
    name: 'an apply to the main resource prunes nothing of the status',
    steps: [
      split,
      apply('x', data({ a: '1' })),
      apply('x', { status: { count: 1 } }, { subresource: 'status' }),
      apply('x', data({ b: '1' })),
    ],
    object: { data: { b: '1' }, status: { count: 1 } },
    managers: { x: '.data.b', 'x/status': '.status.count' },
  },
  {
    name: 'reset fields never conflict',
    steps: [
      split,
      apply('x', data({ a: '1' })),
      apply('x', { status: { count: 1 } }, { subresource: 'status' }),
      apply('y', { status: { count: 2 }, data: { b: '1' } }),
    ],
    managers: { x: '.data.a', 'x/status': '.status.count', y: '.data.b' },
  },
  {
    name: 'applies to the status conflict with each other',
    steps: [
      split,
      apply('x', data({ a: '1' })),
      apply('x', { status: { count: 1 } }, { subresource: 'status' }),
      apply('y', { status: { count: 2 } }, { subresource: 'status' }),
    ],
    conflicts: ['"x" with subresource "status" .status.count'],
  },
]);

describe('times', () => {
  const times = (...steps: Step[]) => {
    const entries = (run(steps).fixture.live?.metadata.managedFields ?? []) as JsonObject[];
    return Object.fromEntries(
      entries.map(({ manager, time }) => [manager, time && Number((time as string).slice(-3, -1))]),
    );
  };
  it.each([
    ['an apply that changes something', [apply('a', data({ a: '1' })), apply('a', data({ a: '2' }))], { a: 2 }],
    ['an apply that changes nothing', [apply('a', data({ a: '1' })), apply('a', data({ a: '1' }))], { a: 1 }],
    ['an apply of another manager', [apply('a', data({ a: '1' })), apply('b', data({ b: '1' }))], { a: 1, b: 2 }],
    [
      'an apply that only shares values',
      [apply('a', data({ a: '1' })), apply('b', data({ a: '1' }))],
      { a: 1, b: undefined },
    ],
    [
      'a field taken by another',
      [apply('a', data({ a: '1', b: '1' })), forceApply('b', data({ a: '2' }))],
      { a: 1, b: 2 },
    ],
    [
      'giving up',
      [apply('a', data({ a: '1', b: '1' })), apply('b', data({ b: '1' })), apply('a', data({ a: '1' }))],
      { a: 1, b: undefined },
    ],
    ['an update of the same field', [update('a', data({ a: '1' })), update('a', data({ a: '2' }))], { a: 2 }],
    ['an update that changes nothing', [update('a', data({ a: '1' })), update('a', data({ a: '1' }))], { a: 1 }],
    [
      'an update that removes a field of its own',
      [update('a', data({ a: '1', b: '1' })), update('a', data({ a: '1' }))],
      { a: 1 },
    ],
    [
      'an update that removes another’s',
      [update('a', data({ a: '1' })), update('b', data({ a: '1', b: '1' })), update('a', data({ a: '1' }))],
      { a: 1 },
    ],
  ] as [string, Step[], object][])('%s', (_, steps, expected) => {
    expect(times(...steps)).toEqual(expected);
  });
});

describe('writes that change nothing', () => {
  const first = () => {
    const { fixture } = run([
      apply('one', { data: { a: '1' }, spec: { tags: ['x', 'y'], containers: [{ name: 'a' }] } }),
    ]);
    return { fixture, live: fixture.live as ApiObject };
  };
  const writer = { manager: 'one', apiVersion: 'v1', now: '2024-02-02T00:00:00Z' };

  it('an apply returns the live object itself', () => {
    const { fixture, live } = first();
    const applyConfig = {
      kind: 'Thing',
      apiVersion: 'v1',
      metadata: { name: 't' },
      data: { a: '1' },
      spec: { tags: ['x', 'y'], containers: [{ name: 'a' }] },
    };
    const request = { type: fixture.type(), writer, live, applyConfig, force: false };
    expect(applyAtOnce(request, (object) => fixture.decode(object))).toBe(live);
  });

  it('an update returns the same managedFields', () => {
    const { fixture, live } = first();
    const after = structuredClone(live);
    expect(atOnce(updateManagedFields({ type: fixture.type(), writer, before: live, after }))).toBe(
      live.metadata.managedFields,
    );
  });

  it('entries that differ in their times alone are equal', () => {
    const { live } = first();
    const other = structuredClone(live.metadata.managedFields) as JsonObject[];
    (other[0] as JsonObject)['time'] = '2030-01-01T00:00:00Z';
    expect(atOnce(sameManagedFields(live.metadata.managedFields, other))).toBe(true);
    (other[0] as JsonObject)['fieldsV1'] = owns('a');
    expect(atOnce(sameManagedFields(live.metadata.managedFields, other))).toBe(false);
    expect(atOnce(sameManagedFields(undefined, other))).toBe(false);
  });
});

describe('many updates', () => {
  const managers = (count: number, more: Step[] = []) => {
    const values: { [key: string]: string } = {};
    const steps = Array.from({ length: count }, (_, i) => {
      values[`k${i}`] = '1';
      return update(`m${String(i).padStart(2, '0')}`, data({ ...values }));
    });
    return run([...steps, ...more]).managers;
  };
  it('keeps ten entries', () => {
    expect(Object.keys(managers(10))).toHaveLength(10);
  });
  it('merges the oldest entries', () => {
    const entries = managers(12);
    expect(Object.keys(entries)).toHaveLength(10);
    expect(entries['ancient-changes (Update)']).toBe('.data .data.k0 .data.k1 .data.k2');
    expect(entries['m03 (Update)']).toBe('.data.k3');
  });
  it('extends the entry ancient-changes', () => {
    expect(managers(20)['ancient-changes (Update)']).toBe(
      `.data ${Array.from({ length: 11 }, (_, i) => `.data.k${i}`)
        .sort()
        .join(' ')}`,
    );
  });
  it('keeps Apply entries', () => {
    const last = Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`k${i}`, '1']));
    expect(Object.keys(managers(10, [apply('one', data(last)), apply('two', data(last))]))).toHaveLength(12);
  });
});

describe('the order of entries', () => {
  it('is by operation, time and name', () => {
    const { fixture } = run([
      update('u2', data({ a: '1' })),
      apply('b', data({ b: '1' })),
      update('u1', data({ a: '2', b: '1' })),
      apply('a', data({ c: '1' })),
      set((w) => {
        w.seconds = 0;
      }),
      update('u0', data({ a: '2', b: '1', c: '1', d: '1' })),
    ]);
    const names = ((fixture.live?.metadata.managedFields ?? []) as JsonObject[]).map(({ manager }) => manager);
    expect(names).toEqual(['b', 'a', 'u0', 'u2', 'u1']);
  });
});

it('a stored entry that cannot be decoded fails an apply and nothing else', () => {
  const corrupt = set((fixture) => {
    if (fixture.live) fixture.live.metadata.managedFields = [{ manager: 'x', operation: 'Odd' }];
  });
  const before = [update('x', data({ a: '1' })), corrupt];
  expect(run([...before, apply('one', data({ a: '1' }))]).error?.message).toBe(
    'failed to decode managed fields: operation must be `Apply` or `Update`',
  );
  expect(run([...before, update('y', data({ a: '2' }))]).managers).toEqual({});
});
