import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../meta/index.ts';
import { apply, failure, item } from './testing/strategic.ts';

describe('errors', () => {
  it.each<{ name: string; before?: JsonObject; patch: Json; code: number; reason: string; message: string }>([
    {
      name: 'a list as the patch',
      patch: [1],
      code: 400,
      reason: 'BadRequest',
      message: 'json: cannot unmarshal array into Go value of type map[string]interface {}',
    },
    {
      name: 'a string as the patch',
      patch: 'x',
      code: 400,
      reason: 'BadRequest',
      message: 'json: cannot unmarshal string into Go value of type map[string]interface {}',
    },
    {
      name: 'a number as the patch',
      patch: 5n,
      code: 400,
      reason: 'BadRequest',
      message: 'json: cannot unmarshal number into Go value of type map[string]interface {}',
    },
    {
      name: 'a boolean as the patch',
      patch: true,
      code: 400,
      reason: 'BadRequest',
      message: 'json: cannot unmarshal bool into Go value of type map[string]interface {}',
    },
    {
      name: 'an unknown directive at the root',
      patch: { $patch: 'explode', text: 'a' },
      code: 500,
      reason: '',
      message: 'unknown patch type: explode in map: map[$patch:explode text:a]',
    },
    {
      name: 'an unknown directive in an object',
      before: { inner: {} },
      patch: { inner: { $patch: null } },
      code: 500,
      reason: '',
      message: 'unknown patch type: <nil> in map: map[$patch:<nil>]',
    },
    {
      name: 'an unknown directive in an entry',
      before: { items: [item('a')] },
      patch: { items: [{ name: 'a', $patch: true, set: { b: '1', a: '2' }, tags: ['x', 'y'] }] },
      code: 500,
      reason: '',
      message: 'unknown patch type: true in map: map[$patch:true name:a set:map[a:2 b:1] tags:[x y]]',
    },
    {
      name: 'merge in an object',
      before: { inner: {} },
      patch: { inner: { $patch: 'merge', value: '2' } },
      code: 500,
      reason: '',
      message: 'unknown patch type: merge in map: map[$patch:merge value:2]',
    },
    {
      name: 'merge in an entry',
      before: { items: [item('a')] },
      patch: { items: [{ name: 'a', $patch: 'merge', value: '1' }] },
      code: 500,
      reason: '',
      message: 'merging lists cannot yet be specified in the patch',
    },
    {
      name: 'an entry without its merge key',
      before: { items: [item('a')] },
      patch: { items: [{ value: '1' }] },
      code: 500,
      reason: '',
      message: 'map: map[value:1] does not contain declared merge key: name',
    },
    {
      name: 'a deletion without its merge key',
      before: { items: [item('a')] },
      patch: { items: [{ $patch: 'delete' }] },
      code: 500,
      reason: '',
      message: 'map: map[$patch:delete] does not contain declared merge key: name',
    },
    {
      name: 'an entry without its merge key in a replaced list',
      before: { items: [item('a')] },
      patch: { items: [{ $patch: 'replace' }, { value: '1' }] },
      code: 500,
      reason: '',
      message: 'map: map[value:1] does not contain declared merge key: name',
    },
    {
      name: 'a live entry without its merge key',
      before: { items: [{ value: '1' }] },
      patch: { items: [{ name: 'a' }] },
      code: 500,
      reason: '',
      message: 'map: map[value:1] does not contain declared merge key: name',
    },
    {
      name: 'objects in a list without merge key',
      before: { keyless: [item('a')] },
      patch: { keyless: [item('b')] },
      code: 500,
      reason: '',
      message: 'cannot merge lists without merge key for struct',
    },
    {
      name: 'entries of several types',
      before: { items: [item('a')] },
      patch: { items: ['x'] },
      code: 500,
      reason: '',
      message: 'list element types are not identical: [x]',
    },
    {
      name: 'null as an entry',
      before: { tags: ['a'] },
      patch: { tags: [null] },
      code: 500,
      reason: '',
      message: 'list element types are not identical: [<nil>]',
    },
    {
      name: 'null as the first entry',
      before: { items: [] },
      patch: { items: [null] },
      code: 500,
      reason: '',
      message: 'list element types are not identical: [<nil>]',
    },
    {
      name: 'lists of lists',
      before: { tags: [] },
      patch: { tags: [['a']] },
      code: 422,
      reason: 'Invalid',
      message: 'the server rejected our request due to an error in our request',
    },
    {
      name: '$retainKeys that is not a list',
      before: { union: {} },
      patch: { union: { $retainKeys: 'name' } },
      code: 400,
      reason: 'BadRequest',
      message: 'invalid patch format of retainKeys',
    },
    {
      name: '$retainKeys without a key of the patch',
      before: { union: {} },
      patch: { union: { $retainKeys: ['name'], value: '1' } },
      code: 400,
      reason: 'BadRequest',
      message: 'invalid patch format of retainKeys',
    },
    {
      name: '$setElementOrder without a list',
      patch: { $setElementOrder: [] },
      code: 400,
      reason: 'BadRequest',
      message: 'invalid patch format of setElementOrder list',
    },
    {
      name: '$deleteFromPrimitiveList without a list',
      patch: { $deleteFromPrimitiveListX: [] },
      code: 400,
      reason: 'BadRequest',
      message: 'invalid patch format of primitive list',
    },
    {
      name: '$deleteFromPrimitiveList that is not a list',
      before: { tags: ['a'] },
      patch: { '$deleteFromPrimitiveList/tags': 'a' },
      code: 400,
      reason: 'BadRequest',
      message: 'invalid patch format of primitive list',
    },
    {
      name: '$deleteFromPrimitiveList of objects',
      before: { items: [item('a')] },
      patch: { '$deleteFromPrimitiveList/items': [item('a')] },
      code: 400,
      reason: 'BadRequest',
      message: 'invalid patch format of primitive list',
    },
    {
      name: '$setElementOrder that is not a list',
      patch: { '$setElementOrder/tags': 'a' },
      code: 500,
      reason: '',
      message: 'expected a []interface {}, but received a string',
    },
    {
      name: '$setElementOrder of a value that is not a list',
      before: { inner: {} },
      patch: { '$setElementOrder/inner': [] },
      code: 500,
      reason: '',
      message: 'expected a []interface {}, but received a map[string]interface {}',
    },
    {
      name: '$setElementOrder for a change that is not a list',
      before: { tags: ['a'] },
      patch: { '$setElementOrder/tags': ['a'], tags: 1.5 },
      code: 500,
      reason: '',
      message: 'expected a []interface {}, but received a float64',
    },
    {
      name: '$setElementOrder of an unknown field',
      patch: { '$setElementOrder/y': [] },
      code: 500,
      reason: '',
      message: 'unable to find api field in struct Thing for the json field "y"',
    },
    {
      name: '$setElementOrder of an unknown field in an entry',
      before: { items: [item('a')] },
      patch: { items: [{ name: 'a', '$setElementOrder/a/b': [] }] },
      code: 500,
      reason: '',
      message: 'unable to find api field in struct Item for the json field "a/b"',
    },
    {
      name: '$setElementOrder of a field of another type',
      patch: { '$setElementOrder/text': [] },
      code: 500,
      reason: '',
      message: 'expected slice or array type, but got: struct',
    },
    {
      name: '$setElementOrder in a map of scalars',
      before: { labels: {} },
      patch: { labels: { '$setElementOrder/a': [] } },
      code: 500,
      reason: '',
      message: 'expected slice or array type, but got: map',
    },
    {
      name: '$setElementOrder with an entry without its merge key',
      before: { items: [item('a')] },
      patch: { '$setElementOrder/items': [{ value: '1' }] },
      code: 500,
      reason: '',
      message: 'map: map[value:1] does not contain declared merge key: name',
    },
    {
      name: '$setElementOrder with an entry of another type',
      before: { items: [item('a')] },
      patch: { '$setElementOrder/items': [true] },
      code: 500,
      reason: '',
      message: 'expected a map[string]interface {}, but received a bool',
    },
    {
      name: '$setElementOrder of objects without merge key',
      before: { rows: [item('a')] },
      patch: { '$setElementOrder/rows': [item('a')] },
      code: 400,
      reason: 'BadRequest',
      message: 'invalid patch format of setElementOrder list',
    },
    {
      name: '$setElementOrder in another order than the patch',
      before: { tags: ['a'] },
      patch: { '$setElementOrder/tags': ['a', 'b'], tags: ['b', 'a'] },
      code: 500,
      reason: '',
      message: "The order in patch list:\n[b a]\n doesn't match $setElementOrder list:\n[a b]\n",
    },
    {
      name: '$setElementOrder without an entry of the patch',
      before: { items: [item('a')] },
      patch: { '$setElementOrder/items': [{ name: 'a' }], items: [{ name: 'n' }] },
      code: 500,
      reason: '',
      message: "The order in patch list:\n[map[name:n]]\n doesn't match $setElementOrder list:\n[map[name:a]]\n",
    },
    {
      name: 'a live field that is not declared',
      before: { y: {} },
      patch: { y: { a: 1 } },
      code: 500,
      reason: '',
      message: 'unable to find api field in struct Thing for the json field "y"',
    },
  ])('$name', ({ before = {}, patch, code, reason, message }) => {
    const error = failure(before, patch);
    expect({ code: error.code, reason: error.reason, message: error.message }).toEqual({ code, reason, message });
  });

  it('shortens a large value', () => {
    const { message } = failure({ items: [item('a')] }, { items: [{ value: 'x'.repeat(100_000) }] });
    expect(message.length).toBeLessThan(4200);
    expect(message.endsWith('x... does not contain declared merge key: name')).toBe(true);
  });

  it('shows nothing of the live list', () => {
    const { message } = failure({ items: [item('a', { value: 'secret' })] }, { items: ['x'] });
    expect(message).not.toContain('secret');
  });
});

describe('work limit', () => {
  const many = (count: number, more: JsonObject) => Array.from({ length: count }, (_, i) => item(`n${i}`, more));

  it('lists of 10,000 entries may be merged, ordered and shortened', () => {
    const before = { items: many(10_000, { value: '1' }) };
    const order = before.items.map(({ name }) => ({ name: name as string })).reverse();
    const deletions = order.slice(0, 100).map(({ name }) => ({ name, $patch: 'delete' }));
    const changed = order.slice(100).map((entry) => ({ ...entry, other: '2' }));
    const patch = { '$setElementOrder/items': order.slice(100), items: [...changed, ...deletions] };
    const after = apply(before, patch) as { items: JsonObject[] };
    expect(after.items).toEqual(order.slice(100).map(({ name }) => item(name, { value: '1', other: '2' })));
  });

  it('a set of 10,000 scalars may be merged and shortened', () => {
    const tags = Array.from({ length: 10_000 }, (_, i) => `t${i}`);
    const after = apply({ tags }, { tags: ['new'], '$deleteFromPrimitiveList/tags': tags.slice(1) });
    expect(after).toEqual({ tags: ['new', 't0'] });
  });

  it('many changes of one large entry are refused', () => {
    const grow = Array.from({ length: 10_000 }, (_, i) => ({ name: 'a', [`f${i}`]: '' }));
    expect(failure({ items: [item('a')] }, { items: grow }).code).toBe(413);
    const wide = Array.from({ length: 1000 }, () => ({ name: 'a', tags: ['x'] }));
    const tags = Array.from({ length: 10_000 }, (_, i) => `t${i}`);
    expect(failure({ items: [item('a', { tags })] }, { items: wide }).code).toBe(413);
  });
});
