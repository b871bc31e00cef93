/** Which nodes a pod may run on by their labels, names and taints. */
import { type Json, jsonEqual } from '../../meta/index.ts';
import type { Infer } from '../../schema/index.ts';
import type {
  Node as NodeSchema,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  PodSpec as PodSpecSchema,
  Toleration,
} from '../../types/core-v1.ts';
import type { Named } from './kind.ts';

export type NodeObject = NodeSchema & Named;
export type NodeTaint = NonNullable<NonNullable<NodeObject['spec']>['taints']>[number];
type PodSpec = PodSpecSchema;

type Requirement = Infer<typeof NodeSelectorRequirement>;
type Term = Infer<typeof NodeSelectorTerm>;

/** The terms of the required node affinity; undefined: every node will do. */
const requiredTerms = ({ affinity }: PodSpec): readonly Term[] | undefined =>
  affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;

/** The labels that a pod requires of its node. */
interface NodeSelection {
  readonly labels: readonly (readonly [key: string, value: string])[];
  readonly terms: readonly Term[] | undefined;
  /** How many requirements a node is compared with at most. */
  readonly cost: number;
}

const selections = new WeakMap<PodSpec, NodeSelection>();

/** Read once for each spec. */
function selectionOf(spec: PodSpec): NodeSelection {
  let selection = selections.get(spec);
  if (selection === undefined) {
    const labels = Object.entries(spec.nodeSelector ?? {});
    const terms = requiredTerms(spec);
    const inTerms = (terms ?? []).map(({ matchExpressions = [], matchFields = [] }) =>
      [...matchExpressions, ...matchFields].reduce((sum, { values = [] }) => sum + 1 + values.length, 1),
    );
    const cost = inTerms.reduce((sum, requirements) => sum + requirements, 1 + labels.length);
    selection = { labels, terms, cost };
    selections.set(spec, selection);
  }
  return selection;
}

/** How many requirements of the pod a node is compared with at most. */
export const selectionCost = (spec: PodSpec): number => selectionOf(spec).cost;

/** Whether the node has the labels of the pod's node selector, and one of the terms of its required affinity. */
export function selectsNode(spec: PodSpec, { metadata }: NodeObject): boolean {
  const selection = selectionOf(spec);
  const { labels = {} } = metadata;
  const selected = selection.labels.every(([key, value]) => Object.hasOwn(labels, key) && labels[key] === value);
  if (!selected) return false;
  return selection.terms === undefined || selection.terms.some((term) => matchesTerm(term, metadata));
}

/** A term without requirements matches no node. */
function matchesTerm({ matchExpressions = [], matchFields = [] }: Term, metadata: NodeObject['metadata']): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false;
  const { labels = {}, name } = metadata;
  return (
    matchExpressions.every((one) =>
      meets(one, Object.hasOwn(labels, one.key ?? '') ? labels[one.key ?? ''] : undefined),
    ) && matchFields.every((one) => one.key === 'metadata.name' && meets(one, name))
  );
}

function meets({ operator, values = [] }: Requirement, value: string | undefined): boolean {
  const integer = /^[+-]?0*\d{1,19}$/;
  const compared = (): number | undefined => {
    const [bound = ''] = values;
    if (value === undefined || !integer.test(value) || !integer.test(bound)) return undefined;
    return BigInt(value) < BigInt(bound) ? -1 : BigInt(value) > BigInt(bound) ? 1 : 0;
  };
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
      return compared() === 1;
    case 'Lt':
      return compared() === -1;
    default:
      return false;
  }
}

/** The nodes to which the required affinity restricts the pod by their names; undefined: to none. */
export function namedNodes(spec: PodSpec): ReadonlySet<string> | undefined {
  const names = new Set<string>();
  const terms = requiredTerms(spec) ?? [];
  if (terms.length === 0) return undefined;
  for (const { matchFields = [] } of terms) {
    const lists = matchFields.filter(({ key, operator }) => key === 'metadata.name' && operator === 'In');
    const [first, ...others] = lists.map(({ values = [] }) => values);
    if (first === undefined) return undefined;
    for (const name of first) if (others.every((values) => values.includes(name))) names.add(name);
  }
  return names;
}

/** Whether one of the tolerations is about the taint. */
export const tolerates = (tolerations: readonly Infer<typeof Toleration>[] | undefined, taint: NodeTaint): boolean =>
  (tolerations ?? []).some(({ key, operator, value, effect }) => {
    if (effect && effect !== taint.effect) return false;
    if (key && key !== taint.key) return false;
    if (operator === 'Exists') return true;
    return (!operator || operator === 'Equal') && (value ?? '') === (taint.value ?? '') && Boolean(key);
  });

/** Whether a node has come or gone, or differs in what decides about its pods. */
export const nodeChanged = (node: NodeObject | undefined, old: NodeObject | undefined): boolean =>
  node === undefined ||
  old === undefined ||
  !jsonEqual(node.metadata.labels ?? {}, old.metadata.labels ?? {}) ||
  !jsonEqual((node.spec?.taints ?? []) as Json, (old.spec?.taints ?? []) as Json);
