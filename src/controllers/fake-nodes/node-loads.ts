import { parseQuantity, type Quantity, subtractQuantities } from '../../meta/index.ts';
import { addInPlace, parseResourceList, podResources, type Quantities } from '../../rules/index.ts';
import { isTerminal, type PodObject, type PodSpec } from './objects.ts';

/** The resources that the pods of a node use, without pods that have ended. */
export interface NodeLoad {
  pods: number;
  readonly requested: Quantities;
  /** How many pods have a host port, by protocol and number. */
  readonly ports: Map<string, number>;
}

const none: NodeLoad = { pods: 0, requested: new Map(), ports: new Map() };

/** The resources that a pod asks for, its overhead included. */
export function requestsOf(spec: PodSpec): Quantities {
  const requests = podResources(spec, 'requests');
  addInPlace(requests, parseResourceList(spec.overhead));
  return requests;
}

/** The ports of the node that a pod takes. */
export const hostPortsOf = ({ containers = [], initContainers = [] }: PodSpec): string[] =>
  [...containers, ...initContainers.filter(({ restartPolicy }) => restartPolicy === 'Always')].flatMap(
    ({ ports = [] }) =>
      ports.flatMap(({ hostPort = 0, protocol = 'TCP' }) => (hostPort > 0 ? [`${protocol} ${hostPort}`] : [])),
  );

/** The load of every node, kept up to date by the changes of pods. */
export class NodeLoads {
  readonly #byNode = new Map<string, NodeLoad>();

  of(node: string): NodeLoad {
    return this.#byNode.get(node) ?? none;
  }

  /** Takes a change of a pod into account; true when a node has less load after it, or other pods. */
  change(pod: PodObject | undefined, old: PodObject | undefined): boolean {
    const before = old !== undefined && takesPart(old) ? old : undefined;
    const after = pod !== undefined && takesPart(pod) ? pod : undefined;
    if (
      before?.spec?.nodeName === after?.spec?.nodeName &&
      before?.metadata.generation === after?.metadata.generation
    ) {
      return false;
    }
    if (before !== undefined) this.#remove(before);
    if (after !== undefined) this.#add(after);
    return true;
  }

  #add({ spec = {} }: PodObject): void {
    const { nodeName = '' } = spec;
    const load = this.#byNode.get(nodeName) ?? { pods: 0, requested: new Map(), ports: new Map() };
    this.#byNode.set(nodeName, load);
    load.pods++;
    addInPlace(load.requested, requestsOf(spec));
    for (const port of hostPortsOf(spec)) load.ports.set(port, (load.ports.get(port) ?? 0) + 1);
  }

  #remove({ spec = {} }: PodObject): void {
    const { nodeName = '' } = spec;
    const load = this.#byNode.get(nodeName);
    if (load === undefined) return;
    load.pods--;
    if (load.pods === 0) {
      this.#byNode.delete(nodeName);
      return;
    }
    for (const [name, amount] of requestsOf(spec)) {
      load.requested.set(name, subtractQuantities(load.requested.get(name) ?? zero, amount));
    }
    for (const port of hostPortsOf(spec)) {
      const remaining = (load.ports.get(port) ?? 0) - 1;
      if (remaining > 0) load.ports.set(port, remaining);
      else load.ports.delete(port);
    }
  }
}

const zero: Quantity = parseQuantity('0');

/** Whether the pod counts on its node. */
const takesPart = (pod: PodObject): boolean => Boolean(pod.spec?.nodeName) && !isTerminal(pod);
