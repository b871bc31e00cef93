import { isJsonObject, type JsonObject, StatusError } from '../../meta/index.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { CommandError } from '../errors.ts';
import type { Io } from '../io.ts';
import { followEvents } from './events-of-watch.ts';
import { pathOfTarget, type Target } from './targets.ts';

/** Waits until an object of a uid is gone, or another one has its name. `timeoutMs` 0: without end. @throws CommandError */
export async function untilGone(
  io: Io,
  cluster: Cluster,
  target: Target,
  uid: string,
  timeoutMs: number,
): Promise<void> {
  const timeout = AbortSignal.timeout(timeoutMs === 0 ? 2 ** 31 - 1 : timeoutMs);
  const { resource, name } = target;
  const version = await versionOf(cluster, target, uid);
  if (version === undefined) return;
  let gone = false;
  const watch = {
    path: pathOfTarget({ ...target, name: undefined }),
    query: { fieldSelector: `metadata.name=${name}`, resourceVersion: version },
    until: timeout,
    event: ({ type, object }: { readonly type: string; readonly object: JsonObject }) => {
      gone = type === 'DELETED' || uidOf(object) !== uid;
      return gone;
    },
  };
  await io.progress.during(
    () => `Waiting for ${resource.name}/${name} to be deleted`,
    () => followEvents(io, cluster, watch),
  );
  if (!gone && timeout.aborted) {
    throw new CommandError(`timed out waiting for the condition on ${resource.name}/${name}`);
  }
}

const uidOf = ({ metadata = null }: JsonObject): unknown => (isJsonObject(metadata) ? metadata['uid'] : undefined);

/** The resourceVersion of the object; undefined when it is gone. */
async function versionOf(cluster: Cluster, target: Target, uid: string): Promise<string | undefined> {
  try {
    const object = await cluster.send({ url: pathOfTarget(target) });
    const { metadata } = object as { metadata: { uid: string; resourceVersion: string } };
    return uid !== '' && metadata.uid !== uid ? undefined : metadata.resourceVersion;
  } catch (error) {
    if (error instanceof StatusError && error.code === 404) return undefined;
    throw error;
  }
}
