import { describe, expect, it } from 'vitest';
import { errorsNow } from './field-error.ts';
import type { ObjectMeta } from './object.ts';
import { validateBareFinalizers, validateObjectMeta, validateObjectMetaUpdate } from './validate-meta.ts';
import { pathSegmentName } from './validate-names.ts';

const namespaced = { namespaced: true };
const good: ObjectMeta = { name: 'a', namespace: 'n' };
const summary = (errors: readonly { field: string; message: string }[]) =>
  errors.map(({ field, message }) => `${field}: ${message}`);

describe('metadata of a new object', () => {
  it.each<[string, ObjectMeta, string[]]>([
    ['good', { ...good, labels: { a: 'b' }, annotations: { 'Example.com/A': 'x' }, finalizers: ['a/b'] }, []],
    ['no name', { namespace: 'n' }, ['metadata.name: Required value: name or generateName is required']],
    ['no namespace', { name: 'a' }, ['metadata.namespace: Required value']],
    ['a prefix that ends with a hyphen', { ...good, generateName: 'a-b-' }, []],
    [
      'too many bytes of annotations',
      { ...good, annotations: { a: 'ä'.repeat(131_072) } },
      ['metadata.annotations: Too long: may not be more than 262144 bytes'],
    ],
    [
      'an owner without anything',
      { ...good, ownerReferences: [{ apiVersion: '', kind: '', name: '', uid: '' }] },
      [
        'metadata.ownerReferences.apiVersion: Invalid value: "": version must not be empty',
        'metadata.ownerReferences.kind: Invalid value: "": must not be empty',
        'metadata.ownerReferences.name: Invalid value: "": must not be empty',
        'metadata.ownerReferences.uid: Invalid value: "": must not be empty',
      ],
    ],
    [
      'finalizers that contradict each other',
      { ...good, finalizers: ['orphan', 'foregroundDeletion'] },
      [
        'metadata.finalizers: Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and foregroundDeletion cannot be both set',
      ],
    ],
    [
      'a manager that is none',
      { ...good, managedFields: [{ manager: 'a\u0007', operation: 'Odd', fieldsType: 'FieldsV2' }] },
      [
        'metadata.managedFields[0].operation: Invalid value: "Odd": must be `Apply` or `Update`',
        'metadata.managedFields[0].fieldsType: Invalid value: "FieldsV2": must be `FieldsV1`',
        'metadata.managedFields[0].manager: Invalid value: "a\\a": should only contain printable characters',
      ],
    ],
  ])('%s', (_, metadata, errors) => {
    expect(summary(validateObjectMeta(metadata, namespaced))).toEqual(errors);
  });

  it('allows one controller reference', () => {
    const owner = (name: string) => ({ apiVersion: 'v1', kind: 'Pod', name, uid: name, controller: true });
    expect(validateObjectMeta({ ...good, ownerReferences: [owner('a')] }, namespaced)).toEqual([]);
    const [error] = validateObjectMeta({ ...good, ownerReferences: [owner('a'), owner('b')] }, namespaced);
    expect(error?.message).toMatch(
      /: Only one reference can have Controller set to true\. Found "true" in references for Pod\/a and Pod\/b$/,
    );
  });

  it('shortens long owner references', () => {
    const owner = (name: string) => ({ apiVersion: 'v1', kind: 'Pod', name, uid: name, controller: true });
    const ownerReferences = Array.from({ length: 50 }, (_, i) => owner(`${i}-${'x'.repeat(50_000)}`));
    const errors = validateObjectMeta({ ...good, ownerReferences }, namespaced);
    expect(errors).toHaveLength(49);
    for (const { message } of errors) expect(message.length).toBeLessThan(35_000);
  });

  it('allows 10,000 field managers', () => {
    const managedFields = Array.from({ length: 10_001 }, (_, i) => ({ manager: `m${i}`, operation: 'Apply' }));
    expect(errorsNow(validateObjectMeta({ ...good, managedFields: managedFields.slice(1) }, namespaced))).toEqual([]);
    expect(summary(validateObjectMeta({ ...good, managedFields }, namespaced))).toEqual([
      'metadata.managedFields: Too many: 10001: must have at most 10000 items',
    ]);
  });

  it('validates the name by the rule of the kind', () => {
    expect(validateObjectMeta({ name: 'system:node' }, { namespaced: false, nameRule: pathSegmentName })).toEqual([]);
    expect(validateObjectMeta({ name: 'system:node' }, { namespaced: false })).toHaveLength(1);
    expect(summary(validateObjectMeta(good, { namespaced: false }))).toEqual([
      'metadata.namespace: Forbidden: not allowed on this type',
    ]);
  });

  it('reports two errors for a finalizer that is neither qualified nor standard, as recorded', () => {
    const rules = { namespaced: true, finalizerNames: ['orphan', 'foregroundDeletion'] };
    const errors = validateObjectMeta({ ...good, finalizers: ['not qualified!'] }, rules);
    expect(errors.map(({ field }) => field)).toEqual(['metadata.finalizers', 'metadata.finalizers[0]']);
    expect(errors[1]?.message).toBe(
      'Invalid value: "not qualified!": name is neither a standard finalizer name nor is it fully qualified',
    );
    expect(validateObjectMeta({ ...good, finalizers: ['orphan', 'a.b/c'] }, rules)).toEqual([]);
  });
});

describe('update of metadata', () => {
  const old: ObjectMeta = {
    ...good,
    uid: 'u',
    resourceVersion: '1',
    creationTimestamp: '2024-01-01T00:00:00Z',
    finalizers: ['a/b'],
  };
  it.each<[string, Partial<ObjectMeta>, string[]]>([
    ['of nothing', {}, []],
    ['of labels', { labels: { a: 'b' } }, []],
    ['of the uid', { uid: 'other' }, ['metadata.uid: Invalid value: "other": field is immutable']],
    ['of the name', { name: 'b' }, ['metadata.name: Invalid value: "b": field is immutable']],
    [
      'that kills',
      { deletionTimestamp: '2024-01-01T00:00:00Z' },
      ['metadata.deletionTimestamp: Invalid value: "2024-01-01T00:00:00Z": field is immutable'],
    ],
    [
      'without a version',
      { resourceVersion: '' },
      ['metadata.resourceVersion: Invalid value: "": must be specified for an update'],
    ],
    ['that adds a finalizer', { finalizers: ['a/b', 'c/d'] }, []],
  ])('%s', (_, change, errors) => {
    expect(summary(validateObjectMetaUpdate({ ...old, ...change }, old))).toEqual(errors);
  });

  it('rejects unqualified finalizers that are not standard', () => {
    const finalizers = ['mine', 'orphan', 'a/b'];
    expect(summary(validateBareFinalizers(finalizers, ['orphan']))).toEqual([
      'metadata.finalizers[0]: Invalid value: "mine": name is neither a standard finalizer name nor is it fully qualified',
    ]);
    expect(validateBareFinalizers(finalizers, undefined)).toEqual([]);
    expect(validateObjectMetaUpdate({ ...old, finalizers }, old)).toEqual([]);
  });

  it('treats an absent uid and creationTimestamp as unchanged', () => {
    expect(validateObjectMetaUpdate({ ...good, resourceVersion: '1' }, old)).toEqual([]);
  });

  it('rejects new finalizers of an object under deletion, as recorded', () => {
    const dying = { ...old, deletionTimestamp: '2024-01-01T00:00:00Z' };
    expect(summary(validateObjectMetaUpdate({ ...dying, finalizers: ['a/b', 'example.com/three'] }, dying))).toEqual([
      'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"example.com/three"}',
    ]);
    expect(validateObjectMetaUpdate({ ...dying, finalizers: [] }, dying)).toEqual([]);
  });

  it('accepts hundreds of thousands of finalizers', () => {
    const finalizers = Array.from({ length: 300_000 }, (_, i) => `a/${i}`);
    const dying = { ...old, deletionTimestamp: '2024-01-01T00:00:00Z', finalizers };
    expect(validateObjectMetaUpdate(dying, { ...dying, finalizers: finalizers.toReversed() })).toEqual([]);
  });
});
