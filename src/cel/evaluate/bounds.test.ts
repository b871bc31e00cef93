import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../meta/index.ts';
import { costOf, evaluate, type Variables } from '../testing/evaluate.ts';
import { intType, listType, mapType, stringType, uintType } from '../types.ts';
import { CelError, CostLimitError, JsonMapValue, ListValue, Uint, type Value } from '../values.ts';
import { SetListValue } from './associative-lists.ts';

const read = (json: Json): Value => json as Value;

describe('the work of an evaluation', () => {
  it('collects the keys of a large map once', () => {
    let collected = 0;
    const target: JsonObject = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`key-${i}`, 'v']));
    const json = new Proxy(target, {
      ownKeys(object) {
        collected++;
        return Reflect.ownKeys(object);
      },
    });
    const variables: Variables = { m: [mapType(stringType, stringType), new JsonMapValue(json, read)] };
    expect(evaluate('m.all(k, m.size() == 200 && m != {} && m.exists(j, true))', variables)).toBe(true);
    expect(collected).toBe(1);
    target.more = 'v';
    expect(evaluate('m.size()', variables)).toBe(201);
  });

  it('does not copy long lists that are concatenated', () => {
    let reads = 0;
    const count = (json: Json): Value => {
      reads++;
      return json as Value;
    };
    const json = Array.from({ length: 1000 }, (_, i) => i);
    const variables: Variables = { l: [listType(intType), new ListValue(json, count)] };
    expect(evaluate('(l + l + l).size()', variables)).toBe(3000);
    expect(reads).toBeLessThan(10);
    expect(evaluate('(l + l + l)[2500]', variables)).toBe(500);
    expect(evaluate('(l + l).map(x, x) == l.map(x, x) + l.map(x, x)', variables)).toBe(true);
  });

  it('refuses lists that double without end', () => {
    const doubled = (depth: number): string =>
      depth === 0 ? 'v0.size()' : `[v${depth} + v${depth}].map(v${depth - 1}, ${doubled(depth - 1)})[0]`;
    const variables: Variables = { v30: [listType(intType), new ListValue([1, 2])] };
    expect(() => evaluate(doubled(30), variables)).toThrow(new CelError('the list is too large'));
  });

  it('compares no more than its budget when values share their parts', () => {
    const shared = (depth: number): string =>
      depth === 0 ? 'v0 == v0' : `[[v${depth}, v${depth}]].all(v${depth - 1}, ${shared(depth - 1)})`;
    const variables: Variables = { v40: [listType(intType), new ListValue([1])] };
    expect(() => evaluate(shared(40), variables)).toThrow(CostLimitError);
    expect(() => evaluate(`[[v40]].all(v40, ${shared(40)})`, variables)).toThrow(CostLimitError);
  });

  it('ends when strings double', () => {
    const limit = 'the result is longer than 4000000 characters';
    const doubled = (depth: number): string =>
      depth === 0 ? 'v0.size()' : `[v${depth} + v${depth}].map(v${depth - 1}, ${doubled(depth - 1)})[0]`;
    const variables: Variables = { v40: [stringType, 'ab'] };
    expect(() => evaluate(doubled(40), variables)).toThrow(new CelError(limit));
  });

  it('costs what it reads when lists are merged', () => {
    const items = (length: number): Value => new SetListValue(Array.from({ length }, (_, i) => i));
    expect(costOf('s + s', { s: [listType(intType), items(500)] })).toBe(102);
    expect(costOf('s + s', { s: [listType(intType), items(2)] })).toBe(3);
  });

  it('records no stack for failures', () => {
    expect(new CelError('division by zero').stack).toBe('Error: division by zero');
    expect(new Error('other').stack).toContain('bounds.test');
  });

  it('is the same for constant lists of any size', () => {
    const many = Array.from({ length: 1000 }, (_, i) => `${i}u`).join(', ');
    expect(costOf(`u in [${many}]`, { u: [uintType, new Uint(999n)] })).toBe(1);
    expect(evaluate(`dyn(7.0) in [${many}] && dyn(7) in [${many}] && !(dyn(1.5) in [${many}])`)).toBe(true);
    expect(evaluate('[dyn(0.0 / 0.0), dyn("1"), dyn(null)].exists(x, x in [0.0, 1.0])')).toBe(false);
    expect(evaluate('dyn(9007199254740993) in [9007199254740992.0] && 2u in [dyn(2u)]')).toBe(true);
  });
});
