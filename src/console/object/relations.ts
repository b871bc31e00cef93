/** The owners of an object, and the objects that depend on it, by owner references. */
import { metadataOnly, pagesOf } from '../../client/index.ts';
import type { ApiObject, OwnerReference } from '../../meta/index.ts';
import { isAllowed } from '../state/access.ts';
import { type Kind, kindOf, kinds, placeOf } from '../state/discovery.ts';
import type { Session } from '../state/session.ts';

export interface Related {
  readonly kind: Kind;
  /** Empty for cluster-scoped objects. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** The UIDs of its owners. */
  readonly owners: readonly string[];
}

export interface Dependent extends Related {
  /** The dependents of the dependent. An object with several owners is in the tree once. */
  readonly dependents: readonly Dependent[];
}

export interface Search {
  readonly signal: AbortSignal;
  readonly onProgress: (done: number, all: number) => void;
}

/** At most this many objects of a kind are searched. */
const maxSearched = 20_000;
/** The tree has at most this many objects. */
const maxShown = 1_000;
/** The longest chain of owners or dependents that is followed, and the most owners of one level. */
const maxLevels = 20;
const maxOwners = 50;

/** The related object of an object itself. */
export const relatedTo = (kind: Kind, { metadata }: Pick<ApiObject, 'metadata'>): Related => ({
  kind,
  namespace: metadata.namespace ?? '',
  name: metadata.name ?? '',
  uid: metadata.uid ?? '',
  owners: (metadata.ownerReferences ?? []).map(({ uid }) => uid),
});

/** The owners of an object, theirs, and so on: by level, the nearest first. Owners that the user may not read are left out. */
export async function findOwners(session: Session, object: ApiObject, signal: AbortSignal): Promise<Related[][]> {
  const { namespace = '', ownerReferences = [], uid = '' } = object.metadata;
  const levels: Related[][] = [];
  const seen = new Set([uid]);
  for (let references = ownerReferences; references.length > 0 && levels.length < maxLevels; ) {
    const unseen = references.filter((owner) => !seen.has(owner.uid)).slice(0, maxOwners);
    for (const owner of unseen) seen.add(owner.uid);
    const found = await Promise.all(unseen.map((owner) => readOwner(session, owner, namespace, signal)));
    const owners = found.filter((owner) => owner !== undefined);
    if (owners.length > 0) levels.push(owners.map(({ kind, object: read }) => relatedTo(kind, read)));
    references = owners.flatMap(({ object: read }) => read.metadata.ownerReferences ?? []);
  }
  return levels;
}

async function readOwner(session: Session, owner: OwnerReference, namespace: string, signal: AbortSignal) {
  const kind = kindOf(owner.apiVersion, owner.kind);
  if (kind === undefined) return undefined;
  const metadata = { name: owner.name, ...(kind.namespaced ? { namespace } : {}) };
  const object = await session.client.get(placeOf(kind, { metadata }), { signal }).catch(() => undefined);
  return object?.metadata.uid === owner.uid ? { kind, object } : undefined;
}

/** The dependents that a search has found. */
export interface FoundDependents {
  readonly tree: readonly Dependent[];
  /** The kinds of which there may be more: the user may not list them, a request failed, or they have too many objects. */
  readonly unsearched: readonly Kind[];
  /** Whether the tree leaves out dependents, as there are too many. */
  readonly isCut: boolean;
}

/**
 * The tree of dependents. Reads the metadata of every kind that the user may list, in the namespace of the owner, or
 * everywhere for a cluster-scoped owner.
 */
export async function findDependents(session: Session, owner: ApiObject, search: Search): Promise<FoundDependents> {
  const { namespace = '', uid = '' } = owner.metadata;
  const { signal, onProgress } = search;
  const searched = (kinds.value ?? []).filter(
    ({ preferred, verbs, namespaced }) =>
      preferred && verbs.includes('list') && verbs.includes('delete') && (namespaced || namespace === ''),
  );
  const children = new Map<string, Related[]>();
  const unsearched: Kind[] = [];
  for (const [done, kind] of searched.entries()) {
    onProgress(done, searched.length);
    const isComplete = await collect(session, kind, { namespace, signal, children }).catch(() => false);
    if (signal.aborted) break;
    if (!isComplete) unsearched.push(kind);
  }
  const seen = new Set([uid]);
  const tree = treeOf(children, uid, { seen, depth: 0 });
  return { tree, unsearched, isCut: [...seen].some((one) => children.get(one)?.some((child) => !seen.has(child.uid))) };
}

interface Collection {
  readonly namespace: string;
  readonly signal: AbortSignal;
  /** The objects of all kinds by the UIDs of their owners. */
  readonly children: Map<string, Related[]>;
}

/** Adds the objects of a kind that have owners. Returns whether it has read all. @throws StatusError */
async function collect(session: Session, kind: Kind, { namespace, signal, children }: Collection): Promise<boolean> {
  const { group, resource, apiVersion, namespaced } = kind;
  const within = namespaced && namespace !== '' ? { namespace } : {};
  if (!(await isAllowed(session, { verb: 'list', group, resource, ...within }))) return false;
  const accept = metadataOnly(session.names).list;
  let searched = 0;
  for await (const { items, metadata } of pagesOf<ApiObject>(
    session.client,
    { apiVersion, resource, ...within },
    { accept, signal },
  )) {
    for (const item of items) {
      const related = relatedTo(kind, item);
      for (const owner of new Set(related.owners)) {
        const known = children.get(owner) ?? [];
        known.push(related);
        children.set(owner, known);
      }
    }
    searched += items.length;
    if (searched >= maxSearched) return (metadata.continue ?? '') === '';
  }
  return true;
}

interface TreeState {
  /** The UIDs of the objects that are in the tree already, as owner references may form a cycle. */
  readonly seen: Set<string>;
  readonly depth: number;
}

function treeOf(
  children: ReadonlyMap<string, readonly Related[]>,
  uid: string,
  { seen, depth }: TreeState,
): Dependent[] {
  if (depth === maxLevels) return [];
  const own = (children.get(uid) ?? [])
    .filter((child) => !seen.has(child.uid))
    .slice(0, Math.max(0, maxShown - seen.size));
  for (const child of own) seen.add(child.uid);
  return own.map((child) => ({ ...child, dependents: treeOf(children, child.uid, { seen, depth: depth + 1 }) }));
}
