import { describe, expect, it } from 'vitest';
import { type Json, type JsonObject, namesFor, type Steps } from '../meta/index.ts';
import { field, list, map, string, struct } from '../schema/index.ts';
import { checkMembers, checkPatched } from './bounds.ts';
import { applyJsonPatchInSteps } from './json-patch.ts';
import { applyMergePatchInSteps } from './merge-patch.ts';
import { objectShape } from './shape.ts';
import { strategicMergePatch } from './strategic-patch.ts';
import { validateApplyConfig } from './validate-apply.ts';

const names = namesFor('example.com');
const Port = struct('test/v1.Port', { name: field(1, string), data: field(2, map(string)) });
const Thing = struct('test/v1.Thing', {
  data: field(3, map(string)),
  tags: field(4, list(string), { patchStrategy: 'merge' }),
  ports: field(5, list(Port), { patchStrategy: 'merge', patchMergeKey: 'name' }),
});

const range = (length: number): number[] => Array.from({ length }, (_, i) => i);
const members = (count: number, value: Json): JsonObject =>
  Object.fromEntries(range(count).map((i) => [`k${i}`, value]));
const ports = (count: number, more: JsonObject = {}): Json => range(count).map((i) => ({ name: `p${i}`, ...more }));
const tags = (count: number, first = 0): Json => range(count).map((i) => `t${first + i}`);

function stepsOf(steps: Steps<unknown>): number {
  for (let count = 1; ; count++) if (steps.next().done === true) return count;
}

const thing = objectShape(Thing, names);
const strategic = (object: Json, patch: Json) => strategicMergePatch(object, patch, Thing, names);
const value = (size: number): JsonObject => ({ data: members(size, 'v') });

/** Each in proportion to the size. */
const patches: { readonly [name: string]: (size: number) => Steps<unknown> } = {
  'a JSON patch of a large document': (size) => applyJsonPatchInSteps(value(size), []),
  'a JSON patch that adds a large value': (size) =>
    applyJsonPatchInSteps({}, [{ op: 'add', path: '/data', value: members(size, 'v') }]),
  'a JSON patch that copies a large value': (size) =>
    applyJsonPatchInSteps(value(size), [{ op: 'copy', from: '/data', path: '/copy' }]),
  'a JSON patch that tests a large value': (size) =>
    applyJsonPatchInSteps(value(size), [{ op: 'test', path: '/data', value: members(size, 'v') }]),
  'a JSON patch of many operations': (size) =>
    applyJsonPatchInSteps({ a: 1 }, Array(size / 2).fill({ op: 'replace', path: '/a', value: 2 })),
  'a merge patch of a large document': (size) => applyMergePatchInSteps(value(size), { data: { a: 'b' } }),
  'a large merge patch': (size) => applyMergePatchInSteps({}, value(size)),
  'a strategic merge patch of a large document': (size) => strategic(value(size), { data: { a: 'b' } }),
  'a strategic merge patch of many entries': (size) => strategic({ ports: ports(size) }, { ports: ports(size) }),
  'a strategic merge patch that replaces many': (size) =>
    strategic({ ports: [] }, { ports: [{ $patch: 'replace' }, ...(ports(size) as Json[])] }),
  'a strategic merge patch of many scalars': (size) => strategic({ tags: tags(size) }, { tags: tags(size, 10) }),
  'a strategic merge patch that orders many': (size) =>
    strategic({ ports: ports(size) }, { '$setElementOrder/ports': (ports(size) as Json[]).reverse() }),
  'the validation of a large configuration': (size) => validateApplyConfig(thing, value(size)),
  'the validation of many entries': (size) => validateApplyConfig(thing, { ports: ports(size) }),
  'the members of a large body': (size) => checkMembers(value(size)),
  'the members of a patched object': (size) => checkPatched(value(size)),
};

describe('steps', () => {
  it.each(Object.entries(patches))('grow with %s', (_, steps) => {
    const [one, two] = [8_000, 16_000].map((size) => stepsOf(steps(size))) as [number, number];
    expect(one).toBeGreaterThan(3);
    expect(two).toBeGreaterThan(one * 1.5);
  });
});
