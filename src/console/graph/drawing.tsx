/** A drawing of related objects. Each is a link to its page. */
import { objectAddress } from '../state/route.ts';
import { t } from '../texts.ts';
import type { Graph, GraphNode } from './layout.ts';

export interface DrawingProps {
  readonly graph: Graph;
  /** The readiness of objects by their UID, as far as it is known. */
  readonly readiness: ReadonlyMap<string, string>;
  /** The identifier of the element that says the same in text. */
  readonly describedBy: string;
}

/** The sizes of boxes and of the spaces between them (CSS pixels). */
const box = { width: 200, height: 48 };
const gap = { x: 56, y: 14 };
const margin = 8;

const leftOf = ({ column }: GraphNode): number => margin + column * (box.width + gap.x);
const topOf = ({ row }: GraphNode): number => margin + row * (box.height + gap.y);

export function Drawing({ graph, readiness, describedBy }: DrawingProps) {
  const width = 2 * margin + graph.columns * (box.width + gap.x) - gap.x;
  const height = 2 * margin + graph.rows * (box.height + gap.y) - gap.y;
  return (
    <section class="graph" aria-label={t('graph')} aria-describedby={describedBy} style={pixels({ width, height })}>
      <svg class="edges" aria-hidden="true" width={width} height={height}>
        {graph.edges.map(({ from, to }) => (
          <path key={`${from.uid} ${to.uid}`} d={curve(from, to)} />
        ))}
      </svg>
      {graph.nodes.map((node) => (
        <Node key={node.uid} node={node} readiness={readiness.get(node.uid) ?? '-'} />
      ))}
    </section>
  );
}

/** From the right of the owner to the left of the dependent. */
function curve(from: GraphNode, to: GraphNode): string {
  const [x1, y1] = [leftOf(from) + box.width, topOf(from) + box.height / 2];
  const [x2, y2] = [leftOf(to), topOf(to) + box.height / 2];
  const middle = (x1 + x2) / 2;
  return `M ${x1} ${y1} C ${middle} ${y1}, ${middle} ${y2}, ${x2} ${y2}`;
}

function Node({ node, readiness }: { readonly node: GraphNode; readonly readiness: string }) {
  const { kind, namespace, name, isCentre } = node;
  return (
    <a
      class={`node ${stateOf(readiness)} ${isCentre ? 'centre' : ''}`}
      href={objectAddress(kind, namespace, name)}
      title={name}
      style={pixels({ left: leftOf(node), top: topOf(node), ...box })}
      {...(isCentre ? { 'aria-current': 'true' as const } : {})}
    >
      <span class="dim">{kind.kind}</span> <span class="name">{name}</span>{' '}
      {readiness !== '-' && <span class="ready">{readiness}</span>}
    </a>
  );
}

/** Lengths as styles. */
const pixels = (lengths: { readonly [property: string]: number }): { [property: string]: string } =>
  Object.fromEntries(Object.entries(lengths).map(([property, length]) => [property, `${length}px`]));

/** The state that the colour of a box shows. */
function stateOf(readiness: string): 'good' | 'bad' | 'unknown' {
  const [ready, all] = /^(\d+)\/(\d+)$/.exec(readiness)?.slice(1) ?? [];
  if (ready !== undefined) return ready === all ? 'good' : 'bad';
  if (/^(?:Not|Failed|Lost|Terminating)/.test(readiness)) return 'bad';
  return readiness === '-' || readiness === 'Pending' ? 'unknown' : 'good';
}
