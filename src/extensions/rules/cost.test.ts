import { describe, expect, it } from 'vitest';
import { estimateCost } from '../../cel/index.ts';
import { atOnce, type JsonObject, namesFor } from '../../meta/index.ts';
import { structuralOf } from '../structural.ts';
import { compileRule } from './compile.ts';
import { type Binding, bindingOf } from './types.ts';

const list = (items: JsonObject): JsonObject => ({ type: 'array', items });
const map = (additionalProperties: JsonObject): JsonObject => ({ type: 'object', additionalProperties });
const of = (type: string): JsonObject => ({ type });
const format = (name: string): JsonObject => ({ type: 'string', format: name });
const intOrString = { 'x-kubernetes-int-or-string': true };

function costOf(schema: JsonObject, rule: string): number | string | undefined {
  const structural = structuralOf({ ...schema, 'x-kubernetes-validations': [{ rule }] }, namesFor('k8s.io'));
  const { type } = bindingOf(structural, false, 'selfType') as Binding;
  const [compiled] = structural.rules.map((one) => atOnce(compileRule(one, structural, type, undefined)));
  return compiled?.expression === undefined ? compiled?.error : estimateCost(compiled.expression.checked).max;
}

const limits = { array: 'maxItems', object: 'maxProperties', string: 'maxLength' } as const;

describe('the estimated cost of a rule, as that of the reference server', () => {
  it.each<[JsonObject, string, number, number, number]>([
    [list(of('number')), 'self.all(x, true)', 4_718_591, 10, 32],
    [list(of('string')), 'self.all(x, true)', 3_145_727, 20, 62],
    [list(of('boolean')), 'self.all(x, true)', 1_887_437, 5, 17],
    [list(intOrString), 'self.all(x, true)', 4_718_591, 10, 32],
    [list(format('duration')), 'self.all(x, true)', 2_359_295, 5, 17],
    [list(format('date')), 'self.all(x, true)', 725_936, 15, 47],
    [list(format('date-time')), 'self.all(x, true)', 428_963, 25, 77],
    [list(of('number')), 'self.all(x, x == 0.0)', 6_291_454, 3, 14],
    [list(of('string')), 'self[1] == self[1]', 314_577, 8, 314_577],
    [list(intOrString), 'self[0] == 5', 3, 10, 3],
    [list(format('date')), 'self[2].getDayOfMonth() == 13', 4, 42, 4],
    [map(of('number')), 'self.all(x, true)', 1_348_169, 10, 32],
    [map(of('string')), 'self.all(x, true)', 1_179_647, 3, 11],
    [map(format('date-time')), 'self["a"] == self["b"]', 8, 7, 8],
    [of('string'), "self.contains('test')", 314_574, 10, 5],
    [of('string'), "self.startsWith('test')", 2, 15, 2],
    [of('string'), 'size(self + "hello") > size("hello")', 314_578, 4, 7],
    [of('string'), 'self.matches("x")', 314_574, 50, 22],
    [of('string'), "self.find('[0-9]+') == ''", 629_147, 10, 11],
  ])('of %j for %s', (schema, rule, unlimited, limit, limited) => {
    expect(costOf(schema, rule)).toBe(unlimited);
    const name = limits[schema['type'] as keyof typeof limits];
    expect(costOf({ ...schema, [name]: limit }, rule)).toBe(limited);
  });
});
