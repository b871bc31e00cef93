import { jsonEqual, type ObjectMeta, type OwnerReference } from '../../meta/index.ts';
import type { ServedResource } from '../metadata/discovery.ts';
import {
  compareIdentities,
  type Identity,
  identityOf,
  isSameIdentity,
  namesIdentity,
  ownerIdentity,
  RecentIdentities,
} from './identity.ts';
import { blockedOwners, isNeeded, Node } from './node.ts';

/** The calls of the graph; objects are named by uid. */
export interface GraphActions {
  /** Checks an object or its absence: its owners may be absent, or its dependents need to be deleted. */
  readonly attemptToDelete: (uid: string) => void;
  /** Orphans the dependents of the object. */
  readonly attemptToOrphan: (uid: string) => void;
  /** The object has an owner in another namespace, or, at cluster scope, in a namespace. */
  readonly reportInvalidNamespace: (node: Identity, owner: OwnerReference) => void;
}

/** The finalizers of deletions in the foreground, and of those that orphan the dependents. */
export const foregroundFinalizer = 'foregroundDeletion';
export const orphanFinalizer = 'orphan';

/** How many absent owners are remembered. */
const maxAbsent = 500;

/**
 * Which object depends on which, by uid. It has a node for objects with owners or dependents, and for those whose
 * deletion waits for the collector; other objects leave nothing.
 */
export class Graph {
  /** Owners that do not exist. */
  readonly absent = new RecentIdentities(maxAbsent);
  readonly #actions: GraphActions;
  readonly #nodes = new Map<string, Node>();
  /** How many lists have begun, and how many had when the list of a resource did. */
  #lists = 0;
  readonly #listing = new Map<string, number>();

  constructor(actions: GraphActions) {
    this.#actions = actions;
  }

  get(uid: string): Node | undefined {
    return this.#nodes.get(uid);
  }

  get size(): number {
    return this.#nodes.size;
  }

  /** Stores the state of an object. `isReported`: it comes from the feed, which also reports later changes. */
  apply(metadata: ObjectMeta, resource: ServedResource, isReported: boolean): void {
    const { uid = '', ownerReferences: owners = [], deletionTimestamp, finalizers = [] } = metadata;
    const beingDeleted = deletionTimestamp !== undefined;
    const orphaning = beingDeleted && finalizers.includes(orphanFinalizer);
    const deletingDependents = beingDeleted && !orphaning && finalizers.includes(foregroundFinalizer);
    let node = this.#nodes.get(uid);
    if (node === undefined) {
      if (owners.length === 0 && !orphaning && !deletingDependents) return;
      node = new Node(identityOf(metadata, resource));
      this.#nodes.set(uid, node);
    }
    this.#observe(node, identityOf(metadata, resource));
    if (isReported) node.seen = this.#lists;
    node.beingDeleted = beingDeleted;
    const beginsToOrphan = orphaning && !node.orphaning;
    const beginsToDelete = deletingDependents && !node.deletingDependents;
    node.orphaning = orphaning;
    node.deletingDependents = deletingDependents;
    this.#setOwners(node, owners);
    if (beginsToOrphan) this.#actions.attemptToOrphan(uid);
    if (beginsToDelete) {
      for (const { identity } of node.dependents) this.#actions.attemptToDelete(identity.uid);
      this.#actions.attemptToDelete(uid);
    }
    this.#prune(node);
  }

  /** Takes the deletion of an object. */
  remove(metadata: ObjectMeta, resource: ServedResource): void {
    const node = this.#nodes.get(metadata.uid ?? '');
    if (node === undefined) return;
    this.#observe(node, identityOf(metadata, resource));
    this.#remove(node);
  }

  /** Takes that no object with this uid is where the identity says. */
  confirmAbsent(identity: Identity): void {
    const node = this.#nodes.get(identity.uid);
    if (node === undefined) return;
    const same = isSameIdentity(node.identity, identity);
    if (node.observed && same) {
      this.#remove(node);
      return;
    }
    const { matching, others } = partition(node, identity);
    if (!node.observed && others.length === 0) {
      this.#remove(node);
      return;
    }
    this.absent.add(identity);
    for (const dependent of matching) this.#actions.attemptToDelete(dependent.identity.uid);
    if (node.observed || !same) return;
    // Others say that it is elsewhere.
    const alternate = this.#alternateOf(others, identity);
    if (alternate === undefined) {
      this.#remove(node);
    } else {
      node.identity = alternate;
      this.#actions.attemptToDelete(identity.uid);
    }
  }

  /** A list of the resource begins. */
  listing(resource: ServedResource): void {
    this.#listing.set(keyOf(resource), ++this.#lists);
  }

  /** Handles the end of a list: objects that were not in it need to be confirmed. */
  listed(resource: ServedResource): void {
    const began = this.#listing.get(keyOf(resource)) ?? 0;
    for (const node of this.#nodes.values()) {
      if (node.seen >= began || !node.observed || !isOf(node, resource)) continue;
      node.observed = false;
      this.#actions.attemptToDelete(node.identity.uid);
    }
  }

  /** The resource is not served any more: its objects block nothing, and nothing is known of them as owners. */
  drop(resource: ServedResource): void {
    this.#listing.delete(keyOf(resource));
    for (const node of [...this.#nodes.values()]) {
      if (!isOf(node, resource)) continue;
      this.#setOwners(node, []);
      node.observed = false;
      node.orphaning = false;
      node.deletingDependents = false;
      this.#prune(node);
      // Should the kind be served again, its objects are others.
      if (isNeeded(node)) this.#actions.attemptToDelete(node.identity.uid);
    }
  }

  /** The node is that of an object that exists there. */
  #observe(node: Node, identity: Identity): void {
    if (!isSameIdentity(node.identity, identity)) {
      if (!node.observed) this.#checkDependents(node, identity);
      node.identity = identity;
    }
    node.observed = true;
  }

  /** Dependents may have said something else of an owner before it was observed. */
  #checkDependents(node: Node, identity: Identity): void {
    for (const dependent of partition(node, identity).others) {
      if (identity.namespace !== '' && dependent.identity.namespace !== identity.namespace) {
        this.#report(dependent, identity.uid);
      }
      this.#actions.attemptToDelete(dependent.identity.uid);
    }
  }

  #report(node: Node, uid: string): void {
    const [ref] = node.refsTo(uid);
    if (ref !== undefined) this.#actions.reportInvalidNamespace(node.identity, ref);
  }

  #setOwners(node: Node, refs: readonly OwnerReference[]): void {
    const before = node.owners;
    if ((before.length === 0 && refs.length === 0) || jsonEqual([...before], [...refs])) return;
    node.owners = refs;
    const blocked = blockedOwners(before);
    const blocks = blockedOwners(refs);
    for (const uid of blocked.keys()) if (!blocks.has(uid)) this.#unlink(node, uid);
    let valid = true;
    for (const [uid, blocking] of blocks) {
      if (!blocked.has(uid)) valid = this.#link(node, uid, blocking, valid) && valid;
      else if (blocked.get(uid) !== blocking) this.#setBlocking(node, uid, blocking);
    }
    // Whether the owners exist as the references say is for the collector to find out.
    if (!valid) this.#actions.attemptToDelete(node.identity.uid);
  }

  /** Makes the node a dependent of the owner; false when its reference may be wrong. */
  #link(node: Node, uid: string, blocks: boolean, reports: boolean): boolean {
    const { namespace } = node.identity;
    const existing = this.#nodes.get(uid);
    const refs = node.refsTo(uid);
    const [first] = refs;
    if (existing === undefined) {
      if (first === undefined) return true;
      const owner = new Node(ownerIdentity(first, namespace));
      owner.setDependent(node, blocks);
      this.#nodes.set(uid, owner);
      this.#actions.attemptToDelete(uid);
      return refs.every((ref) => namesIdentity(ref, owner.identity));
    }
    existing.setDependent(node, blocks);
    if (existing.deletingDependents) this.#actions.attemptToDelete(node.identity.uid);
    const { identity, observed } = existing;
    if (identity.namespace !== '' && identity.namespace !== namespace) {
      if (observed && reports) this.#report(node, uid);
      return false;
    }
    if (!refs.every((ref) => namesIdentity(ref, identity))) return false;
    // An owner at cluster scope that nobody has seen may be of a kind with namespaces.
    return identity.namespace === namespace || observed;
  }

  #setBlocking(node: Node, uid: string, blocks: boolean): void {
    const owner = this.#nodes.get(uid);
    if (owner === undefined) return;
    owner.setDependent(node, blocks);
    this.#checkUnblocked(owner);
  }

  #unlink(node: Node, uid: string): void {
    const owner = this.#nodes.get(uid);
    if (owner === undefined) return;
    owner.removeDependent(node);
    this.#checkUnblocked(owner);
    this.#prune(owner);
  }

  /** An owner whose last blocking dependent is gone can be deleted. */
  #checkUnblocked(owner: Node): void {
    if (owner.deletingDependents && owner.blocking === 0) this.#actions.attemptToDelete(owner.identity.uid);
  }

  #remove(node: Node): void {
    const { uid } = node.identity;
    this.#nodes.delete(uid);
    for (const owner of blockedOwners(node.owners).keys()) this.#unlink(node, owner);
    if (node.dependentCount > 0) this.absent.add(node.identity);
    for (const dependent of node.dependents) this.#actions.attemptToDelete(dependent.identity.uid);
  }

  #prune(node: Node): void {
    if (!isNeeded(node)) this.#nodes.delete(node.identity.uid);
  }

  /** Another identity that dependents give the owner: the next in order, from the first again after the last. */
  #alternateOf(dependents: readonly Node[], identity: Identity): Identity | undefined {
    const alternates = dependents
      .flatMap((dependent) =>
        dependent.refsTo(identity.uid).map((ref) => {
          const clusterScoped =
            identity.namespace === '' && ref.apiVersion === identity.apiVersion && ref.kind === identity.kind;
          return ownerIdentity(ref, clusterScoped ? '' : dependent.identity.namespace);
        }),
      )
      .filter((alternate) => !isSameIdentity(alternate, identity) && !this.absent.has(alternate))
      .sort(compareIdentities);
    return alternates.find((alternate) => compareIdentities(identity, alternate) < 0) ?? alternates[0];
  }
}

/** The dependents whose references name the owner so, and those with one that does not; one can be both. */
function partition(owner: Node, identity: Identity): { readonly matching: Node[]; readonly others: Node[] } {
  const matching: Node[] = [];
  const others: Node[] = [];
  for (const dependent of owner.dependents) {
    const elsewhere = identity.namespace !== '' && identity.namespace !== dependent.identity.namespace;
    const refs = dependent.refsTo(identity.uid);
    const matchingRefs = elsewhere ? [] : refs.filter((ref) => namesIdentity(ref, identity));
    if (matchingRefs.length > 0) matching.push(dependent);
    if (elsewhere || matchingRefs.length < refs.length) others.push(dependent);
  }
  return { matching, others };
}

const keyOf = ({ group, resource }: ServedResource): string => `${group}/${resource}`;

/** In any version. */
const isOf = ({ identity: { apiVersion, kind } }: Node, resource: ServedResource): boolean =>
  kind === resource.kind && apiVersion.slice(0, Math.max(0, apiVersion.indexOf('/'))) === resource.group;
