import type { RestInvariant } from './world.ts';
import type { WholeState } from './world-state.ts';

const nameOf = (resource: string, { namespace = '', name = '' }: { namespace?: string; name?: string }): string =>
  `${resource} ${namespace === '' ? name : `${namespace}/${name}`}`;

/** The finalizers that the garbage collector removes. */
const collected = ['foregroundDeletion', 'orphan'];

/** No object remains whose owners are all gone, and no deletion waits for the garbage collector. */
export const garbageIsCollected =
  (state: WholeState): RestInvariant =>
  () => {
    const uids = new Set<string>();
    const blocking = new Set<string>();
    for (const { object } of state.all()) {
      uids.add(object.metadata.uid ?? '');
      for (const { uid, blockOwnerDeletion } of object.metadata.ownerReferences ?? []) {
        if (blockOwnerDeletion === true) blocking.add(uid);
      }
    }
    for (const { resource, object } of state.all()) {
      const { uid = '', ownerReferences = [], deletionTimestamp, finalizers = [] } = object.metadata;
      if (deletionTimestamp === undefined) {
        const isGarbage = ownerReferences.length > 0 && ownerReferences.every((owner) => !uids.has(owner.uid));
        if (isGarbage) return `${nameOf(resource, object.metadata)} remains, but its owners are gone`;
        continue;
      }
      const finalizer = finalizers.find((name) => collected.includes(name));
      if (finalizer === undefined || (finalizer === 'foregroundDeletion' && blocking.has(uid))) continue;
      return `${nameOf(resource, object.metadata)} still has the finalizer ${finalizer}`;
    }
    return undefined;
  };

/** No object is in a namespace that does not exist, and no deleted namespace remains unless one of its objects has a finalizer. */
export const namespacesEnd =
  (state: WholeState): RestInvariant =>
  () => {
    const held = new Set<string>();
    for (const { resource, object } of state.all()) {
      const { namespace, finalizers = [] } = object.metadata;
      if (namespace === undefined || namespace === '') continue;
      if (state.get('namespaces', namespace) === undefined) {
        return `${nameOf(resource, object.metadata)} is in a namespace that does not exist`;
      }
      if (finalizers.length > 0) held.add(namespace);
    }
    const stuck = state.list('namespaces').find(({ metadata: { name = '', deletionTimestamp, finalizers = [] } }) => {
      return deletionTimestamp !== undefined && finalizers.length === 0 && !held.has(name);
    });
    return stuck && `${nameOf('namespaces', stuck.metadata)} is deleted, but remains`;
  };
