import { formatTime, isStatus } from '../../meta/index.ts';
import * as kinds from '../shared/kinds.ts';
import { isReady, type Pod } from '../shared/pods.ts';
import type { ControllerContext } from '../types.ts';

type Context = Pick<ControllerContext, 'client' | 'clock' | 'events'>;

/**
 * Sets the condition `Ready` of pods that have it to `False`, because their node is not ready.
 * @throws the first error, when all have been tried
 */
export async function markNotReady(context: Context, pods: readonly Pod[]): Promise<void> {
  const errors: unknown[] = [];
  for (const pod of pods) if (isReady(pod)) await mark(context, pod).catch((error: unknown) => errors.push(error));
  if (errors.length > 0) throw errors[0];
}

async function mark({ client, clock, events }: Context, pod: Pod): Promise<void> {
  const lastTransitionTime = formatTime(clock.now());
  const conditions = (pod.status?.conditions ?? []).map((condition) =>
    condition.type === 'Ready' ? { ...condition, status: 'False', lastTransitionTime } : condition,
  );
  try {
    await client
      .kind(kinds.pods)
      .subresource('status')
      .update({ ...pod, status: { ...pod.status, conditions } });
  } catch (error) {
    if (isStatus(error, 404)) return;
    throw error;
  }
  events.record(pod, 'Warning', 'NodeNotReady', 'Node is not ready');
}
