import type { OwnerReference } from '../../meta/index.ts';
import type { Identity } from './identity.ts';

const none: ReadonlyMap<Node, boolean> = new Map();

/** An object with owners or dependents. */
export class Node {
  identity: Identity;
  /** Seen as it is in the API; otherwise only its dependents say that there is such an owner. */
  observed = false;
  owners: readonly OwnerReference[] = [];
  /** It has a deletion timestamp. */
  beingDeleted = false;
  /** It is being deleted, after its blocking dependents. */
  deletingDependents = false;
  /** It is being deleted, after its dependents have been orphaned. */
  orphaning = false;
  /** When the feed told of it last: the number of the latest list that had begun. */
  seen = 0;
  /** How many dependents block a deletion in the foreground. */
  blocking = 0;
  /** Whether each of the dependents blocks. */
  #dependents: Map<Node, boolean> | undefined;

  constructor(identity: Identity) {
    this.identity = identity;
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

/** By the uid of each owner, whether the object blocks its deletion in the foreground. */
export function blockedOwners(refs: readonly OwnerReference[]): Map<string, boolean> {
  const blocked = new Map<string, boolean>();
  for (const { uid, blockOwnerDeletion } of refs) {
    blocked.set(uid, blocked.get(uid) === true || blockOwnerDeletion === true);
  }
  return blocked;
}
