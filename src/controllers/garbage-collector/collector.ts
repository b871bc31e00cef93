import type { Clock, ObjectMeta, OwnerReference } from '../../meta/index.ts';
import type { MetadataFeed } from '../metadata/feed.ts';
import { foregroundFinalizer, type Graph, orphanFinalizer } from './graph.ts';
import { type Identity, isSameIdentity, ownerIdentity } from './identity.ts';
import type { Node } from './node.ts';
import { NoNamespaceError, type Operations, type Propagation, UnknownKindError } from './operations.ts';

export interface CollectorOptions {
  readonly graph: Graph;
  readonly operations: Operations;
  readonly feed: MetadataFeed;
  readonly clock: Clock;
}

/** How long until an owner is looked at again whose changes the feed does not tell (ms). */
const unwatchedMs = 60_000;
/** The same of an object whose resource is not served, but listed in discovery (ms). */
const unservedMs = 1_000;
/** Dependents that are orphaned at a time. */
const orphansAtOnce = 20;
/** Searches for an owner in other namespaces: at once, and how long until another one is free (ms). */
const searchBurst = 20;
const searchMs = 1_000;

/** The state of the owners of an object, by their references. */
interface Owners {
  readonly solid: OwnerReference[];
  /** They do not exist. */
  readonly dangling: OwnerReference[];
  /** They are being deleted in the foreground and wait for their dependents. */
  readonly waiting: OwnerReference[];
}

type Outcome = { readonly requeueAfterMs: number } | undefined;

/** Deletes and orphans objects by the graph. What it decides on, it reads from the server first. */
export class Collector {
  readonly #graph: Graph;
  readonly #operations: Operations;
  readonly #feed: MetadataFeed;
  readonly #clock: Clock;
  /** The uids of objects that wait for a kind to be served. */
  readonly #unknown = new Set<string>();
  #searches = searchBurst;
  #searchedAt: number;

  constructor({ graph, operations, feed, clock }: CollectorOptions) {
    this.#graph = graph;
    this.#operations = operations;
    this.#feed = feed;
    this.#clock = clock;
    this.#searchedAt = clock.monotonic();
  }

  /** The objects that waited for a kind; they wait no more. */
  drainUnknownKinds(): string[] {
    const uids = [...this.#unknown];
    this.#unknown.clear();
    return uids;
  }

  /** Deletes the object if all its owners are gone, removes references to absent owners, ends its deletion. */
  async attemptToDelete(uid: string): Promise<Outcome> {
    const node = this.#graph.get(uid);
    if (node === undefined || (node.observed && node.beingDeleted && !node.deletingDependents)) return undefined;
    try {
      return await this.#attempt(node);
    } catch (error) {
      // Such a reference stays as it is.
      if (error instanceof NoNamespaceError) return undefined;
      if (!(error instanceof UnknownKindError)) throw error;
      this.#unknown.add(uid);
      this.#feed.refresh();
      return error.listed ? { requeueAfterMs: unservedMs } : undefined;
    }
  }

  /** Removes the object from the owners of its dependents, then the finalizer with which it waits for that. */
  async attemptToOrphan(uid: string): Promise<void> {
    const node = this.#graph.get(uid);
    if (node === undefined || !node.orphaning) return;
    const dependents = [...node.dependents];
    const owner = new Set([uid]);
    const work = async () => {
      for (let next = dependents.pop(); next !== undefined; next = dependents.pop()) {
        await this.#operations.removeOwners(next.identity, owner);
      }
    };
    await Promise.all(Array.from({ length: orphansAtOnce }, work));
    await this.#operations.removeFinalizer(node.identity, orphanFinalizer);
  }

  async #attempt(node: Node): Promise<Outcome> {
    const { identity } = node;
    const live = await this.#read(node);
    if (this.#graph.get(identity.uid) !== node || node.identity !== identity) return undefined;
    if (live === undefined) {
      this.#graph.confirmAbsent(identity);
      return undefined;
    }
    const { observed } = node;
    if (!observed) {
      const resource = this.#operations.resourceOf(identity);
      // Objects that the feed does not tell of are looked at again and again.
      if (this.#feed.watches(resource)) this.#graph.apply(live, resource, false);
    }
    if (node.deletingDependents) {
      if (node.blocking === 0) await this.#operations.removeFinalizer(node.identity, foregroundFinalizer);
      return undefined;
    }
    const { ownerReferences = [], namespace = '' } = live;
    if (ownerReferences.length > 0 && live.deletionTimestamp === undefined) {
      await this.#collect(node, { ...node.identity, namespace }, live, ownerReferences);
    }
    return observed || node.observed ? undefined : { requeueAfterMs: unwatchedMs };
  }

  /** The object of the node; one that has only been heard of may be in another namespace than that. */
  async #read({ identity, observed }: Node): Promise<ObjectMeta | undefined> {
    try {
      const live = await this.#operations.get(identity);
      if (live?.uid === identity.uid) return live;
    } catch (error) {
      if (!(error instanceof NoNamespaceError) || observed) throw error;
      const metadata = await this.#search(identity);
      if (metadata === undefined) throw error;
      return metadata;
    }
    return observed ? undefined : this.#search(identity);
  }

  /** Looks for the object in all namespaces, so that a reference across namespaces can be reported. */
  async #search(identity: Identity): Promise<ObjectMeta | undefined> {
    if (!this.#operations.resourceOf(identity).namespaced) return undefined;
    const now = this.#clock.monotonic();
    this.#searches = Math.min(searchBurst, this.#searches + (now - this.#searchedAt) / searchMs);
    this.#searchedAt = now;
    if (this.#searches < 1) return undefined;
    this.#searches--;
    return this.#operations.find(identity);
  }

  /** Deletes the object if no owner is solid; otherwise removes the owners that are not. */
  async #collect(node: Node, identity: Identity, live: ObjectMeta, refs: readonly OwnerReference[]): Promise<void> {
    const { solid, dangling, waiting } = await this.#classify(identity, refs);
    if (solid.length > 0) {
      const others = new Set([...dangling, ...waiting].map(({ uid }) => uid));
      if (others.size > 0) await this.#operations.removeOwners(identity, others);
      return;
    }
    const { finalizers = [] } = live;
    const foreground = waiting.length > 0 && node.dependentCount > 0;
    if (foreground && [...node.dependents].some((dependent) => dependent.deletingDependents)) {
      // Owners and dependents may wait for each other in a circle. The object that is read next is another version.
      await this.#operations.unblockOwners(identity);
      const unblocked = await this.#operations.get(identity);
      if (unblocked?.uid !== identity.uid) this.#graph.confirmAbsent(identity);
      else if (sameOwners(unblocked, live)) await this.#delete(identity, unblocked, 'Foreground');
      else this.#graph.apply(unblocked, this.#operations.resourceOf(identity), false);
      return;
    }
    // A finalizer that decides about the dependents determines the policy.
    const blockedPolicy = finalizers.includes(foregroundFinalizer) ? 'Foreground' : 'Background';
    const policy = finalizers.includes(orphanFinalizer) ? 'Orphan' : blockedPolicy;
    await this.#delete(identity, live, foreground ? 'Foreground' : policy);
  }

  async #delete(identity: Identity, read: ObjectMeta, policy: Propagation): Promise<void> {
    if (!(await this.#operations.delete(identity, read, policy))) this.#graph.confirmAbsent(identity);
  }

  async #classify(dependent: Identity, refs: readonly OwnerReference[]): Promise<Owners> {
    const owners: Owners = { solid: [], dangling: [], waiting: [] };
    for (const ref of refs) owners[await this.#stateOf(dependent, ref)].push(ref);
    return owners;
  }

  async #stateOf({ namespace }: Identity, ref: OwnerReference): Promise<keyof Owners> {
    const { absent } = this.#graph;
    const ownerReference = ownerIdentity(ref, namespace);
    if (absent.has(ownerReference) || absent.has({ ...ownerReference, namespace: '' })) return 'dangling';
    const identity = this.#operations.resourceOf(ref).namespaced
      ? ownerReference
      : { ...ownerReference, namespace: '' };
    const node = this.#graph.get(ref.uid);
    // A deletion is never undone: there is nothing to confirm.
    if (node?.observed && node.deletingDependents && isSameIdentity(node.identity, identity)) return 'waiting';
    const live = await this.#operations.get(identity);
    if (live?.uid !== ref.uid) {
      absent.add(identity);
      return 'dangling';
    }
    const { deletionTimestamp, finalizers = [] } = live;
    return deletionTimestamp !== undefined && finalizers.includes(foregroundFinalizer) ? 'waiting' : 'solid';
  }
}

/** Whether two states of an object have the same owners, however they block them. */
const sameOwners = (a: ObjectMeta, b: ObjectMeta): boolean => {
  const uids = ({ ownerReferences = [] }: ObjectMeta) => ownerReferences.map(({ uid }) => uid).join(' ');
  return uids(a) === uids(b);
};
