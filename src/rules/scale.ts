/** The kind and the objects of the `scale` subresources of built-in and custom resources. */
import type { ApiObject, Json } from '../meta/index.ts';
import { Scale } from '../types/autoscaling-v1.ts';

/** The kind that a `scale` subresource reads and writes. */
export const scaleKind = { kind: 'Scale', group: 'autoscaling', version: 'v1', schema: Scale } as const;

/** The values of an object that its Scale contains. */
interface ScaleValues {
  /** The desired number of replicas. */
  readonly replicas: Json;
  /** The current number of replicas. */
  readonly current: Json;
  /** The label selector of the pods; empty when there is none. */
  readonly selector: string;
}

/** The Scale of an object. */
export function scaleObject({ metadata }: ApiObject, { replicas, current, selector }: ScaleValues): ApiObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadata;
  return {
    kind: scaleKind.kind,
    apiVersion: `${scaleKind.group}/${scaleKind.version}`,
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp } as ApiObject['metadata'],
    spec: replicas === 0 ? {} : { replicas },
    status: { replicas: current, ...(selector !== '' && { selector }) },
  };
}
