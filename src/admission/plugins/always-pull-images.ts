import { allContainers } from '../../rules/index.ts';
import { Pod, type PodSpec } from '../../types/core-v1.ts';
import { on, typedRequest } from '../request.ts';
import type { AdmissionPlugin } from '../types.ts';

/** Sets the pull policy of every container and image volume to Always, so that image credentials are checked. */
export function alwaysPullImages(): AdmissionPlugin {
  return {
    name: 'AlwaysPullImages',
    handles: on(['CREATE', 'UPDATE'], 'pods'),
    mutate: (request) => {
      const { object, oldObject } = typedRequest(Pod, request);
      const spec = object?.spec ?? {};
      const known = new Set(imagesOf(oldObject?.spec ?? {}));
      if (oldObject !== undefined && imagesOf(spec).every((image) => known.has(image))) return;
      for (const container of allContainers(spec)) container.imagePullPolicy = 'Always';
      for (const { image } of spec.volumes ?? []) if (image !== undefined) image.pullPolicy = 'Always';
    },
  };
}

const imagesOf = (spec: PodSpec): string[] => allContainers(spec).map(({ image }) => image ?? '');
