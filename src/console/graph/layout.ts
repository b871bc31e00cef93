/** The places of related objects in a drawing: owners to the left, dependents to the right. */
import type { Dependent, Related } from '../object/relations.ts';

export interface GraphNode extends Related {
  /** The column, from 0 at the left. */
  readonly column: number;
  /** The row in its column, from 0 at the top. */
  readonly row: number;
  /** Whether this is the object that the drawing is about. */
  readonly isCentre: boolean;
}

export interface Graph {
  /** By column, then by row. */
  readonly nodes: readonly GraphNode[];
  /** From an owner to a dependent. */
  readonly edges: readonly { readonly from: GraphNode; readonly to: GraphNode }[];
  readonly columns: number;
  readonly rows: number;
  /** The number of objects that are left out. */
  readonly omitted: number;
}

/** A drawing has at most this many objects. */
const maxNodes = 200;

/**
 * The layout of an object with its owners, by level from the nearest, and the tree of its dependents. An object that is several
 * of these has one place. Dependents are left out first, then the farthest owners.
 */
export function layoutOf(
  centre: Related,
  owners: readonly (readonly Related[])[],
  dependents: readonly Dependent[],
): Graph {
  const levels = [
    { objects: [centre], column: owners.length },
    ...owners.map((objects, index) => ({ objects, column: owners.length - 1 - index })),
    ...levelsOf(dependents).map((objects, index) => ({ objects, column: owners.length + 1 + index })),
  ];
  const seen = new Set<string>();
  const all = levels.flatMap(({ objects, column }) =>
    objects
      .filter(({ uid }) => !seen.has(uid) && seen.add(uid))
      .map((object, row): GraphNode => ({ ...object, column, row, isCentre: object === centre })),
  );
  const nodes = all.slice(0, maxNodes).sort((a, b) => a.column - b.column);
  const byUid = new Map(nodes.map((node) => [node.uid, node]));
  const edges = nodes.flatMap((to) =>
    to.owners.flatMap((uid) => {
      const from = byUid.get(uid);
      return from === undefined ? [] : [{ from, to }];
    }),
  );
  return {
    nodes,
    edges,
    columns: (nodes.at(-1)?.column ?? 0) + 1,
    rows: nodes.reduce((most, { row }) => Math.max(most, row), 0) + 1,
    omitted: all.length - nodes.length,
  };
}

/** The objects of a tree by their depth; those of one owner follow each other. */
function levelsOf(tree: readonly Dependent[]): (readonly Dependent[])[] {
  const levels: (readonly Dependent[])[] = [];
  for (let level = tree; level.length > 0; level = level.flatMap(({ dependents }) => dependents)) levels.push(level);
  return levels;
}
