import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { atOnce, type JsonObject, namesFor, type Steps } from '../meta/index.ts';
import { ConfigMap, Pod } from '../types/core-v1.ts';
import { compare } from './compare.ts';
import { compareInSteps } from './compare-steps.ts';
import { difference, type FieldSet, filterFields, intersection, recursiveDifference, union } from './field-set.ts';
import {
  differenceInSteps,
  filterFieldsInSteps,
  intersectionInSteps,
  toFieldsV1InSteps,
  unionInSteps,
} from './field-set-steps.ts';
import { fieldsOf, fieldsOfInSteps, wholeOf } from './fields-of.ts';
import { parseFieldsV1InSteps, toFieldsV1 } from './fields-v1.ts';
import { merge, mergeInSteps } from './merge.ts';
import { reconcile, reconcileInSteps } from './reconcile.ts';
import { objectShape } from './shape.ts';

const names = namesFor('k8s.io');
const shape = objectShape(Pod, names);

/** A pod that is large in every way: entries with keys, a set, a map, nested lists, an atomic list. */
const podOf = (keys: readonly number[], value: string, order: 1 | -1): JsonObject => {
  const sorted = [...keys].sort((a, b) => order * (a - b));
  const env = sorted.map((i) => ({ name: `E${i}`, value: i % 3 === 0 ? 'same' : value }));
  const containers = sorted.slice(0, 40).map((i) => ({ name: `c${i}`, env: env.slice(0, 20), command: [value] }));
  return {
    metadata: { labels: Object.fromEntries(sorted.map((i) => [`l${i}`, value])), finalizers: sorted.map(String) },
    spec: {
      containers: [{ name: 'main', env }, ...containers],
      nodeSelector: sorted.length % 2 === 0 ? {} : { a: value },
      tolerations: sorted.map((i) => ({ key: `k${i}`, value })),
    },
  };
};

const keys = fc.uniqueArray(fc.integer({ min: 0, max: 1_800 }), { minLength: 1_100, maxLength: 1_500, size: 'max' });
const pods = fc
  .tuple(keys, fc.constantFrom('a', 'b'), fc.constantFrom<1 | -1>(1, -1))
  .map(([found, value, order]) => podOf(found, value, order));
const runs = { numRuns: 15 };

describe('large objects in steps', () => {
  it('are compared, merged and turned into field sets as at once', () => {
    fc.assert(
      fc.property(pods, pods, (before, after) => {
        const { added, removed, modified } = atOnce(compareInSteps(shape, before, after));
        expect({ added, removed, modified }).toEqual({
          ...compare(shape, before, after),
          path: undefined,
          put: undefined,
        });
        expect(atOnce(mergeInSteps(shape, before, after))).toEqual(merge(shape, before, after));
        expect(atOnce(mergeInSteps(shape, before, before))).toBe(before);
        const set = fieldsOf(shape, before);
        expect(atOnce(fieldsOfInSteps(shape, before))).toEqual(set);
        expect(atOnce(fieldsOfInSteps(shape, before, set))).toBe(set);
      }),
      runs,
    );
  });

  it('have field sets whose operations give the same as at once', () => {
    fc.assert(
      fc.property(pods, pods, (first, second) => {
        const [a, b] = [fieldsOf(shape, first), wholeOf(shape, second) as FieldSet];
        expect(atOnce(unionInSteps(a, b))).toEqual(union(a, b));
        expect(atOnce(differenceInSteps(b, a))).toEqual(difference(b, a));
        expect(atOnce(intersectionInSteps(a, b))).toEqual(intersection(a, b));
        expect(atOnce(filterFieldsInSteps({ exclude: a }, b))).toEqual(filterFields({ exclude: a }, b));
        expect(recursiveDifference(b, a)).toEqual(filterFields({ exclude: a }, b));
        const wire = atOnce(toFieldsV1InSteps(b));
        expect(JSON.stringify(wire)).toBe(JSON.stringify(toFieldsV1(b)));
        expect(atOnce(parseFieldsV1InSteps(wire as JsonObject))).toEqual(b);
        const other = objectShape(ConfigMap, names);
        expect(atOnce(reconcileInSteps(other, structuredClone(b)))).toEqual(reconcile(other, structuredClone(b)));
        expect(atOnce(reconcileInSteps(shape, structuredClone(b)))).toEqual(b);
      }),
      runs,
    );
  });
});

const count = (steps: Steps<unknown>): number => [...steps].length;

describe('the steps of a large object', () => {
  const range = (n: number) => Array.from({ length: n }, (_, i) => i);
  const of = (n: number, value: string) => podOf(range(n), value, 1);

  it.each<readonly [string, (n: number) => Steps<unknown>]>([
    ['comparison', (n) => compareInSteps(shape, of(n, 'a'), of(n, 'b'))],
    ['comparison with nothing', (n) => compareInSteps(shape, { metadata: {} }, of(n, 'b'))],
    ['merge', (n) => mergeInSteps(shape, of(n, 'a'), of(n, 'b'))],
    ['field set', (n) => fieldsOfInSteps(shape, of(n, 'a'))],
    ['canonical field set', (n) => toFieldsV1InSteps(fieldsOf(shape, of(n, 'a')))],
    ['parsed field set', (n) => parseFieldsV1InSteps(toFieldsV1(fieldsOf(shape, of(n, 'a'))))],
    ['union', (n) => unionInSteps(fieldsOf(shape, of(n, 'a')), wholeOf(shape, of(n, 'b')) as FieldSet)],
    ['difference', (n) => differenceInSteps(wholeOf(shape, of(n, 'b')) as FieldSet, fieldsOf(shape, of(n, 'a')))],
    ['intersection', (n) => intersectionInSteps(fieldsOf(shape, of(n, 'a')), fieldsOf(shape, of(n, 'b')))],
  ])('of its %s grow with its size', (_, steps) => {
    const [one, two] = [count(steps(4_000)), count(steps(8_000))];
    expect(one).toBeGreaterThan(5);
    expect(two / one).toBeGreaterThan(1.5);
    expect(two / one).toBeLessThan(3);
  });
});
