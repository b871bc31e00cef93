import type { Infer, ObjectOf } from '../../schema/index.ts';
import type { ContainerStatus, Node, Pod, Taint } from '../../types/core-v1.ts';

export type PodObject = ObjectOf<typeof Pod>;
export type NodeObject = ObjectOf<typeof Node>;
export type PodStatus = NonNullable<PodObject['status']>;
export type PodSpec = NonNullable<PodObject['spec']>;
export type ContainerStatuses = readonly Infer<typeof ContainerStatus>[];
export type NodeTaint = Infer<typeof Taint>;

/** Whether all containers of the pod have ended for good. */
export const isTerminal = ({ status }: PodObject): boolean =>
  status?.phase === 'Succeeded' || status?.phase === 'Failed';
