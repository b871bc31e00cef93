/** Which nodes can take a pod, and what is said of those that cannot. */
import {
  compareQuantities,
  type Names,
  parseQuantity,
  type Quantity,
  subtractQuantities,
  type Turns,
} from '../../meta/index.ts';
import { parseResourceList } from '../../rules/index.ts';
import { namedNodes, selectionCost, selectsNode, tolerates } from '../shared/node-selection.ts';
import { Evaluation } from '../shared/selection.ts';
import { hostPortsOf, type NodeLoad, requestsOf } from './node-loads.ts';
import type { NodeObject, PodObject } from './objects.ts';
import { affinityCheck, type Neighbours, type Rejection } from './pod-affinity.ts';

export interface Candidate {
  readonly node: NodeObject;
  /** Whether the pod selects the node. */
  readonly selected: boolean;
  readonly load: NodeLoad;
}

type Verdict = { readonly node: string } | { readonly message: string };

const zero: Quantity = parseQuantity('0');
const final = (reason: string): Rejection => ({ reasons: [reason], final: true });

/** The nodes that the pod selects. In turns. */
export async function selectedNodes(
  { spec = {} }: PodObject,
  nodes: readonly NodeObject[],
  turns: Turns,
): Promise<ReadonlySet<NodeObject>> {
  const candidates = new Set<NodeObject>();
  const evaluation = new Evaluation(turns);
  for (const node of nodes) {
    if (selectsNode(spec, node)) candidates.add(node);
    const turn = evaluation.took(selectionCost(spec));
    if (turn !== undefined) await turn;
  }
  return candidates;
}

/** The node with the fewest pods of those that can take the pod, by name among equals; or why there is none. */
export function choose(
  pod: PodObject,
  candidates: readonly Candidate[],
  neighbours: Neighbours,
  names: Names,
): Verdict {
  if (candidates.length === 0) return { message: 'no nodes available to schedule pods' };
  const nodeNames = namedNodes(pod.spec ?? {});
  if (nodeNames?.size === 0) return { message: refusal(pod, candidates.length, 'pod affinity terms conflict', 0) };
  const check = filters(pod, neighbours, names);
  const rejections: Rejection[] = [];
  let best: { readonly name: string; readonly pods: number } | undefined;
  for (const candidate of candidates) {
    const { name = '' } = candidate.node.metadata;
    const rejection =
      nodeNames?.has(name) === false ? final("node(s) didn't satisfy plugin(s) [NodeAffinity]") : check(candidate);
    if (rejection !== undefined) {
      rejections.push(rejection);
      continue;
    }
    const { pods } = candidate.load;
    if (best === undefined || pods < best.pods || (pods === best.pods && name < best.name)) best = { name, pods };
  }
  if (best !== undefined) return { node: best.name };
  const reasons = histogram(rejections.flatMap((rejection) => rejection.reasons));
  const open = rejections.filter((rejection) => !rejection.final).length;
  return { message: refusal(pod, candidates.length, reasons, open) };
}

/** The message of a pod that no node can take; `open` counts the nodes that could without other pods. */
function refusal({ spec }: PodObject, nodes: number, reasons: string, open: number): string {
  const available = `0/${nodes} nodes are available:`;
  const preempted = [
    ...Array.from({ length: open }, () => 'No preemption victims found for incoming pod'),
    ...Array.from({ length: nodes - open }, () => 'Preemption is not helpful for scheduling'),
  ];
  const preemption =
    spec?.preemptionPolicy === 'Never'
      ? 'not eligible due to preemptionPolicy=Never.'
      : `${available} ${histogram(preempted)}.`;
  return `${available} ${reasons}. preemption: ${preemption}`;
}

function histogram(reasons: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return [...counts]
    .map(([reason, count]) => `${count} ${reason}`)
    .sort()
    .join(', ');
}

/** The filters of the scheduler, in its order: the first that rejects a node says why. */
function filters(
  pod: PodObject,
  neighbours: Neighbours,
  { labels }: Names,
): (candidate: Candidate) => Rejection | undefined {
  const { spec = {} } = pod;
  const requests = [...requestsOf(spec)].filter(([, { nano }]) => nano > 0n);
  const ports = hostPortsOf(spec);
  const affinity = affinityCheck(pod, neighbours);
  const unschedulable = { key: `node.${labels}/unschedulable`, effect: 'NoSchedule' };
  return ({ node, selected, load }) => {
    const { taints = [], unschedulable: cordoned = false } = node.spec ?? {};
    if (cordoned && !tolerates(spec.tolerations, unschedulable)) return final('node(s) were unschedulable');
    const repels = taints.some((taint) => taint.effect !== 'PreferNoSchedule' && !tolerates(spec.tolerations, taint));
    if (repels) return final('node(s) had untolerated taint(s)');
    if (!selected) return final("node(s) didn't match Pod's node affinity/selector");
    if (ports.some((port) => load.ports.has(port))) {
      return { reasons: ["node(s) didn't have free ports for the requested pod ports"], final: false };
    }
    return lacks(requests, node, load) ?? affinity(node);
  };
}

/** The resources that the node lacks. */
function lacks(requests: readonly [string, Quantity][], node: NodeObject, load: NodeLoad): Rejection | undefined {
  const allocatable = parseResourceList(node.status?.allocatable);
  const reasons: string[] = [];
  if (BigInt(load.pods + 1) * 1_000_000_000n > (allocatable.get('pods') ?? zero).nano) reasons.push('Too many pods');
  let beyond = false;
  for (const [name, amount] of requests) {
    const all = allocatable.get(name) ?? zero;
    if (compareQuantities(amount, subtractQuantities(all, load.requested.get(name) ?? zero)) <= 0) continue;
    reasons.push(`Insufficient ${name}`);
    beyond ||= compareQuantities(amount, all) > 0;
  }
  return reasons.length === 0 ? undefined : { reasons, final: beyond };
}
