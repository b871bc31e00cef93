import { describe, expect, it } from 'vitest';
import { atOnce, type Json, type JsonObject, StatusError, type Steps } from '../meta/index.ts';
import { equalSets, pathsOf } from './field-set.ts';
import {
  capUpdateManagers,
  decodeManagedFields,
  decodeManagedFieldsInSteps,
  encodeManagedFields,
  type ManagedEntry,
  sameManagedFields,
} from './managed-fields.ts';
import { fieldPath, pathText } from './path.ts';
import { toParentManagedFields, toScaleManagedFields } from './scale.ts';
import { apply, forceApply, run, type Step, set, update } from './testing/scenario.ts';

// With quadratic algorithms these tests would take minutes.
const most = 10_000;

const entry = (i: number, operation: ManagedEntry['operation'], fieldsV1: Json): JsonObject => ({
  manager: `m${i}`,
  operation,
  apiVersion: 'v1',
  fieldsType: 'FieldsV1',
  fieldsV1,
});
const entries = (count: number, operation: ManagedEntry['operation'], fields: (i: number) => Json): JsonObject[] =>
  Array.from({ length: count }, (_, i) => entry(i, operation, fields(i)));

const values = (count: number, value: string): { [key: string]: string } =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, value]));

/** An object with that many fields, each with a manager of its own. */
const shared = (managedFields: Json[]): Step[] => [
  update('x', { data: values(managedFields.length, 'a') }),
  set(({ live }) => {
    if (live !== undefined) live.metadata.managedFields = managedFields;
  }),
];
const eachOne = shared(entries(most, 'Apply', (i) => ({ 'f:data': { [`f:k${i}`]: {} } })));

/** How often a computation pauses, and its result. */
function paused<T>(steps: Steps<T>): { readonly pauses: number; readonly result: T } {
  for (let pauses = 0; ; pauses++) {
    const step = steps.next();
    if (step.done === true) return { pauses, result: step.value };
  }
}

describe('many managers', () => {
  it('are decoded, sorted and encoded in steps', () => {
    const list = entries(most, 'Apply', (i) => ({ 'f:data': { [`f:k${i}`]: {} } }));
    const { pauses, result: decoded } = paused(decodeManagedFieldsInSteps(list));
    expect(pauses).toBeGreaterThanOrEqual(most / 1_000);
    const { pauses: encoding } = paused(encodeManagedFields(decoded.toReversed(), undefined));
    expect(encoding).toBeGreaterThanOrEqual((2 * most) / 1_000);
    const updates = entries(most, 'Update', (i) => ({ 'f:data': { [`f:k${i}`]: {} } }));
    const { pauses: capping } = paused(capUpdateManagers(decodeManagedFields(updates)));
    expect(capping).toBeGreaterThanOrEqual(most / 1_000);
  });

  it('with Update entries are merged except for the last ten', () => {
    const managedFields = entries(3 * most, 'Update', (i) => ({ 'f:data': { [`f:k${i}`]: {} } }));
    const { managers } = run([update('x', { metadata: { managedFields } })]);
    expect(Object.keys(managers)).toHaveLength(10);
  });

  it('all lose the fields that an update changes', () => {
    const { managers } = run([...eachOne, update('y', { data: values(most, 'b') })]);
    expect(Object.keys(managers)).toEqual(['y (Update)']);
  });

  it('all lose an empty map that an update fills', () => {
    const whole = shared(entries(most, 'Apply', () => ({ 'f:data': {}, 'f:spec': { 'f:text': {} } })));
    const { managers } = run([...whole, update('y', { data: values(3 * most, 'b') })]);
    expect(Object.keys(managers)).toHaveLength(most + 1);
    expect(managers['m0']).toBe('.data .spec.text');
  });

  it('are all reported in a conflict, as far as the Status allows', () => {
    const { error } = run([...eachOne, apply('y', { data: values(most, 'b') })]);
    expect(error).toBeInstanceOf(StatusError);
    const { code, message, details } = error as StatusError;
    expect([code, message.slice(0, 76)]).toEqual([
      409,
      'Apply failed with 10000 conflicts: conflicts with "m0":\n- .data.k0\nconflicts',
    ]);
    const causes = details?.causes ?? [];
    expect(causes).toHaveLength(501);
    expect(causes.at(-1)).toEqual({ message: 'and 9500 more' });
    expect(message.endsWith('\nand 9500 more')).toBe(true);
    expect(JSON.stringify(details).length).toBeLessThan(500_000);
  });

  it('keep shared fields that one of them leaves out', () => {
    const { managers, object } = run([
      ...eachOne,
      forceApply('y', { data: { ...values(most, 'a'), mine: '1' } }),
      apply('y', { data: { k0: 'a' } }),
    ]);
    expect(object).toEqual({ data: values(most, 'a') });
    expect(managers['y']).toBe('.data.k0');
  });

  it('are equal in another order', () => {
    const list = entries(most, 'Apply', (i) => ({ 'f:data': { [`f:k${i}`]: {} } }));
    expect(atOnce(sameManagedFields(list, list.toReversed()))).toBe(true);
    expect(atOnce(sameManagedFields(list, [...list.slice(1), entry(0, 'Apply', {})]))).toBe(false);
  });

  it('own the replicas in the scale', () => {
    const list = entries(most, 'Apply', () => ({ 'f:spec': { 'f:replicas': {}, 'f:text': {} } }));
    const path = fieldPath('spec', 'replicas');
    const scale = toScaleManagedFields(list, () => path, 'autoscaling/v1') ?? [];
    expect(scale).toHaveLength(most);
    const after = toParentManagedFields(list, scale.slice(1), () => path, 'v1') ?? [];
    const fields = decodeManagedFields(after).map((entry) => [...pathsOf(entry.fields)].map(pathText).join(' '));
    expect(new Set(fields.slice(1))).toEqual(new Set(['.spec.replicas .spec.text']));
    expect(fields[0]).toBe('.spec.text');
    expect(equalSets(decodeManagedFields(after)[1]?.fields ?? {}, decodeManagedFields(list)[1]?.fields ?? {})).toBe(
      true,
    );
  });
});
