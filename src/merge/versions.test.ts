import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../meta/index.ts';
import { field, string } from '../schema/index.ts';
import { setOf } from './field-set.ts';
import { fieldPath } from './path.ts';
import { toParentManagedFields, toScaleManagedFields } from './scale.ts';
import { apply, entry, forceApply, type Step, set, update } from './testing/scenario.ts';
import { testScenarios } from './testing/test-scenarios.ts';
import { thing } from './testing/thing.ts';

/** In `v2` the field `text` of the spec is called `title`; all else is the same. */
const twoVersions: Step = set((fixture) => {
  fixture.schemas.set('v2', thing({ text: undefined, title: field(2, string) }));
  fixture.convert = (object, to) => {
    const { text, title, ...rest } = (object['spec'] ?? {}) as JsonObject;
    const value = text ?? title;
    if (object['spec'] === undefined) return object;
    return { ...object, spec: value === undefined ? rest : { ...rest, [to === 'v2' ? 'title' : 'text']: value } };
  };
});
const v2 = { version: 'v2' };
const withoutV1: Step = set((fixture) => {
  fixture.live = fixture.in('v2');
  fixture.schemas.delete('v1');
});
const text = (value: string) => ({ spec: { text: value } });
const title = (value: string) => ({ spec: { title: value } });

testScenarios('managers of other versions of the same type', [
  {
    name: 'Apply entries of one manager are the same in every version',
    steps: [twoVersions, apply('one', text('x')), apply('one', title('x'), v2)],
    managers: { one: '.spec.title' },
  },
  {
    name: 'metadata applied in another version is pruned',
    steps: [
      twoVersions,
      apply('one', { metadata: { labels: { l: '1' } }, ...text('x') }),
      apply('two', { metadata: { labels: { m: '1' } } }),
      apply('one', title('x'), v2),
    ],
    object: { metadata: { labels: { m: '1' } }, spec: { replicas: 1, title: 'x' } },
    managers: { one: '.spec.title', two: '.metadata.labels.m' },
  },
  {
    name: 'the only metadata, applied in another version, is pruned',
    steps: [
      twoVersions,
      apply('one', { metadata: { labels: { l: '1' } }, ...text('x') }),
      apply('one', title('x'), v2),
    ],
    object: { spec: { replicas: 1, title: 'x' } },
    managers: { one: '.spec.title' },
  },
  {
    name: 'a conflict names the field as in the version of the other manager',
    steps: [twoVersions, apply('one', text('x')), apply('two', title('y'), v2)],
    conflicts: ['"one" .spec.text'],
  },
  {
    name: 'equal values are shared between versions',
    steps: [twoVersions, apply('one', text('x')), apply('two', title('x'), v2)],
    managers: { one: '.spec.text', two: '.spec.title' },
  },
  {
    name: 'a forced apply takes the field from the other version',
    steps: [twoVersions, apply('one', text('x')), forceApply('two', title('y'), v2)],
    object: { spec: { title: 'y', replicas: 1 } },
    managers: { two: '.spec.title' },
  },
  {
    name: 'an update takes the field from the other version',
    steps: [
      twoVersions,
      apply('one', { spec: { text: 'x', flag: true } }),
      update('two', { spec: { title: 'y', flag: true } }, v2),
    ],
    managers: { one: '.spec.flag', 'two (Update)': '.spec.title' },
  },
  {
    name: 'Update entries of one manager differ by version',
    steps: [twoVersions, update('x', text('x')), update('x', { spec: { title: 'x', flag: true } }, v2)],
    managers: { 'x (Update)': '.spec.flag' },
  },
  {
    name: 'a field left out in another version is pruned',
    steps: [twoVersions, apply('one', { spec: { text: 'x', flag: true } }), apply('one', { spec: { flag: true } }, v2)],
    object: { spec: { flag: true, replicas: 1 } },
    managers: { one: '.spec.flag' },
  },
  {
    name: 'a field left out stays when another manager owns it in another version',
    steps: [
      twoVersions,
      apply('one', { spec: { text: 'x', flag: true } }),
      apply('two', title('x'), v2),
      apply('one', { spec: { flag: true } }),
    ],
    object: { spec: { text: 'x', flag: true, replicas: 1 } },
    managers: { one: '.spec.flag', two: '.spec.title' },
  },
  {
    name: 'a field left out is pruned when no version has a manager',
    steps: [
      twoVersions,
      apply('one', { spec: { text: 'x', flag: true } }),
      apply('two', { spec: { title: 'x', replicas: 3 } }, v2),
      apply('one', { spec: { flag: true } }),
      apply('two', { spec: { replicas: 3 } }, v2),
    ],
    object: { spec: { replicas: 3, flag: true } },
    managers: { one: '.spec.flag', two: '.spec.replicas' },
  },
  {
    name: 'list entries left out, with managers in two versions',
    steps: [
      twoVersions,
      apply('one', { spec: { containers: [{ name: 'a' }, { name: 'b' }] } }),
      apply('two', { spec: { containers: [{ name: 'b', image: 'i' }] } }, v2),
      apply('one', {}),
    ],
    object: { spec: { replicas: 1, containers: [{ name: 'b', image: 'i' }] } },
    managers: { two: '.spec.containers[name="b"] .spec.containers[name="b"].image .spec.containers[name="b"].name' },
  },
  {
    name: 'an entry of a version that is no longer served is dropped',
    steps: [twoVersions, update('one', text('x')), withoutV1, update('two', title('y'), v2)],
    managers: { 'two (Update)': '.spec.title' },
  },
]);

testScenarios('the last entry of a version that is no longer served', [
  {
    name: 'is replaced by before-first-apply',
    steps: [twoVersions, update('one', text('x')), withoutV1, apply('two', title('y'), v2)],
    conflicts: ['"before-first-apply" using v2 .spec.title'],
  },
]);

describe('the scale subresource', () => {
  const replicas = (apiVersion: string) => (apiVersion === 'v1' ? fieldPath('spec', 'replicas') : undefined);
  const spec = (...names: string[]): JsonObject => ({
    'f:spec': Object.fromEntries(names.map((name) => [`f:${name}`, {}])),
  });
  const parent = [
    entry('one', spec('replicas', 'text'), { operation: 'Apply', time: 't1' }),
    entry('two', spec('replicas'), { time: 't2' }),
    entry('three', spec('text'), { time: 't3' }),
  ];
  const scaleEntry = (manager: string, more: JsonObject = {}) =>
    entry(manager, spec('replicas'), { apiVersion: 'scale/v1', ...more });

  it('has the entries that own the replicas of the parent', () => {
    expect(toScaleManagedFields(parent, replicas, 'scale/v1')).toEqual([
      scaleEntry('one', { operation: 'Apply', time: 't1' }),
      scaleEntry('two', { time: 't2' }),
    ]);
  });

  it('moves the replicas to the entries that own them in the scale', () => {
    const after = [scaleEntry('sc', { operation: 'Apply', subresource: 'scale', time: 't9' })];
    expect(toParentManagedFields(parent, after, replicas, 'v1')).toEqual([
      entry('sc', spec('replicas'), { operation: 'Apply', subresource: 'scale' }),
      entry('one', spec('text'), { operation: 'Apply', time: 't1' }),
      entry('three', spec('text'), { time: 't3' }),
    ]);
  });

  it('gives the replicas to a manager that has sent a status too', () => {
    const fields = { ...spec('replicas'), 'f:status': { 'f:replicas': {} } };
    const after = [entry('sc', fields, { apiVersion: 'scale/v1', subresource: 'scale', time: 't9' })];
    expect(toParentManagedFields(parent.slice(2), after, replicas, 'v1')).toEqual([
      entry('sc', spec('replicas'), { subresource: 'scale' }),
      entry('three', spec('text'), { time: 't3' }),
    ]);
  });

  it('moves the replicas to the version of the write, in which each manager has one entry', () => {
    const inVersions = () => fieldPath('spec', 'replicas');
    const both = ['v1', 'v2'].map((apiVersion) => entry('m', spec('replicas'), { apiVersion, subresource: 'scale' }));
    const there = toScaleManagedFields(both.slice(1), inVersions, 'scale/v1');
    expect(toParentManagedFields(both, there, inVersions, 'v1')).toEqual([
      entry('m', spec('replicas'), { apiVersion: 'v1', subresource: 'scale' }),
    ]);
    const main = [entry('m', spec('text')), entry('m', spec('replicas', 'text'), { apiVersion: 'v2' })];
    expect(toParentManagedFields(main, [scaleEntry('m')], inVersions, 'v1')).toEqual([
      entry('m', spec('replicas', 'text')),
      entry('m', spec('text'), { apiVersion: 'v2' }),
    ]);
  });

  it('changes nothing when the scale is unchanged', () => {
    const entries = parent.slice(0, 1);
    const there = toScaleManagedFields(entries, replicas, 'scale/v1');
    expect(toParentManagedFields(entries, there, replicas, 'v1')).toBe(entries);
  });

  it('ignores other fields and unknown versions', () => {
    const odd = [entry('x', spec('text'), { apiVersion: 'scale/v1' })];
    expect(toParentManagedFields([entry('old', spec('replicas'), { apiVersion: 'v0' })], odd, replicas, 'v1')).toBe(
      undefined,
    );
    expect(setOf(fieldPath('spec', 'replicas'))).toEqual(spec('replicas'));
  });
});
