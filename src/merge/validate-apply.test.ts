import { expect, it } from 'vitest';
import { atOnce, type Json, type JsonObject } from '../meta/index.ts';
import { objectShape } from './shape.ts';
import { names, thing } from './testing/thing.ts';
import { validateApplyConfig } from './validate-apply.ts';

// The messages are those of structured-merge-diff 4.1.2, the merge library of the reference server, for the same type.

const shape = objectShape(thing(), names);

it.each<[JsonObject, string]>([
  [{ data: { a: 1 } }, '.data.a: expected string, got &value.valueUnstructured{Value:1}'],
  [{ data: { a: true } }, '.data.a: expected string, got &value.valueUnstructured{Value:true}'],
  [
    { data: { a: { b: 'x' } } },
    '.data.a: expected string, got &value.valueUnstructured{Value:map[string]interface {}{"b":"x"}}',
  ],
  [{ data: { a: ['x', 1] } }, '.data.a: expected string, got &value.valueUnstructured{Value:[]interface {}{"x", 1}}'],
  [{ data: 'x' }, '.data: expected map, got &{x}'],
  [{ data: [1] }, '.data: expected map, got &{[1]}'],
  [{ bogus: 1 }, '.bogus: field not declared in schema'],
  [{ spec: { bogus: 1 } }, '.spec.bogus: field not declared in schema'],
  [{ spec: { text: 1.5 } }, '.spec.text: expected string, got &value.valueUnstructured{Value:1.5}'],
  [{ spec: { tags: 'x' } }, '.spec.tags: expected list, got &{x}'],
  [{ spec: { tags: { a: 1 } } }, '.spec.tags: expected list, got &{map[a:1]}'],
  [{ spec: { tags: [1] } }, '.spec.tags[=1]: expected string, got &value.valueUnstructured{Value:1}'],
  [{ spec: { tags: ['a', 'a'] } }, '.spec.tags: duplicate entries for key [="a"]'],
  [
    { spec: { tags: [null] } },
    ".spec.tags: element 0: associative list without keys has an element that's an explicit null",
  ],
  [
    { spec: { tags: [{ a: 1 }] } },
    ".spec.tags: element 0: associative list without keys has an element that's a map type",
  ],
  [{ spec: { tags: [['a']] } }, '.spec.tags: element 0: not supported: associative list with lists as elements'],
  [
    { spec: { containers: [{ name: 1 }] } },
    '.spec.containers[name=1].name: expected string, got &value.valueUnstructured{Value:1}',
  ],
  [
    { spec: { containers: ['x'] } },
    '.spec.containers: element 0: associative list with keys may not have non-map elements',
  ],
  [
    { spec: { containers: [null] } },
    '.spec.containers: element 0: associative list with keys may not have a null element',
  ],
  [{ spec: { containers: [{ name: 'a' }, { name: 'a' }] } }, '.spec.containers: duplicate entries for key [name="a"]'],
  [
    { spec: { containers: [{ name: 'a', bogus: 1 }] } },
    '.spec.containers[name="a"].bogus: field not declared in schema',
  ],
  [
    { spec: { containers: [{ name: 'a', image: 1 }] } },
    '.spec.containers[name="a"].image: expected string, got &value.valueUnstructured{Value:1}',
  ],
  [
    { spec: { containers: [{ name: 'a', ports: [{ port: '80' }] }] } },
    '.spec.containers[name="a"].ports[port="80",protocol="TCP"].port: expected numeric (int or float), got string',
  ],
  [
    { spec: { containers: [{ name: 'a', ports: [{ port: 80 }, { port: 80, protocol: 'TCP' }] }] } },
    '.spec.containers[name="a"].ports: duplicate entries for key [port=80,protocol="TCP"]',
  ],
  [{ spec: { containers: {} } }, '.spec.containers: expected list, got &{map[]}'],
  [{ spec: { selector: { a: 1 } } }, '.spec.selector.a: expected string, got &value.valueUnstructured{Value:1}'],
  [{ spec: { selector: 'x' } }, '.spec.selector: expected map, got &{x}'],
  [{ spec: { strategy: { max: 'x' } } }, '.spec.strategy.max: expected numeric (int or float), got string'],
  [{ spec: { strategy: { max: true } } }, '.spec.strategy.max: expected numeric (int or float), got bool'],
  [{ spec: { strategy: { max: [1] } } }, '.spec.strategy.max: expected numeric (int or float), got []interface {}'],
  [{ spec: { strategy: 1 } }, '.spec.strategy: expected map, got &{1}'],
  [{ spec: { ref: { kind: 1 } } }, '.spec.ref.kind: expected string, got &value.valueUnstructured{Value:1}'],
  [{ spec: { ref: { bogus: 'x' } } }, '.spec.ref.bogus: field not declared in schema'],
  [{ spec: { args: [1] } }, '.spec.args[0]: expected string, got &value.valueUnstructured{Value:1}'],
  [{ spec: { args: { a: 1 } } }, '.spec.args: expected list, got &{map[a:1]}'],
  [
    { spec: { args: [['x']] } },
    '.spec.args[0]: expected string, got &value.valueUnstructured{Value:[]interface {}{"x"}}',
  ],
  [{ spec: { pairs: { a: 'x' } } }, '.spec.pairs.a: expected map, got &{x}'],
  [{ spec: { pairs: { a: { a: 1 } } } }, '.spec.pairs.a.a: expected string, got &value.valueUnstructured{Value:1}'],
  [{ spec: 'x' }, '.spec: expected map, got &{x}'],
  [{ spec: [1] }, '.spec: expected map, got &{[1]}'],
  [
    { spec: { text: [{ a: 'x', b: [1, 'y', null, true, 1.5] }] } },
    '.spec.text: expected string, got &value.valueUnstructured{Value:[]interface {}{map[string]interface {}{"a":"x", "b":[]interface {}{1, "y", interface {}(nil), true, 1.5}}}}',
  ],
  [
    { spec: { containers: [{ name: 'a', args: [{ x: 1 }] }] } },
    '.spec.containers[name="a"].args[0]: expected string, got &value.valueUnstructured{Value:map[string]interface {}{"x":1}}',
  ],
])('%j', (applyConfig, error) => {
  expect(atOnce(validateApplyConfig(shape, applyConfig))).toEqual([error]);
});

it('a valid applied configuration has no errors', () => {
  const spec = {
    text: null,
    tags: ['a', 'b'],
    containers: [{ name: 'a', ports: [{ port: 1 }, { port: 1, protocol: 'UDP' }] }],
  };
  expect(atOnce(validateApplyConfig(shape, { data: { a: 'x' }, spec }))).toEqual([]);
});

it('errors are bounded in number and length, whatever the keys and entries', () => {
  const long = 'k'.repeat(100_000);
  const containers = Array.from({ length: 2_000 }, (_, i) => ({ name: `${i}${long.slice(0, 1_000)}`, bogus: 1 }));
  const data = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`${i}${long}`, 1]));
  for (const applyConfig of [{ spec: { containers } }, { data }, { spec: { tags: [long, long] } }]) {
    const errors = atOnce(validateApplyConfig(shape, applyConfig));
    expect(errors.length).toBeLessThanOrEqual(100);
    for (const error of errors) expect(error.length).toBeLessThan(2_000);
  }
});

it.each(['text', 'tags'])('of a long value of spec.%s only the beginning is read for its error', (field) => {
  const list = Array.from<Json>({ length: 60_000 }).fill('x');
  Object.defineProperty(list, 1_000, {
    get: () => {
      throw new Error('read');
    },
  });
  const [error] = atOnce(validateApplyConfig(shape, { spec: { [field]: { list } } }));
  expect(error).toMatch(/^\.spec\.(text: expected string|tags: expected list), got .*list.*x.{0,4}x/);
});
