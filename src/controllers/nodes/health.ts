/** When a node last showed that it is alive, by the heartbeat of its condition `Ready` and by its lease. */
import { formatTime } from '../../meta/index.ts';
import type { Lease } from '../../types/coordination-v1.ts';
import type { NodeObject } from '../shared/node-selection.ts';
import { createdAt } from '../shared/pods.ts';
import { type NodeCondition, nodeCondition } from './node.ts';

/** How long a node may be silent after its creation, and once it has posted its status (ms). */
const startupGraceMs = 60_000;
const graceMs = 50_000;

export interface Health {
  /** When the node was last seen alive, by the clock of the controller (ms). */
  readonly seen: number;
  /** The heartbeat of the condition `Ready`; undefined while the node has none. */
  readonly heartbeat: string | undefined;
  readonly renewTime: string | undefined;
}

/** The health of the node now: a new heartbeat or a renewed lease is a sign of life. */
export function observeHealth(
  before: Health | undefined,
  node: NodeObject,
  lease: Lease | undefined,
  now: number,
): Health {
  const ready = nodeCondition(node, 'Ready');
  const heartbeat = ready && (ready.lastHeartbeatTime ?? '');
  const renewTime = lease?.spec?.renewTime ?? before?.renewTime;
  const isRenewed = renewTime !== undefined && (before?.renewTime === undefined || before.renewTime < renewTime);
  const isAlive = isRenewed || (heartbeat !== undefined && heartbeat !== before?.heartbeat);
  return { seen: isAlive ? now : (before?.seen ?? createdAt(node) ?? now), heartbeat, renewTime };
}

/**
 * The conditions of a node that has been silent for too long: what it would report is unknown. Undefined when it has not
 * been, and when its readiness is unknown already.
 */
export function silentConditions(node: NodeObject, { seen }: Health, now: number): NodeCondition[] | undefined {
  const ready = nodeCondition(node, 'Ready');
  if (now <= seen + (ready === undefined ? startupGraceMs : graceMs) || ready?.status === 'Unknown') return undefined;
  const lastTransitionTime = formatTime(now);
  const conditions = (node.status?.conditions ?? []).map((condition) =>
    reported.includes(condition.type ?? '') && condition.status !== 'Unknown'
      ? { ...condition, ...stopped, lastTransitionTime }
      : condition,
  );
  const { creationTimestamp: lastHeartbeatTime = '' } = node.metadata;
  for (const type of reported) {
    if (nodeCondition(node, type) !== undefined) continue;
    conditions.push({ type, ...neverReported, lastHeartbeatTime, lastTransitionTime });
  }
  return conditions;
}

/** The conditions that the node itself reports. */
const reported = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'];

const stopped = { status: 'Unknown', reason: 'NodeStatusUnknown', message: 'Kubelet stopped posting node status.' };
const neverReported = {
  status: 'Unknown',
  reason: 'NodeStatusNeverUpdated',
  message: 'Kubelet never posted node status.',
};
