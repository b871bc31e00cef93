import { describe, expect, test } from 'vitest';
import { leases } from '../coordination/leases.ts';
import { runtimeClasses } from '../node/runtime-classes.ts';
import { created, type KindRow, onCreate, onUpdate, replaced, sorted } from '../testing/kind.ts';
import { forbidden, immutable, invalid, missing, says, unsupported } from '../testing/messages.ts';
import { priorityClasses } from './priority-classes.ts';

const reserved = (fault: string) =>
  forbidden(`priority class names with 'system-' prefix are reserved for system use only. error: ${fault}`);

const rows: readonly KindRow[] = [
  ['a priority class', priorityClasses, { value: 100 }],
  [
    'a value above the user range',
    priorityClasses,
    { value: 2_000_000_000 },
    ['value', 'Forbidden', forbidden('maximum allowed value of a user defined priority is 1000000000')],
  ],
  [
    'a reserved name',
    priorityClasses,
    { metadata: { name: 'system-x' }, value: 1 },
    ['metadata.name', 'Forbidden', reserved('system-x is not a known system priority class')],
  ],
  [
    'another value for a system class',
    priorityClasses,
    { metadata: { name: 'system-node-critical' }, value: 1 },
    ['metadata.name', 'Forbidden', reserved('value of system-node-critical PriorityClass must be 2000001000')],
  ],
  ['a system class', priorityClasses, { metadata: { name: 'system-node-critical' }, value: 2_000_001_000 }],
  [
    'an empty preemption policy',
    priorityClasses,
    { value: 1, preemptionPolicy: '' },
    ['preemptionPolicy', 'Required', 'Required value'],
  ],
  [
    'an unknown preemption policy',
    priorityClasses,
    { value: 1, preemptionPolicy: 'Odd' },
    ['preemptionPolicy', 'NotSupported', unsupported('Odd', 'PreemptLowerPriority', 'Never')],
  ],
  ['a handler', runtimeClasses, { handler: 'runc' }],
  ['a handler of no name', runtimeClasses, { handler: 'BAD_H' }, ['handler', 'Invalid', invalid('BAD_H', says.label)]],
  ['no handler', runtimeClasses, {}, ['handler', 'Required', missing]],
  [
    'a negative overhead',
    runtimeClasses,
    { handler: 'h', overhead: { podFixed: { pods: '1' } } },
    ['overhead.limits[pods]', 'Invalid', invalid('pods', 'must be a standard resource for containers')],
  ],
  [
    'invalid scheduling',
    runtimeClasses,
    { handler: 'h', scheduling: { nodeSelector: { 'a b': 'c' } } },
    ['scheduling.nodeSelector', 'Invalid', invalid('a b', says.qualified)],
  ],
  ['a lease with a holder', leases, { spec: { holderIdentity: 'x', leaseDurationSeconds: 15 } }],
  [
    'durations and transitions',
    leases,
    { spec: { leaseDurationSeconds: 0, leaseTransitions: -1 } },
    ['spec.leaseDurationSeconds', 'Invalid', invalid(0, 'must be greater than 0')],
    ['spec.leaseTransitions', 'Invalid', invalid(-1, 'must be greater than or equal to 0')],
  ],
  [
    'an unknown strategy',
    leases,
    { spec: { strategy: 'Odd' } },
    ['spec.strategy.strategy', 'NotSupported', unsupported('Odd', 'OldestEmulationVersion')],
  ],
  ['a strategy with a domain', leases, { spec: { strategy: 'example.com/s', preferredHolder: 'x' } }],
  [
    'a preferred holder without a strategy',
    leases,
    { spec: { preferredHolder: 'x' } },
    ['spec.preferredHolder', 'Forbidden', forbidden('may only be specified if `strategy` is defined')],
  ],
];

describe('classes and leases', () => {
  test.each(rows)('%s', (_, kind, fragment, ...expected) => {
    expect(onCreate(kind, fragment)).toEqual(sorted(expected));
  });
  test('the value of a priority class is immutable', () => {
    expect(onUpdate(priorityClasses, { value: 1 }, { value: 2, preemptionPolicy: 'Never' })).toEqual([
      ['preemptionPolicy', 'Invalid', immutable('Never')],
      ['value', 'Forbidden', forbidden('may not be changed in an update.')],
    ]);
  });
  test('the value of a priority class is validated on create only', () => {
    expect(onUpdate(priorityClasses, { value: 1 }, { value: 2_000_000_000 })).toEqual([
      ['value', 'Forbidden', forbidden('may not be changed in an update.')],
    ]);
  });
  test('the generation of a priority class is always 1', () => {
    const priority = created(priorityClasses, { value: 1 });
    expect(priority).toMatchObject({ metadata: { generation: 1 }, preemptionPolicy: 'PreemptLowerPriority' });
    const metadata = { generation: 1 };
    expect(replaced(priorityClasses, priority, { metadata, value: 1, description: 'd' }).metadata.generation).toBe(1);
  });
  test('the handler of a runtime class is immutable', () => {
    expect(onUpdate(runtimeClasses, { handler: 'a' }, { handler: 'b' })).toEqual([
      ['handler', 'Invalid', immutable('b')],
    ]);
  });
});
