/** The objects that depend on an object, found by the owner references of others. */
import { metadataOnly, pagesOf } from '../../client/index.ts';
import type { ApiObject } from '../../meta/index.ts';
import { isAllowed } from '../state/access.ts';
import { type Kind, kinds } from '../state/discovery.ts';
import type { Session } from '../state/session.ts';

export interface Dependent {
  readonly kind: Kind;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** The dependents of the dependent. */
  readonly dependents: readonly Dependent[];
}

export interface Search {
  readonly signal: AbortSignal;
  readonly onProgress: (done: number, all: number) => void;
}

/** At most this many objects of a kind are searched. */
const maxSearched = 20_000;

/**
 * The tree of dependents. Reads the metadata of every kind that the user may list, in the namespace of the owner, or
 * everywhere for a cluster-scoped owner.
 */
export async function findDependents(
  session: Session,
  owner: ApiObject,
  search: Search,
): Promise<readonly Dependent[]> {
  const { namespace = '', uid = '' } = owner.metadata;
  const searched = (kinds.value ?? []).filter(
    ({ preferred, verbs, namespaced }) =>
      preferred && verbs.includes('list') && verbs.includes('delete') && (namespaced || namespace === ''),
  );
  const children = new Map<string, Omit<Dependent, 'dependents'>[]>();
  for (const [done, kind] of searched.entries()) {
    search.onProgress(done, searched.length);
    await collect(session, kind, namespace, search.signal, children).catch(() => {});
    if (search.signal.aborted) return [];
  }
  return treeOf(children, uid, new Set());
}

async function collect(
  session: Session,
  kind: Kind,
  namespace: string,
  signal: AbortSignal,
  children: Map<string, Omit<Dependent, 'dependents'>[]>,
): Promise<void> {
  const { group, resource, apiVersion, namespaced } = kind;
  const within = namespaced && namespace !== '' ? { namespace } : {};
  if (!(await isAllowed(session, { verb: 'list', group, resource, ...within }))) return;
  const accept = metadataOnly(session.names).list;
  let searched = 0;
  for await (const { items } of pagesOf<ApiObject>(
    session.client,
    { apiVersion, resource, ...within },
    { accept, signal },
  )) {
    for (const { metadata } of items) {
      const { namespace: of = '', name = '', uid = '', ownerReferences = [] } = metadata;
      for (const owner of ownerReferences) {
        children.set(owner.uid, [...(children.get(owner.uid) ?? []), { kind, namespace: of, name, uid }]);
      }
    }
    searched += items.length;
    if (searched >= maxSearched) return;
  }
}

/** `above`: the owners in the tree, as owner references may form a cycle. */
function treeOf(
  children: ReadonlyMap<string, readonly Omit<Dependent, 'dependents'>[]>,
  uid: string,
  above: ReadonlySet<string>,
): Dependent[] {
  if (above.has(uid)) return [];
  const path = new Set([...above, uid]);
  return (children.get(uid) ?? []).map((child) => ({ ...child, dependents: treeOf(children, child.uid, path) }));
}
