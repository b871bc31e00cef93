import { type ApiObject, isStatus } from '../../meta/index.ts';
import type { ServedResource } from '../metadata/discovery.ts';
import type { ControllerContext } from '../types.ts';
import type { Autoscaler } from './model.ts';
import { noMatches, resourceOf } from './samples.ts';

/** The scale of what an autoscaler targets. */
export type TargetScale = ApiObject & {
  readonly spec?: { readonly replicas?: number };
  readonly status?: { readonly replicas?: number; readonly selector?: string };
};

const attempts = 5;

/** Where the scale is. @throws Error when the kind of the target is not served */
async function placeOf({ metadata }: ControllerContext, autoscaler: Autoscaler) {
  const { apiVersion = '', kind = '', name = '' } = autoscaler.spec?.scaleTargetRef ?? {};
  const { namespace = '' } = autoscaler.metadata;
  if (apiVersion.split('/').length > 2) throw new Error(`unexpected GroupVersion string: ${apiVersion}`);
  const group = apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '';
  const served = await metadata.discover();
  const found: ServedResource | undefined = resourceOf(served, group, kind) ?? served.find(apiVersion, kind);
  if (found === undefined) throw new Error(noMatches(group, kind));
  return { apiVersion: found.apiVersion, resource: found.resource, namespace, name, subresource: 'scale' };
}

/** @throws Error when the target or its kind does not exist, or has no scale */
export async function findScale(context: ControllerContext, autoscaler: Autoscaler): Promise<TargetScale> {
  return context.api.get<TargetScale>(await placeOf(context, autoscaler));
}

/** Sets the replicas, again with the latest scale after a conflict. @throws Error */
export async function writeScale(
  context: ControllerContext,
  autoscaler: Autoscaler,
  scale: TargetScale,
  replicas: number,
): Promise<void> {
  const place = await placeOf(context, autoscaler);
  let latest = scale;
  for (let attempt = 1; ; attempt++) {
    try {
      await context.api.update(place, { ...latest, spec: { ...latest.spec, replicas } });
      return;
    } catch (error) {
      if (!isStatus(error, 409) || attempt === attempts) throw error;
      latest = await context.api.get<TargetScale>(place);
    }
  }
}
