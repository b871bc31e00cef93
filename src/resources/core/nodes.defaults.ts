import type { NodeSpec, NodeStatus } from '../../types/core-v1.ts';
import { roundQuantities } from '../pod-template/resource-list.ts';

/** Makes `podCIDR` and `podCIDRs` agree; where they differ, `podCIDR` wins. */
export function syncPodCidrs(spec: NodeSpec | undefined): void {
  if (spec === undefined) return;
  const first = spec.podCIDR ?? '';
  if (first !== '' && spec.podCIDRs?.[0] !== first) spec.podCIDRs = [first];
  const range = spec.podCIDRs?.[0];
  if (range !== undefined) spec.podCIDR = range;
}

/** Defaults `allocatable` to `capacity` and rounds both to milli units. */
export function defaultAllocatable(status: NodeStatus | undefined): void {
  if (status?.capacity !== undefined) status.allocatable ??= { ...status.capacity };
  roundQuantities(status?.capacity);
  roundQuantities(status?.allocatable);
}
