import type { Client } from '../../client/index.ts';
import { isStatus, type Names } from '../../meta/index.ts';
import type { MetadataFeed } from '../metadata/feed.ts';
import * as kinds from '../shared/kinds.ts';
import type { Controller } from '../types.ts';
import { conditionsAfter, type Found, foundNothing } from './conditions.ts';
import { Content, isPods } from './content.ts';

type NamespaceObject = NonNullable<(typeof kinds.namespaces)['$object']>;

/** How long after the deletion of a namespace its content is deleted (ms): until every server admits nothing new there. */
const settlingMs = 5_000;
/** Namespaces that are emptied at a time, and the longest delay after a failure (ms). */
const workers = 10;
const lastBackoffMs = 60_000;

/** Deletes the content of namespaces that are being deleted, and then removes the finalizer that kept them. */
export const namespaceController: Controller = {
  name: 'namespace-controller',
  needs: [kinds.namespaces],
  account: 'namespace-controller',
  // It empties a namespace of all types of objects.
  rate: { perSecond: 20, burst: 100 },
  start({ client, clock, names, informers, metadata: feed, queue }) {
    const content = new Content({ client, names, now: () => clock.now() });
    const terminate = async (name: string) => {
      const read = await client.kind(kinds.namespaces).find({ name });
      const deletedAt = read?.metadata.deletionTimestamp;
      if (read === undefined || deletedAt === undefined) return undefined;
      const terminating = read.status?.phase === 'Terminating';
      const namespace = terminating ? read : await setStatus(client, read, { phase: 'Terminating' });
      if ((namespace.spec?.finalizers ?? []).length === 0) return undefined;
      const { remainingContent, estimate } = await empty(content, feed, name, deletedAt);
      const conditions = conditionsAfter(namespace.status?.conditions ?? [], remainingContent, clock.now());
      const updated = conditions === undefined ? namespace : await setStatus(client, namespace, { conditions });
      const failures = [
        ...(remainingContent.discoveryFailure === undefined ? [] : [remainingContent.discoveryFailure]),
        ...remainingContent.failures,
      ];
      if (failures.length > 0) throw new Error(failures.join(', '));
      if (estimate > 0) return { requeueAfterMs: (Math.floor(estimate / 2) + 1) * 1000 };
      await finalize(client, updated, names);
      return undefined;
    };
    const work = queue(
      'namespace',
      async (name) => {
        try {
          return await terminate(name);
        } catch (error) {
          // The namespace is gone.
          if (isStatus(error, 404)) return undefined;
          throw error;
        }
      },
      { workers, lastBackoffMs },
    );
    informers.of(kinds.namespaces).onChange((namespace) => {
      if (namespace?.metadata.deletionTimestamp === undefined) return;
      work.addAfter(namespace.metadata.name ?? '', settlingMs);
    });
  },
};

/** Deletes what is in the namespace. Resolves to what remains, and when it may be gone (s). */
async function empty(
  content: Content,
  feed: MetadataFeed,
  namespace: string,
  deletedAt: string,
): Promise<{ readonly remainingContent: Found; readonly estimate: number }> {
  const remainingContent = foundNothing();
  try {
    const { preferred, stale } = await feed.discover();
    if (stale.length > 0) remainingContent.discoveryFailure = staleText(stale);
    const resources = preferred.filter(({ namespaced, verbs }) => namespaced && verbs.includes('delete'));
    const pods = await content.delete(namespace, deletedAt, resources.filter(isPods), remainingContent);
    // Objects that pods use remain until the pods are deleted.
    if (remainingContent.remaining.size > 0) return { remainingContent, estimate: pods };
    const others = resources.filter((resource) => !isPods(resource));
    return {
      remainingContent,
      estimate: Math.max(pods, await content.delete(namespace, deletedAt, others, remainingContent)),
    };
  } catch (error) {
    remainingContent.discoveryFailure = error instanceof Error ? error.message : String(error);
    return { remainingContent, estimate: 0 };
  }
}

function staleText(versions: readonly string[]): string {
  const groups = [...versions].sort().map((version) => `${version}: stale GroupVersion discovery: ${version}`);
  const failure = `unable to retrieve the complete list of server APIs: ${groups.join(', ')}`;
  return `Discovery failed for some groups, ${versions.length} failing: ${failure}`;
}

/** Writes these fields of the status. */
const setStatus = (client: Client, namespace: NamespaceObject, status: NamespaceObject['status']) =>
  client
    .kind(kinds.namespaces)
    .subresource('status')
    .update({ ...namespace, status: { ...namespace.status, ...status } });

/** Removes the finalizer of the namespace controller. */
async function finalize(client: Client, namespace: NamespaceObject, { product }: Names): Promise<void> {
  const finalizers = (namespace.spec?.finalizers ?? []).filter((name) => name !== product);
  await client
    .kind(kinds.namespaces)
    .subresource('finalize')
    .update({ ...namespace, spec: { ...namespace.spec, finalizers } });
}
