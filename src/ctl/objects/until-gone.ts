import { isJsonObject, type JsonObject } from '../../meta/index.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { CommandError } from '../errors.ts';
import type { Io } from '../io.ts';
import { followEvents } from './events-of-watch.ts';
import { findByName } from './find-by-name.ts';
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
  const { object: present, version } = await findByName(cluster, target);
  if (present === undefined || (uid !== '' && uidOf(present) !== uid)) return;
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
