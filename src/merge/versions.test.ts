import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../meta/index.ts';
import { field, string } from '../schema/index.ts';
import { setOf } from './field-set.ts';
import { fieldPath } from './path.ts';
import { scaledManagedFields, scaleManagedFields } from './scale.ts';
import { apply, entry, forceApply, type Step, set, update } from './testing/story.ts';
import { tell } from './testing/tell.ts';
import { thing } from './testing/thing.ts';

/** In `v2` the field `text` of the spec is called `title`; all else is the same. */
const twoVersions: Step = set((world) => {
  world.schemas.set('v2', thing({ text: undefined, title: field(2, string) }));
  world.convert = (object, to) => {
    const { text, title, ...rest } = (object['spec'] ?? {}) as JsonObject;
    const value = text ?? title;
    if (object['spec'] === undefined) return object;
    return { ...object, spec: value === undefined ? rest : { ...rest, [to === 'v2' ? 'title' : 'text']: value } };
  };
});
const v2 = { version: 'v2' };
const withoutV1: Step = set((world) => {
  world.live = world.in('v2');
  world.schemas.delete('v1');
});
const text = (value: string) => ({ spec: { text: value } });
const title = (value: string) => ({ spec: { title: value } });

tell('managers of other versions of the same type', [
  {
    name: 'an applier is the same one in every version',
    steps: [twoVersions, apply('one', text('x')), apply('one', title('x'), v2)],
    owners: { one: '.spec.title' },
  },
  {
    name: 'an applier gives up all metadata that it had in another version',
    steps: [
      twoVersions,
      apply('one', { metadata: { labels: { l: '1' } }, ...text('x') }),
      apply('two', { metadata: { labels: { m: '1' } } }),
      apply('one', title('x'), v2),
    ],
    object: { metadata: { labels: { m: '1' } }, spec: { replicas: 1, title: 'x' } },
    owners: { one: '.spec.title', two: '.metadata.labels.m' },
  },
  {
    name: 'an applier gives up the only metadata, which it had in another version',
    steps: [
      twoVersions,
      apply('one', { metadata: { labels: { l: '1' } }, ...text('x') }),
      apply('one', title('x'), v2),
    ],
    object: { spec: { replicas: 1, title: 'x' } },
    owners: { one: '.spec.title' },
  },
  {
    name: 'a change conflicts under the name that the owner’s version has',
    steps: [twoVersions, apply('one', text('x')), apply('two', title('y'), v2)],
    conflicts: ['"one" .spec.text'],
  },
  {
    name: 'the same value is shared',
    steps: [twoVersions, apply('one', text('x')), apply('two', title('x'), v2)],
    owners: { one: '.spec.text', two: '.spec.title' },
  },
  {
    name: 'force takes it from the other version',
    steps: [twoVersions, apply('one', text('x')), forceApply('two', title('y'), v2)],
    object: { spec: { title: 'y', replicas: 1 } },
    owners: { two: '.spec.title' },
  },
  {
    name: 'an update takes it from the other version',
    steps: [
      twoVersions,
      apply('one', { spec: { text: 'x', flag: true } }),
      update('two', { spec: { title: 'y', flag: true } }, v2),
    ],
    owners: { one: '.spec.flag', 'two (Update)': '.spec.title' },
  },
  {
    name: 'an update is another one in each version',
    steps: [twoVersions, update('x', text('x')), update('x', { spec: { title: 'x', flag: true } }, v2)],
    owners: { 'x (Update)': '.spec.flag' },
  },
  {
    name: 'a field given up in another version goes',
    steps: [twoVersions, apply('one', { spec: { text: 'x', flag: true } }), apply('one', { spec: { flag: true } }, v2)],
    object: { spec: { flag: true, replicas: 1 } },
    owners: { one: '.spec.flag' },
  },
  {
    name: 'a field given up stays when another owns it in another version',
    steps: [
      twoVersions,
      apply('one', { spec: { text: 'x', flag: true } }),
      apply('two', title('x'), v2),
      apply('one', { spec: { flag: true } }),
    ],
    object: { spec: { text: 'x', flag: true, replicas: 1 } },
    owners: { one: '.spec.flag', two: '.spec.title' },
  },
  {
    name: 'and goes when nobody does in any',
    steps: [
      twoVersions,
      apply('one', { spec: { text: 'x', flag: true } }),
      apply('two', { spec: { title: 'x', replicas: 3 } }, v2),
      apply('one', { spec: { flag: true } }),
      apply('two', { spec: { replicas: 3 } }, v2),
    ],
    object: { spec: { replicas: 3, flag: true } },
    owners: { one: '.spec.flag', two: '.spec.replicas' },
  },
  {
    name: 'entries of lists given up, with owners in two versions',
    steps: [
      twoVersions,
      apply('one', { spec: { containers: [{ name: 'a' }, { name: 'b' }] } }),
      apply('two', { spec: { containers: [{ name: 'b', image: 'i' }] } }, v2),
      apply('one', {}),
    ],
    object: { spec: { replicas: 1, containers: [{ name: 'b', image: 'i' }] } },
    owners: { two: '.spec.containers[name="b"] .spec.containers[name="b"].image .spec.containers[name="b"].name' },
  },
  {
    name: 'an owner of a version that is gone is gone',
    steps: [twoVersions, update('one', text('x')), withoutV1, update('two', title('y'), v2)],
    owners: { 'two (Update)': '.spec.title' },
  },
]);

tell('the last owner of a version that is gone', [
  {
    name: 'leaves what it had to whoever wrote before the first apply',
    steps: [twoVersions, update('one', text('x')), withoutV1, apply('two', title('y'), v2)],
    conflicts: ['"before-first-apply" using v2 .spec.title'],
  },
]);

describe('the scale of an object', () => {
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

  it('has the owners of the number of replicas', () => {
    expect(scaleManagedFields(parent, replicas, 'scale/v1')).toEqual([
      scaleEntry('one', { operation: 'Apply', time: 't1' }),
      scaleEntry('two', { time: 't2' }),
    ]);
  });

  it('gives the replicas to whoever came to own them there', () => {
    const after = [scaleEntry('sc', { operation: 'Apply', subresource: 'scale', time: 't9' })];
    expect(scaledManagedFields(parent, after, replicas, 'v1')).toEqual([
      entry('sc', spec('replicas'), { operation: 'Apply', subresource: 'scale' }),
      entry('one', spec('text'), { operation: 'Apply', time: 't1' }),
      entry('three', spec('text'), { time: 't3' }),
    ]);
  });

  it('changes nothing when nothing changed there', () => {
    const entries = parent.slice(0, 1);
    const there = scaleManagedFields(entries, replicas, 'scale/v1');
    expect(scaledManagedFields(entries, there, replicas, 'v1')).toBe(entries);
  });

  it('ignores what is no number of replicas, and versions it does not know', () => {
    const odd = [entry('x', spec('text'), { apiVersion: 'scale/v1' })];
    expect(scaledManagedFields([entry('old', spec('replicas'), { apiVersion: 'v0' })], odd, replicas, 'v1')).toBe(
      undefined,
    );
    expect(setOf(fieldPath('spec', 'replicas'))).toEqual(spec('replicas'));
  });
});
