import { describe, expect, it } from 'vitest';
import type { Dependent, Related } from '../object/relations.ts';
import type { Kind } from '../state/discovery.ts';
import { layoutOf } from './layout.ts';

const related = (uid: string, ...owners: string[]): Related => ({
  kind: { kind: 'Thing' } as Kind,
  namespace: '',
  name: uid,
  uid,
  owners,
});
const dependent = (uid: string, owners: string[], ...dependents: Dependent[]): Dependent => ({
  ...related(uid, ...owners),
  dependents,
});

describe('the layout of related objects', () => {
  it('has owners to the left, dependents to the right, and an edge for each owner reference', () => {
    const tree = [dependent('set', ['web'], dependent('pod-a', ['set']), dependent('pod-b', ['set', 'web']))];
    const { nodes, edges, columns, rows } = layoutOf(
      related('web', 'app'),
      [[related('app', 'root')], [related('root')]],
      tree,
    );
    expect(nodes.map(({ uid, column, row }) => [uid, column, row])).toEqual([
      ['root', 0, 0],
      ['app', 1, 0],
      ['web', 2, 0],
      ['set', 3, 0],
      ['pod-a', 4, 0],
      ['pod-b', 4, 1],
    ]);
    expect(edges.map(({ from, to }) => `${from.uid} ${to.uid}`)).toEqual([
      'root app',
      'app web',
      'web set',
      'set pod-a',
      'set pod-b',
      'web pod-b',
    ]);
    expect([columns, rows]).toEqual([5, 2]);
    expect(nodes.filter(({ isCentre }) => isCentre).map(({ uid }) => uid)).toEqual(['web']);
  });

  it('draws an object once that is an owner and a dependent', () => {
    const { nodes, edges } = layoutOf(related('a', 'b'), [[related('b', 'a')]], [dependent('b', ['a'])]);
    expect(nodes.map(({ uid }) => uid)).toEqual(['b', 'a']);
    expect(edges.map(({ from, to }) => `${from.uid} ${to.uid}`)).toEqual(['a b', 'b a']);
  });

  it('has the object itself and its nearest owners, however many owners there are', () => {
    const level = (name: string) => Array.from({ length: 150 }, (_, index) => related(`${name}-${index}`));
    const { nodes, omitted } = layoutOf(related('web'), [level('near'), level('far')], [dependent('pod', ['web'])]);
    const count = (name: string) => nodes.filter(({ uid }) => uid.startsWith(name)).length;
    expect([count('web'), count('near'), count('far'), count('pod'), omitted]).toEqual([1, 150, 49, 0, 102]);
  });

  it('leaves out what is too much to draw, and says how many objects that are', () => {
    const many = Array.from({ length: 300 }, (_, index) => dependent(`pod-${index}`, ['web']));
    expect(layoutOf(related('web'), [], many)).toMatchObject({ omitted: 101, rows: 199 });
  });
});
