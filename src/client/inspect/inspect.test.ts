import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../meta/index.ts';
import { changesOf, changesText } from './changes.ts';
import { readinessOf } from './readiness.ts';
import { maskedPair } from './secrets.ts';
import { writerOf } from './writers.ts';

describe('the changes between two versions', () => {
  const changed = (before: JsonObject, after: JsonObject, hidden = false) =>
    changesText(changesOf(before, after), hidden);

  it('are named by path, with short values', () => {
    expect(changed({ spec: { replicas: 1, paused: true } }, { spec: { replicas: 3 }, kind: 'A' })).toBe(
      'spec.replicas: 1 -> 3, -spec.paused, +kind: A',
    );
    expect(changed({ data: { 'a.b': 'two words' } }, { data: { 'a.b': 'x' } })).toBe('data["a.b"]: "two words" -> x');
    expect(changed({ a: 'x'.repeat(50) }, { a: 'y' })).toBe('a');
  });

  it('name the items of lists by name or type, else by position', () => {
    const named = (image: string) => ({ containers: [{ name: 'a' }, { name: 'web', image }] });
    expect(changed(named('v1'), named('v2'))).toBe('containers[name="web"].image: v1 -> v2');
    expect(changed({ args: ['a', 'b'] }, { args: ['a', 'c', 'd'] })).toBe('args[1]: b -> c, +args[2]: d');
    expect(changed({ conditions: [{ type: 'Ready', status: 'False' }] }, { conditions: [] })).toBe(
      '-conditions[type="Ready"]',
    );
  });

  it('leave out what every write changes', () => {
    const meta = (resourceVersion: string) => ({ metadata: { resourceVersion, generation: 1, managedFields: [] } });
    expect(changed(meta('1'), meta('2'))).toBe('');
  });

  it('show no values that are hidden', () => {
    expect(changed({ data: { a: 'c2VjcmV0' } }, { data: { a: 'b3RoZXI=', b: 'bmV3' } }, true)).toBe('data.a, +data.b');
  });
});

describe('two states of a secret', () => {
  const secret = (apiVersion: string, data: JsonObject) => ({ apiVersion, kind: 'Secret', data });
  const masked = (apiVersion: string) =>
    maskedPair(secret(apiVersion, { a: '1', b: '2' }), secret(apiVersion, { a: '1', b: '3', c: '4' }));

  it('show which values differ, and none of them', () => {
    expect(masked('v1')).toEqual([
      secret('v1', { a: '***', b: '*** (before)' }),
      secret('v1', { a: '***', b: '*** (after)', c: '***' }),
    ]);
  });

  it('are those of the kind Secret in version v1 of any group', () => {
    const isMasked = (apiVersion: string) => !JSON.stringify(masked(apiVersion)).includes('"1"');
    expect(['v1', 'example.com/v1', 'v2', 'example.com/v1beta1'].map(isMasked)).toEqual([true, true, false, false]);
    expect(maskedPair(undefined, { apiVersion: 'v1', kind: 'ConfigMap', data: { a: '1' } })[1]).toMatchObject({
      data: { a: '1' },
    });
  });
});

describe('the writer of a version', () => {
  const entry = (manager: string, time: string, more: JsonObject = {}) => ({
    manager,
    operation: 'Update',
    time,
    ...more,
  });
  const object = (...managedFields: JsonObject[]) => ({ metadata: { managedFields } });

  it('is the one whose entry is new', () => {
    const before = object(entry('a', '2024-01-01T00:00:02Z'), entry('b', '2024-01-01T00:00:01Z'));
    const after = object(
      entry('a', '2024-01-01T00:00:02Z'),
      entry('b', '2024-01-01T00:00:02Z', { subresource: 'status' }),
    );
    expect(writerOf(after, before)).toMatchObject({ manager: 'b', operation: 'Update/status' });
    expect(writerOf(before, undefined)?.manager).toBe('a');
    expect(writerOf({ metadata: {} }, undefined)).toBeUndefined();
  });

  it('is not the entry into which the server merges the oldest ones', () => {
    const time = '2024-01-01T00:00:01Z';
    const before = object(entry('a', time), entry('b', time));
    const after = object(entry('b', time), entry('c', time), entry('ancient-changes', time));
    expect(writerOf(after, before)?.manager).toBe('c');
  });
});

describe('the readiness of an object', () => {
  const conditions = (...list: JsonObject[]) => ({ status: { conditions: list } });
  it.each([
    [conditions({ type: 'Ready', status: 'True' }), 'Ready'],
    [conditions({ type: 'Ready', status: 'False', reason: 'Broken' }), 'NotReady (Broken)'],
    [conditions({ type: 'Progressing', status: 'True' }, { type: 'Available', status: 'True' }), 'Available'],
    [conditions({ type: 'Failed', status: 'True' }), 'Failed'],
    [{ spec: { replicas: 3 }, status: { readyReplicas: 2 } }, '2/3'],
    [{ status: { phase: 'Bound' } }, 'Bound'],
    [{ metadata: { deletionTimestamp: 'x' } }, 'Terminating'],
    [{}, '-'],
  ])('of %j is %s', (object, expected) => {
    expect(readinessOf(object as JsonObject)).toBe(expected);
  });
});
