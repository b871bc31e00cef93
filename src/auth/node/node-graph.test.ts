import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NodeGraph, type Reference, type ReferencedResource } from './node-graph.ts';

const reference = (resource: ReferencedResource, name: string, namespace = 'a'): Reference => ({
  resource,
  namespace,
  name,
});
const claim = (name: string) => reference('persistentvolumeclaims', name);
const secret = (name: string) => reference('secrets', name);

describe('a node reaches', () => {
  it('its pods, and what they refer to', () => {
    const graph = new NodeGraph();
    graph.setPod('a', 'p', 'n', [secret('s')]);
    expect(graph.reaches('n', 'pods', 'a', 'p')).toBe(true);
    expect(graph.reaches('n', 'secrets', 'a', 's')).toBe(true);
    expect(graph.reaches('n', 'configmaps', 'a', 's')).toBe(false);
    expect(graph.reaches('n', 'secrets', 'b', 's')).toBe(false);
    expect(graph.reaches('m', 'secrets', 'a', 's')).toBe(false);
    expect(graph.reaches('m', 'pods', 'a', 'p')).toBe(false);
  });

  it.each([
    [
      'the volume first',
      (graph: NodeGraph) => [
        graph.setVolume('v', claim('c'), [secret('s')]),
        graph.setPod('a', 'p', 'n', [claim('c')]),
      ],
    ],
    [
      'the pod first',
      (graph: NodeGraph) => [
        graph.setPod('a', 'p', 'n', [claim('c')]),
        graph.setVolume('v', claim('c'), [secret('s')]),
      ],
    ],
  ])('the volumes of its claims, and their secrets: %s', (_, make) => {
    const graph = new NodeGraph();
    make(graph);
    const reached = () => [graph.reaches('n', 'persistentvolumes', '', 'v'), graph.reaches('n', 'secrets', 'a', 's')];
    expect(reached()).toEqual([true, true]);
    graph.setVolume('v', claim('other'), [secret('s')]);
    expect(reached()).toEqual([false, false]);
    graph.setVolume('v', claim('c'), []);
    expect(reached()).toEqual([true, false]);
    graph.setPod('a', 'p', '', []);
    expect(reached()).toEqual([false, false]);
  });

  it('what another pod still refers to', () => {
    const graph = new NodeGraph();
    for (const name of ['p', 'q']) graph.setPod('a', name, 'n', [secret('s')]);
    graph.setPod('a', 'p', '', []);
    expect(graph.reaches('n', 'secrets', 'a', 's')).toBe(true);
    graph.setPod('a', 'q', 'm', [secret('s')]);
    expect(graph.reaches('n', 'secrets', 'a', 's')).toBe(false);
    expect(graph.reaches('m', 'secrets', 'a', 's')).toBe(true);
  });

  it('its attachments and slices', () => {
    const graph = new NodeGraph();
    graph.setOwner('volumeattachments', 'x', 'n');
    expect(graph.reaches('n', 'volumeattachments', '', 'x')).toBe(true);
    expect(graph.reaches('n', 'resourceslices', '', 'x')).toBe(false);
    graph.setOwner('volumeattachments', 'x', '');
    expect(graph.reaches('n', 'volumeattachments', '', 'x')).toBe(false);
  });
});

type Change =
  | { readonly pod: string; readonly node: string; readonly references: readonly Reference[] }
  | { readonly volume: string; readonly claim: Reference | undefined; readonly secrets: readonly Reference[] };

const nodes = ['n1', 'n2'];
const few = (prefix: string) => fc.constantFrom(...[1, 2, 3].map((i) => `${prefix}${i}`));
const anyClaim = few('c').map(claim);
const anySecret = few('s').map(secret);
const change: fc.Arbitrary<Change> = fc.oneof(
  fc.record({
    pod: few('p'),
    node: fc.constantFrom('', ...nodes),
    references: fc.array(fc.oneof(anyClaim, anySecret), { maxLength: 4 }),
  }),
  fc.record({
    volume: few('v'),
    claim: fc.option(anyClaim, { nil: undefined }),
    secrets: fc.array(anySecret, { maxLength: 2 }),
  }),
);

const idOf = (one: Change): string => ('pod' in one ? one.pod : one.volume);

function apply(graph: NodeGraph, one: Change): void {
  if ('pod' in one) graph.setPod('a', one.pod, one.node, one.references);
  else graph.setVolume(one.volume, one.claim, one.secrets);
}

/** The objects that each node reaches, by a search: a definition that the graph must agree with. */
function searched(objects: readonly Change[], node: string): Set<string> {
  const pods = objects.flatMap((one) => ('pod' in one && one.node === node ? [one] : []));
  const found = new Set(
    pods.flatMap(({ references }) => references.map(({ resource, name }) => `${resource}/${name}`)),
  );
  for (const one of objects) {
    if ('pod' in one || one.claim === undefined || !found.has(`persistentvolumeclaims/${one.claim.name}`)) continue;
    found.add(`persistentvolumes/${one.volume}`);
    for (const { name } of one.secrets) found.add(`secrets/${name}`);
  }
  return found;
}

const asked: readonly (readonly [ReferencedResource, string, string])[] = [1, 2, 3].flatMap((i) => [
  ['secrets', 'a', `s${i}`] as const,
  ['persistentvolumeclaims', 'a', `c${i}`] as const,
  ['persistentvolumes', '', `v${i}`] as const,
]);

it('reaches after any changes what the last state of the objects gives, and keeps nothing of those that are gone', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 40 }), (changes) => {
      const graph = new NodeGraph();
      const last = new Map<string, Change>();
      for (const one of changes) {
        apply(graph, one);
        last.set(idOf(one), one);
        for (const node of nodes) {
          const expected = searched([...last.values()], node);
          for (const [resource, namespace, name] of asked) {
            expect(graph.reaches(node, resource, namespace, name)).toBe(expected.has(`${resource}/${name}`));
          }
        }
      }
      for (const id of last.keys()) {
        graph.setPod('a', id, '', []);
        graph.setVolume(id, undefined, []);
      }
      expect(graph.size).toBe(0);
    }),
  );
});
