/** Which nodes a pod may run on by their labels, names and taints. */
import type { Infer } from '../../schema/index.ts';
import type { NodeSelectorRequirement, NodeSelectorTerm, Toleration } from '../../types/core-v1.ts';
import type { NodeObject, NodeTaint, PodSpec } from './objects.ts';

type Requirement = Infer<typeof NodeSelectorRequirement>;
type Term = Infer<typeof NodeSelectorTerm>;

/** The terms of the required node affinity; undefined: every node will do. */
const requiredTerms = ({ affinity }: PodSpec): readonly Term[] | undefined =>
  affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;

/** Whether the node has the labels of the pod's node selector, and one of the terms of its required affinity. */
export function selectsNode(spec: PodSpec, { metadata }: NodeObject): boolean {
  const { labels = {} } = metadata;
  const selected = Object.entries(spec.nodeSelector ?? {}).every(
    ([key, value]) => Object.hasOwn(labels, key) && labels[key] === value,
  );
  if (!selected) return false;
  const terms = requiredTerms(spec);
  return terms === undefined || terms.some((term) => matchesTerm(term, metadata));
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
  const integer = /^[+-]?\d+$/;
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

export const tolerates = (tolerations: readonly Infer<typeof Toleration>[] | undefined, taint: NodeTaint): boolean =>
  (tolerations ?? []).some(({ key, operator, value, effect }) => {
    if (effect && effect !== taint.effect) return false;
    if (key && key !== taint.key) return false;
    if (operator === 'Exists') return true;
    return (!operator || operator === 'Equal') && (value ?? '') === (taint.value ?? '') && Boolean(key);
  });
