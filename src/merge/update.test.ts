import { describe, expect, it } from 'vitest';
import { type ApiObject, atOnce, type Json, type JsonObject } from '../meta/index.ts';
import { applyConfiguration } from './apply.ts';
import { setOf } from './field-set.ts';
import { sameManagedFields } from './managed-fields.ts';
import { fieldPath } from './path.ts';
import { apply, entry, forceApply, play, type Step, set, update } from './testing/story.ts';
import { tell } from './testing/tell.ts';
import { updateManagedFields } from './update.ts';

const data = (values: { [key: string]: string }) => ({ data: values });
const managed = (managedFields: Json[] | null, values: { [key: string]: string }): JsonObject => ({
  metadata: { managedFields },
  data: values,
});

// "Update mechanisms" 5 of the specification.
tell('update mechanisms 5: clearing ownership', [
  {
    name: 'a list of one empty entry clears it',
    steps: [apply('one', data({ a: '1' })), update('x', managed([{}], { a: '1' }))],
    object: data({ a: '1' }),
    owners: {},
  },
  {
    name: 'an entry whose fields are all empty is an empty one',
    steps: [apply('one', data({ a: '1' })), update('x', managed([{ manager: '', time: null }], { a: '1' }))],
    owners: {},
  },
  {
    name: 'an empty list does not',
    steps: [apply('one', data({ a: '1' })), update('x', managed([], { a: '1' }))],
    owners: { one: '.data.a' },
  },
  {
    name: 'null does not',
    steps: [apply('one', data({ a: '1' })), update('x', managed(null, { a: '1' }))],
    owners: { one: '.data.a' },
  },
  {
    name: 'no list at all does not',
    steps: [apply('one', data({ a: '1' })), update('x', data({ a: '1' }))],
    owners: { one: '.data.a' },
  },
  {
    name: 'with other changes the reset comes first, and the writer owns what it changed',
    steps: [apply('one', data({ a: '1', b: '1' })), update('x', managed([{}], { a: '2', b: '1' }))],
    owners: { 'x (Update)': '.data.a' },
  },
  {
    name: 'with a removal the reset leaves nothing',
    steps: [apply('one', data({ a: '1', b: '1' })), update('x', managed([{}], { a: '1' }))],
    owners: {},
  },
  {
    name: 'an empty list with other changes is as none',
    steps: [apply('one', data({ a: '1', b: '1' })), update('x', managed([], { a: '2', b: '1' }))],
    owners: { one: '.data.b', 'x (Update)': '.data.a' },
  },
  {
    name: 'a subresource cannot clear',
    steps: [apply('one', data({ a: '1' })), update('x', managed([{}], { a: '1' }), { subresource: 'status' })],
    owners: { one: '.data.a' },
  },
  {
    name: 'two empty entries are no reset, and no entries',
    steps: [apply('one', data({ a: '1' })), update('x', managed([{}, {}], { a: '1' }))],
    owners: { one: '.data.a' },
  },
  {
    name: 'a cleared object is free to be taken',
    steps: [
      apply('one', data({ a: '1' })),
      update('x', managed([{}], { a: '1' })),
      update('x', data({ a: '1', b: '1' })),
      apply('two', data({ a: '2' })),
    ],
    owners: { two: '.data.a', 'x (Update)': '.data.b' },
  },
  {
    name: 'the first apply to an object without owners finds one for all there is',
    steps: [apply('one', data({ a: '1' })), update('x', managed([{}], { a: '1' })), apply('two', data({ a: '2' }))],
    conflicts: ['"before-first-apply" using v1 .data.a'],
  },
  {
    name: 'who shares with it',
    steps: [
      apply('one', data({ a: '1', b: '1' })),
      update('x', managed([{}], { a: '1', b: '1' })),
      apply('two', data({ a: '1' })),
    ],
    owners: { two: '.data.a', 'before-first-apply (Update)': '.data .data.a .data.b' },
  },
]);

const owns = (...names: string[]): JsonObject => ({
  'f:data': Object.fromEntries(names.map((name) => [`f:${name}`, {}])),
});
tell('ownership that a client writes down', [
  {
    name: 'takes the place of what was',
    steps: [apply('one', data({ a: '1' })), update('x', managed([entry('two', owns('a'))], { a: '1' }))],
    owners: { 'two (Update)': '.data.a' },
  },
  {
    name: 'is followed by what the same write changes',
    steps: [apply('one', data({ a: '1' })), update('x', managed([entry('two', owns('a', 'b'))], { a: '1', b: '2' }))],
    owners: { 'two (Update)': '.data.a', 'x (Update)': '.data.b' },
  },
  {
    name: 'may be given with a new object',
    steps: [update('x', managed([entry('two', owns('z'))], { a: '1' }))],
    owners: { 'two (Update)': '.data.z', 'x (Update)': '.data .data.a' },
  },
  ...(
    [
      ['an unknown operation', entry('two', owns('a'), { operation: 'Patch' })],
      ['no version', entry('two', owns('a'), { apiVersion: '' })],
      ['another type of fields', entry('two', owns('a'), { fieldsType: 'FieldsV2' })],
      ['a step that is none', entry('two', { data: {} })],
      ['keys that are no JSON', entry('two', { 'f:data': { 'k:{': {} } })],
      ['fields that are no object', entry('two', { 'f:data': 1 })],
    ] as const
  ).map(([name, bad]) => ({
    name: `does not count with ${name}`,
    steps: [apply('one', data({ a: '1' })), update('x', managed([bad as Json], { a: '1' }))],
    owners: { one: '.data.a' },
  })),
  {
    name: 'in another spelling means the same',
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
    owners: {
      'two (Update)':
        '.spec.containers[name="a"].ports[port=80,protocol="TCP"] .spec.containers[name="a"].ports[port=80,protocol="TCP"].port',
    },
  },
]);

const status = setOf(fieldPath('status'));
const everythingElse = setOf(fieldPath('data'), fieldPath('spec'), fieldPath('metadata'));
const split: Step = set((world) => {
  world.kept = (subresource) => (subresource === 'status' ? everythingElse : status);
});
tell('subresources, and what a write to them leaves as it is', [
  {
    name: 'a write to the resource owns no status',
    steps: [split, update('x', { data: { a: '1' }, status: { count: 1 } })],
    owners: { 'x (Update)': '.data .data.a' },
  },
  {
    name: 'an apply to the resource owns no status',
    steps: [split, apply('x', { data: { a: '1' }, status: { count: 1 } })],
    owners: { x: '.data.a' },
  },
  {
    name: 'a write to the status owns nothing else, under an entry of its own',
    steps: [
      split,
      update('x', data({ a: '1' })),
      update('x', { data: { a: '2' }, status: { count: 1 } }, { subresource: 'status' }),
    ],
    owners: { 'x (Update)': '.data .data.a', 'x/status (Update)': '.status .status.count' },
  },
  {
    name: 'an apply to the status',
    steps: [
      split,
      apply('x', data({ a: '1' })),
      apply('x', { status: { conditions: [{ type: 'Ready', status: 'True' }] } }, { subresource: 'status' }),
    ],
    owners: {
      x: '.data.a',
      'x/status':
        '.status.conditions[type="Ready"] .status.conditions[type="Ready"].status .status.conditions[type="Ready"].type',
    },
  },
  {
    name: 'an apply to the resource gives up nothing of its status',
    steps: [
      split,
      apply('x', data({ a: '1' })),
      apply('x', { status: { count: 1 } }, { subresource: 'status' }),
      apply('x', data({ b: '1' })),
    ],
    object: { data: { b: '1' }, status: { count: 1 } },
    owners: { x: '.data.b', 'x/status': '.status.count' },
  },
  {
    name: 'reset fields make no conflict',
    steps: [
      split,
      apply('x', data({ a: '1' })),
      apply('x', { status: { count: 1 } }, { subresource: 'status' }),
      apply('y', { status: { count: 2 }, data: { b: '1' } }),
    ],
    owners: { x: '.data.a', 'x/status': '.status.count', y: '.data.b' },
  },
  {
    name: 'an apply to the status conflicts with another one',
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
    const entries = (play(steps).world.live?.metadata.managedFields ?? []) as JsonObject[];
    return Object.fromEntries(
      entries.map(({ manager, time }) => [manager, time && Number((time as string).slice(-3, -1))]),
    );
  };
  it.each([
    ['an apply that changes something', [apply('a', data({ a: '1' })), apply('a', data({ a: '2' }))], { a: 2 }],
    ['an apply that changes nothing', [apply('a', data({ a: '1' })), apply('a', data({ a: '1' }))], { a: 1 }],
    ['another’s apply', [apply('a', data({ a: '1' })), apply('b', data({ b: '1' }))], { a: 1, b: 2 }],
    ['an apply that only shares', [apply('a', data({ a: '1' })), apply('b', data({ a: '1' }))], { a: 1, b: undefined }],
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
    const { world } = play([
      apply('one', { data: { a: '1' }, spec: { tags: ['x', 'y'], containers: [{ name: 'a' }] } }),
    ]);
    return { world, live: world.live as ApiObject };
  };
  const writer = { manager: 'one', apiVersion: 'v1', now: '2024-02-02T00:00:00Z' };

  it('an apply gives the live object itself', () => {
    const { world, live } = first();
    const applyConfig = {
      kind: 'Thing',
      apiVersion: 'v1',
      metadata: { name: 't' },
      data: { a: '1' },
      spec: { tags: ['x', 'y'], containers: [{ name: 'a' }] },
    };
    expect(atOnce(applyConfiguration({ type: world.type(), writer, live, applyConfig, force: false }))).toBe(live);
  });

  it('an update gives the very managedFields', () => {
    const { world, live } = first();
    const after = structuredClone(live);
    expect(atOnce(updateManagedFields({ type: world.type(), writer, before: live, after }))).toBe(
      live.metadata.managedFields,
    );
  });

  it('times alone are no difference', () => {
    const { live } = first();
    const other = structuredClone(live.metadata.managedFields) as JsonObject[];
    (other[0] as JsonObject)['time'] = '2030-01-01T00:00:00Z';
    expect(sameManagedFields(live.metadata.managedFields, other)).toBe(true);
    (other[0] as JsonObject)['fieldsV1'] = owns('a');
    expect(sameManagedFields(live.metadata.managedFields, other)).toBe(false);
    expect(sameManagedFields(undefined, other)).toBe(false);
  });
});

describe('many updates', () => {
  const managers = (count: number, more: Step[] = []) => {
    const values: { [key: string]: string } = {};
    const steps = Array.from({ length: count }, (_, i) => {
      values[`k${i}`] = '1';
      return update(`m${String(i).padStart(2, '0')}`, data({ ...values }));
    });
    return play([...steps, ...more]).owners;
  };
  it('keeps ten entries', () => {
    expect(Object.keys(managers(10))).toHaveLength(10);
  });
  it('puts the oldest together', () => {
    const entries = managers(12);
    expect(Object.keys(entries)).toHaveLength(10);
    expect(entries['ancient-changes (Update)']).toBe('.data .data.k0 .data.k1 .data.k2');
    expect(entries['m03 (Update)']).toBe('.data.k3');
  });
  it('goes on with the one it has', () => {
    expect(managers(20)['ancient-changes (Update)']).toBe(
      `.data ${Array.from({ length: 11 }, (_, i) => `.data.k${i}`)
        .sort()
        .join(' ')}`,
    );
  });
  it('leaves appliers alone', () => {
    const last = Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`k${i}`, '1']));
    expect(Object.keys(managers(10, [apply('one', data(last)), apply('two', data(last))]))).toHaveLength(12);
  });
});

describe('the order of entries', () => {
  it('is by operation, time and name', () => {
    const { world } = play([
      update('u2', data({ a: '1' })),
      apply('b', data({ b: '1' })),
      update('u1', data({ a: '2', b: '1' })),
      apply('a', data({ c: '1' })),
      set((w) => {
        w.seconds = 0;
      }),
      update('u0', data({ a: '2', b: '1', c: '1', d: '1' })),
    ]);
    const names = ((world.live?.metadata.managedFields ?? []) as JsonObject[]).map(({ manager }) => manager);
    expect(names).toEqual(['b', 'a', 'u0', 'u2', 'u1']);
  });
});

it('a stored entry that cannot be read fails an apply and nothing else', () => {
  const corrupt = set((world) => {
    if (world.live) world.live.metadata.managedFields = [{ manager: 'x', operation: 'Odd' }];
  });
  const before = [update('x', data({ a: '1' })), corrupt];
  expect(play([...before, apply('one', data({ a: '1' }))]).error?.message).toBe(
    'failed to decode managed fields: operation must be `Apply` or `Update`',
  );
  expect(play([...before, update('y', data({ a: '2' }))]).owners).toEqual({ 'y (Update)': '.data.a' });
});
