/** What the `scale` subresources of built-in and custom resources have in common. */
import type { ApiObject, Json } from '../meta/index.ts';
import { Scale } from './autoscaling-v1.ts';

/** The kind that they read and write. */
export const scaleKind = { kind: 'Scale', group: 'autoscaling', version: 'v1', schema: Scale } as const;

/** What a Scale shows of an object. */
export interface ShownScale {
  /** Those that are asked for, and those that there are. */
  readonly replicas: Json;
  readonly current: Json;
  /** Of the pods; empty where there is none. */
  readonly selector: string;
}

/** The Scale of an object. */
export function scaleObject({ metadata }: ApiObject, { replicas, current, selector }: ShownScale): ApiObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadata;
  return {
    kind: scaleKind.kind,
    apiVersion: `${scaleKind.group}/${scaleKind.version}`,
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp } as ApiObject['metadata'],
    spec: replicas === 0 ? {} : { replicas },
    status: { replicas: current, ...(selector !== '' && { selector }) },
  };
}
