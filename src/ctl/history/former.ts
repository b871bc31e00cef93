/** The versions of the object that a command names. */
import { type ReadFormer, readAt as readVersionAt, type Version, versionOf } from '../../client/index.ts';
import { isStatus, type JsonObject, StatusError } from '../../meta/index.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { CommandError } from '../errors.ts';
import { urlOf } from '../objects/selection.ts';
import { pathOfTarget, type Target } from '../objects/targets.ts';

/** Reads versions of an object with exact integers. */
export const formerOf =
  (cluster: Cluster, target: Target): ReadFormer =>
  (query) =>
    cluster.send({ url: urlOf(pathOfTarget(target), { ...query }) });

/**
 * The object as it was at a version; undefined when it did not exist then.
 * @throws StatusError 410 when that version has been compacted, 501 when the server does not read former versions
 */
export const readAt = (cluster: Cluster, target: Target, version: number): Promise<JsonObject | undefined> =>
  readVersionAt(formerOf(cluster, target), version);

/** The latest version of an object, or its latest deletion. @throws StatusError 404 */
export async function readLatest(cluster: Cluster, target: Target): Promise<Version> {
  try {
    const object = await cluster.send({ url: pathOfTarget(target) });
    return { version: versionOf(object), object, deleted: false };
  } catch (error) {
    const deletion = isStatus(error, 404) ? await lastDeletion(cluster, target) : undefined;
    if (deletion === undefined) throw error;
    return deletion;
  }
}

/** The first version that can be read. */
async function oldestVersion(cluster: Cluster, target: Target): Promise<number> {
  try {
    await readAt(cluster, target, 1);
    return 1;
  } catch (error) {
    const causes = error instanceof StatusError && error.code === 410 ? error.details?.causes : undefined;
    const cause = causes?.find(({ reason }) => reason === 'OldestResourceVersion');
    if (cause === undefined) throw error;
    return Number(cause.message);
  }
}

/** How long one watch of the history stays open (s). */
const watchSeconds = 1;

/** The last deletion of an object in the history; undefined without one. */
async function lastDeletion(cluster: Cluster, target: Target): Promise<Version | undefined> {
  const { resource, namespace, name = '' } = target;
  let found: Version | undefined;
  let position = await oldestVersion(cluster, target);
  // A bookmark at the end of a watch says that every event up to its version has been delivered.
  for (let complete = false; !complete; ) {
    const watch = await cluster.client.watch(
      { apiVersion: resource.apiVersion, resource: resource.name, ...(namespace === undefined ? {} : { namespace }) },
      {
        fieldSelector: `metadata.name=${name}`,
        resourceVersion: String(position),
        allowWatchBookmarks: true,
        timeoutSeconds: watchSeconds,
      },
    );
    for await (const { type, object } of watch) {
      const body = object as unknown as JsonObject;
      position = versionOf(body);
      complete = type === 'BOOKMARK';
      if (type === 'DELETED') found = { version: position, object: body, deleted: true };
      else if (type === 'ADDED') found = undefined;
    }
  }
  return found;
}

/** The target of `TYPE NAME`, `TYPE/NAME`. @throws CommandError */
export function singleTarget(targets: readonly Target[], path: string): Target {
  const [target] = targets;
  if (targets.length === 1 && target?.name !== undefined) return target;
  throw new CommandError(
    `exactly one object is required: TYPE NAME or TYPE/NAME\nSee '${path} -h' for help and examples`,
  );
}
