/** Former versions of objects, which a server with `--object-history` returns (docs/history.md). */
import { at, type JsonObject, StatusError } from '../../meta/index.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { CommandError } from '../errors.ts';
import { urlOf } from '../objects/selection.ts';
import { pathOfTarget, type Target } from '../objects/targets.ts';

/** The resourceVersion of an object. */
export const versionOf = (object: JsonObject): number => Number(at(object, 'metadata', 'resourceVersion'));

const isCode = (error: unknown, code: number): error is StatusError =>
  error instanceof StatusError && error.code === code;

/**
 * The object as it was at a version; undefined when it did not exist then.
 * @throws StatusError 410 when that version has been compacted, CommandError when the server does not read former versions
 */
export async function readAt(cluster: Cluster, target: Target, version: number): Promise<JsonObject | undefined> {
  try {
    const object = await cluster.send({
      url: urlOf(pathOfTarget(target), { resourceVersion: version, resourceVersionMatch: 'Exact' }),
    });
    if (versionOf(object) <= version) return object;
  } catch (error) {
    if (isCode(error, 404)) return undefined;
    throw error;
  }
  throw unsupported();
}

/** The error of a server without `--object-history`, which returns the latest version instead. */
export const unsupported = (): CommandError =>
  new CommandError('the server does not read former versions of objects: it must run with --object-history');

/** A version of an object. */
export interface Version {
  readonly version: number;
  readonly object: JsonObject;
  /** Whether the object was deleted at this version; `object` is its last state. */
  readonly deleted: boolean;
}

export interface Versions {
  /** The newest first. */
  readonly versions: readonly Version[];
  /** Why there is no version before the last one: the limit is reached, the object was created, or they are compacted. */
  readonly end: 'limit' | 'created' | 'compacted';
}

/** At most `limit` versions of an object, from its latest version or its latest deletion on. @throws StatusError 404 */
export async function readVersions(cluster: Cluster, target: Target, limit: number): Promise<Versions> {
  const versions: Version[] = [await latest(cluster, target)];
  for (;;) {
    const last = versions.at(-1) as Version;
    try {
      const object = await readAt(cluster, target, last.version - 1);
      if (object === undefined) return { versions, end: 'created' };
      if (versions.length === limit) return { versions, end: 'limit' };
      versions.push({ version: versionOf(object), object, deleted: false });
    } catch (error) {
      if (!isCode(error, 410)) throw error;
      return { versions, end: 'compacted' };
    }
  }
}

async function latest(cluster: Cluster, target: Target): Promise<Version> {
  try {
    const object = await cluster.send({ url: pathOfTarget(target) });
    return { version: versionOf(object), object, deleted: false };
  } catch (error) {
    const deletion = isCode(error, 404) ? await lastDeletion(cluster, target) : undefined;
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
    const cause = isCode(error, 410)
      ? error.details?.causes?.find(({ reason }) => reason === 'OldestResourceVersion')
      : undefined;
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
