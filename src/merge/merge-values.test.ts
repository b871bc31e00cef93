import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../meta/index.ts';
import { mergeValues } from './merge-values.ts';
import { names, thing } from './testing/thing.ts';

const type = { schema: thing(), names };
const merged = (object: JsonObject, applyConfig: JsonObject) => mergeValues(type, object, applyConfig);

describe('mergeValues', () => {
  it('sets fields, and merges maps and associative lists', () => {
    const object = {
      metadata: { labels: { a: '1' } },
      spec: { replicas: 2, containers: [{ name: 'x', image: 'i' }, { name: 'y' }], tags: ['one'] },
    };
    const before = structuredClone(object);
    const applyConfig = {
      metadata: { labels: { b: '2' } },
      spec: { replicas: 3, containers: [{ name: 'y', image: 'j' }, { name: 'z' }], tags: ['two'] },
    };
    expect(merged(object, applyConfig)).toEqual({
      metadata: { labels: { a: '1', b: '2' } },
      spec: {
        replicas: 3,
        containers: [{ name: 'x', image: 'i' }, { name: 'y', image: 'j' }, { name: 'z' }],
        tags: ['one', 'two'],
      },
    });
    expect(object).toEqual(before);
  });

  it('accepts duplicates in the object', () => {
    const env = [
      { name: 'test', value: 'a' },
      { name: 'test', value: 'b' },
    ];
    const object = { spec: { containers: [{ name: 'x', env }] } };
    expect(merged(object, { spec: { replicas: 3 } })).toEqual({ spec: { ...object.spec, replicas: 3 } });
    const changed = merged(object, { spec: { containers: [{ name: 'x', env: [{ name: 'test', value: 'c' }] }] } });
    expect(changed).toEqual({ spec: { containers: [{ name: 'x', env: [{ name: 'test', value: 'c' }] }] } });
  });

  it.each([
    [{ spec: { selector: { a: 'b' } } }, '.spec.selector'],
    [{ spec: { args: ['a'] } }, '.spec.args'],
    [{ spec: { ref: { kind: 'A' } } }, '.spec.ref'],
    [{ spec: { whole: { type: 'A' }, args: [] } }, '.spec.whole, .spec.args'],
    [{ spec: { containers: [{ name: 'x' }, { name: 'y', args: ['a'] }] } }, '.spec.containers[1].args'],
    [{ spec: { free: [1] } }, '.spec.free'],
  ])('refuses atomic values: %j', (applyConfig, paths) => {
    expect(() => merged({}, applyConfig)).toThrow(
      `invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ${paths}`,
    );
  });

  it.each([
    [{ spec: { nope: 1 } }, '.spec.nope: field not declared in schema'],
    [{ spec: { replicas: 'x' } }, '.spec.replicas: expected numeric (int or float), got string'],
    [{ spec: { replicas: 'x', flag: 1 } }, 'errors:\n  .spec.replicas: expected numeric'],
    // As the reference server answers.
    [{ spec: { replicas: null } }, '.spec.replicas: expected numeric (int or float), got structpb.NullValue'],
    [{ spec: null }, '.spec: expected map, got &{NULL_VALUE}'],
    [{ spec: { containers: null } }, '.spec.containers: expected list, got &{NULL_VALUE}'],
    [
      { spec: { containers: [{ name: 'x', args: null }] } },
      '.spec.containers[name="x"].args: expected list, got &{NULL_VALUE}',
    ],
    [{ spec: { flag: null } }, '.spec.flag: expected boolean, got &{NULL_VALUE}'],
  ])('refuses %j', (applyConfig, why) => {
    expect(() => merged({}, applyConfig)).toThrow(`failed to convert patch object to typed object: ${why}`);
  });
});
