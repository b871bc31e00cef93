import { isStatus } from '../../meta/index.ts';
import { type ScaleObject, scalePlace } from '../shared/scales.ts';
import type { ControllerContext } from '../types.ts';
import type { Autoscaler } from './model.ts';
import { noMatches } from './samples.ts';

const attempts = 5;

/** Where the scale is. @throws Error when the kind of the target is not served */
async function placeOf({ metadata }: ControllerContext, autoscaler: Autoscaler) {
  const { apiVersion = '', kind = '', name = '' } = autoscaler.spec?.scaleTargetRef ?? {};
  const { namespace = '' } = autoscaler.metadata;
  if (apiVersion.split('/').length > 2) throw new Error(`unexpected GroupVersion string: ${apiVersion}`);
  const place = scalePlace(await metadata.discover(), { apiVersion, kind, namespace, name });
  if (place === undefined) throw new Error(noMatches(apiVersion, kind));
  return place;
}

/** @throws Error when the target or its kind does not exist, or has no scale */
export async function findScale(context: ControllerContext, autoscaler: Autoscaler): Promise<ScaleObject> {
  return context.client.get<ScaleObject>(await placeOf(context, autoscaler));
}

/** Sets the replicas, again with the latest scale after a conflict. @throws Error */
export async function writeScale(
  context: ControllerContext,
  autoscaler: Autoscaler,
  scale: ScaleObject,
  replicas: number,
): Promise<void> {
  const place = await placeOf(context, autoscaler);
  let latest = scale;
  for (let attempt = 1; ; attempt++) {
    try {
      await context.client.update(place, { ...latest, spec: { ...latest.spec, replicas } });
      return;
    } catch (error) {
      if (!isStatus(error, 409) || attempt === attempts) throw error;
      latest = await context.client.get<ScaleObject>(place);
    }
  }
}
