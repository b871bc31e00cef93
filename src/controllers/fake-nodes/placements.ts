import { type NodeLoad, NodeLoads } from './node-loads.ts';
import type { PodObject } from './objects.ts';

/**
 * Where pods are, with those whose binding is under way: a pod counts on its node from the decision on, until the informer
 * shows it there.
 */
export class Placements {
  readonly #loads = new NodeLoads();
  /** The pods that the informer does not show as bound yet, by uid, as they will be. */
  readonly #assumed = new Map<string, PodObject>();

  loadOf(node: string): NodeLoad {
    return this.#loads.of(node);
  }

  /** The pod is being bound to the node. */
  assume(pod: PodObject, node: string): void {
    const placed: PodObject = { ...pod, spec: { ...pod.spec, nodeName: node } };
    this.#assumed.set(uidOf(pod), placed);
    this.#loads.change(placed, undefined);
  }

  /** The binding has failed. */
  forget(pod: PodObject): void {
    this.#loads.change(undefined, this.#assumed.get(uidOf(pod)));
    this.#assumed.delete(uidOf(pod));
  }

  /** Whether the pod is being bound. */
  has(pod: PodObject): boolean {
    return this.#assumed.has(uidOf(pod));
  }

  /** The pod as it will be when its binding has been shown. */
  readonly asPlaced = (pod: PodObject): PodObject => this.#assumed.get(uidOf(pod)) ?? pod;

  assumed(): PodObject[] {
    return [...this.#assumed.values()];
  }

  /** Takes a change of a pod into account; true when a node has less load after it, or other pods. */
  change(pod: PodObject | undefined, old: PodObject | undefined): boolean {
    const placed = this.#assumed.get(uidOf(pod ?? old));
    if (placed === undefined) return this.#loads.change(pod, old);
    // The cached pod is from before the binding.
    if (pod !== undefined && !pod.spec?.nodeName) return false;
    this.#assumed.delete(uidOf(placed));
    return this.#loads.change(pod, placed);
  }
}

const uidOf = (pod: PodObject | undefined): string => pod?.metadata.uid ?? '';
