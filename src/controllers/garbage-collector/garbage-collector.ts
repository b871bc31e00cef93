import type { Controller } from '../types.ts';
import { Collector } from './collector.ts';
import { Graph } from './graph.ts';
import { ownerIdentity, textOf } from './identity.ts';
import { Operations } from './operations.ts';

/** How many objects are looked at a time. */
const workers = 20;

/**
 * Deletes objects whose owners are all gone, and ends deletions in the foreground and those that orphan the dependents.
 */
export const garbageCollector: Controller = {
  name: 'garbage-collector-controller',
  account: 'generic-garbage-collector',
  // A deletion takes two requests.
  rate: { perSecond: 2 },
  eventSource: 'garbage-collector-controller',
  start({ client, names, clock, metadata: feed, events, queue }) {
    const operations = new Operations(client, names, () => feed.served);
    // An owner that has not been observed counts to the namespace of the object that names it.
    const groupOf = (uid: string) => graph.get(uid)?.identity.namespace ?? '';
    const deletions = queue('garbage_collector_attempt_to_delete', (uid) => collector.attemptToDelete(uid), {
      workers,
      groupOf,
    });
    const orphans = queue('garbage_collector_attempt_to_orphan', (uid) => collector.attemptToOrphan(uid), {
      workers,
      groupOf,
    });
    const graph = new Graph({
      attemptToDelete: (uid) => deletions.add(uid),
      attemptToOrphan: (uid) => orphans.add(uid),
      reportInvalidNamespace: (node, ref) => {
        const { apiVersion, kind, namespace, name, uid } = node;
        const metadata = { name, uid, ...(namespace === '' ? {} : { namespace }) };
        const owner = textOf(ownerIdentity(ref, namespace));
        const message = `ownerRef ${owner} does not exist in namespace "${namespace}"`;
        events.record({ apiVersion, kind, metadata }, 'Warning', 'OwnerRefInvalidNamespace', message);
      },
    });
    const collector = new Collector({ graph, operations, feed, clock });
    feed.subscribe({
      changed: (type, metadata, resource) => {
        if (type === 'DELETED') graph.remove(metadata, resource);
        else graph.apply(metadata, resource, true);
      },
      listing: (resource) => graph.listing(resource),
      listed: (resource) => graph.listed(resource),
      dropped: (resource) => graph.drop(resource),
      discovered: () => {
        for (const uid of collector.drainUnknownKinds()) deletions.add(uid);
      },
    });
  },
};
