import { allContainersOf, fieldsOf, objectsOf, on, specOf, textOf } from './fields.ts';
import type { AdmissionPlugin } from './types.ts';

/** Sets the pull policy of every container and image volume to Always, so that image credentials are checked. */
export function alwaysPullImages(): AdmissionPlugin {
  return {
    name: 'AlwaysPullImages',
    handles: on(['CREATE', 'UPDATE'], 'pods'),
    mutate: ({ object, oldObject }) => {
      const spec = specOf(object);
      const imagesOf = (containers: ReturnType<typeof allContainersOf>) => containers.map(({ image }) => textOf(image));
      const known = new Set(imagesOf(allContainersOf(specOf(oldObject))));
      if (oldObject !== undefined && imagesOf(allContainersOf(spec)).every((image) => known.has(image))) return;
      for (const container of allContainersOf(spec)) container['imagePullPolicy'] = 'Always';
      for (const { image } of objectsOf(spec['volumes'])) {
        if (image !== undefined) fieldsOf(image)['pullPolicy'] = 'Always';
      }
    },
  };
}
