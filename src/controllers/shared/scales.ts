import type { Client } from '../../client/index.ts';
import { type ApiObject, isStatus } from '../../meta/index.ts';
import { resourceOf, type ServedResources } from '../metadata/discovery.ts';

/** The content of a Scale. */
export interface Scale {
  readonly uid: string;
  readonly replicas: number;
  /** The current number of replicas. */
  readonly current: number;
  /** Of the pods, as text. */
  readonly selector: string;
}

/** Of what the scale is asked for. */
export interface ScaleTarget {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

export type ScaleObject = ApiObject & {
  readonly spec?: { readonly replicas?: number };
  readonly status?: { readonly replicas?: number; readonly selector?: string };
};

/** The path of the scale; undefined when the kind is not served. */
export function scalePlace(served: ServedResources, { apiVersion, kind, namespace, name }: ScaleTarget) {
  const resource = resourceOf(served, apiVersion, kind);
  return (
    resource && { apiVersion: resource.apiVersion, resource: resource.resource, namespace, name, subresource: 'scale' }
  );
}

/** The scale of an object; undefined when the object, its kind, or the scale of the kind does not exist. */
export async function readScale(
  client: Client,
  served: ServedResources,
  target: ScaleTarget,
): Promise<Scale | undefined> {
  const place = scalePlace(served, target);
  if (place === undefined) return undefined;
  try {
    const { metadata, spec, status } = await client.get<ScaleObject>(place);
    const { replicas: current = 0, selector = '' } = status ?? {};
    return { uid: metadata.uid ?? '', replicas: spec?.replicas ?? 0, current, selector };
  } catch (error) {
    if (isStatus(error, 404)) return undefined;
    throw error;
  }
}
