import type { OwnerReference } from '../../meta/index.ts';
import type { Identity } from './identity.ts';

const none: ReadonlyMap<Node, boolean> = new Map();

/** From this number on, the owners of an object are found by uid. */
const manyOwners = 16;

/** An object with owners or dependents. */
export class Node {
  identity: Identity;
  /** Whether the object was read from the API; otherwise only its dependents name it as their owner. */
  observed = false;
  #owners: readonly OwnerReference[] = [];
  /** The references to owners by uid, once they have been asked for. */
  #refs: ReadonlyMap<string, readonly OwnerReference[]> | undefined;
  /** It has a deletion timestamp. */
  beingDeleted = false;
  /** It is being deleted, after its blocking dependents. */
  deletingDependents = false;
  /** It is being deleted, after its dependents have been orphaned. */
  orphaning = false;
  /** The number of the latest list that had begun when the feed last reported the object. */
  seen = 0;
  /** How many dependents block a deletion in the foreground. */
  blocking = 0;
  /** Whether each of the dependents blocks. */
  #dependents: Map<Node, boolean> | undefined;

  constructor(identity: Identity) {
    this.identity = identity;
  }

  get owners(): readonly OwnerReference[] {
    return this.#owners;
  }

  set owners(refs: readonly OwnerReference[]) {
    this.#owners = refs;
    this.#refs = undefined;
  }

  /** The references to the owner with this uid. */
  refsTo(uid: string): readonly OwnerReference[] {
    if (this.#owners.length < manyOwners) return this.#owners.filter((ref) => ref.uid === uid);
    this.#refs ??= byOwner(this.#owners);
    return this.#refs.get(uid) ?? [];
  }

  get dependents(): Iterable<Node> {
    return (this.#dependents ?? none).keys();
  }

  get dependentCount(): number {
    return this.#dependents?.size ?? 0;
  }

  setDependent(node: Node, blocks: boolean): void {
    this.#dependents ??= new Map();
    this.blocking += Number(blocks) - Number(this.#dependents.get(node) ?? false);
    this.#dependents.set(node, blocks);
  }

  removeDependent(node: Node): void {
    this.blocking -= Number(this.#dependents?.get(node) ?? false);
    this.#dependents?.delete(node);
    if (this.#dependents?.size === 0) this.#dependents = undefined;
  }
}

/** Whether it is needed as long as nothing else is known: the node of any other object is dropped. */
export const isNeeded = (node: Node): boolean =>
  node.owners.length > 0 || node.dependentCount > 0 || node.deletingDependents || node.orphaning;

/** The references by the uids of the owners. */
function byOwner(refs: readonly OwnerReference[]): Map<string, OwnerReference[]> {
  const references = new Map<string, OwnerReference[]>();
  for (const ref of refs) {
    const same = references.get(ref.uid);
    if (same === undefined) references.set(ref.uid, [ref]);
    else same.push(ref);
  }
  return references;
}

/** By the uid of each owner, whether the object blocks its deletion in the foreground. */
export function blockedOwners(refs: readonly OwnerReference[]): Map<string, boolean> {
  const blocked = new Map<string, boolean>();
  for (const { uid, blockOwnerDeletion } of refs) {
    blocked.set(uid, blocked.get(uid) === true || blockOwnerDeletion === true);
  }
  return blocked;
}
