import { type ApiObject, formatTime } from '../../meta/index.ts';
import type { ObjectOf } from '../../schema/index.ts';
import { ResourceSlice as V1alpha3 } from '../../types/resource-v1alpha3.ts';
import { ResourceSlice } from '../../types/resource-v1beta1.ts';
import { ResourceSlice as V1beta2 } from '../../types/resource-v1beta2.ts';
import { age, name } from '../shared/columns.ts';
import { resource } from '../shared/define.ts';
import { sliceFromV1alpha3, sliceFromV1beta2, sliceToV1alpha3, sliceToV1beta2 } from './conversion.ts';
import { validateSlice, validateSliceUpdate } from './resource-slices.validation.ts';

type Slice = ObjectOf<typeof ResourceSlice>;

/** The spec in v1beta2 form. */
const specOf = (slice: Slice) => (sliceToV1beta2(slice as ApiObject) as unknown as ObjectOf<typeof V1beta2>).spec ?? {};

export const resourceSlices = resource({
  group: 'resource.{domain}',
  plural: 'resourceslices',
  kind: 'ResourceSlice',
  version: 'v1beta1',
  schema: ResourceSlice,
  lifecycle: { introduced: '1.32', deprecated: '1.35', removed: '1.38' },
  versions: [
    {
      version: 'v1beta2',
      schema: V1beta2,
      lifecycle: { introduced: '1.33', deprecated: '1.36', removed: '1.39' },
      toStorage: sliceFromV1beta2,
      fromStorage: sliceToV1beta2,
    },
    {
      version: 'v1alpha3',
      schema: V1alpha3,
      lifecycle: {
        introduced: '1.31',
        deprecated: '1.34',
        removed: '1.37',
        replacement: 'resource.{domain}/v1beta1 ResourceSlice',
      },
      toStorage: sliceFromV1alpha3,
      fromStorage: sliceToV1alpha3,
    },
  ],
  gate: 'DynamicResourceAllocation',
  namespaced: false,
  columns: [
    name,
    ['Node', ({ spec }) => spec?.nodeName ?? ''],
    ['Driver', ({ spec }) => spec?.driver ?? ''],
    ['Pool', ({ spec }) => spec?.pool?.name ?? ''],
    age,
  ],
  selectableFields: [
    { path: 'spec.nodeName', value: ({ spec }) => spec?.nodeName ?? '', indexed: true },
    { path: 'spec.driver', value: ({ spec }) => spec?.driver ?? '' },
  ],
  strategy: {
    metadataChecks: [0, 1],
    generation: true,
    defaults: ({ spec }, { now }) => {
      for (const device of spec?.devices ?? []) {
        device.basic ??= {};
        for (const taint of device.basic.taints ?? []) taint.timeAdded ??= formatTime(now);
      }
    },
    validate: (slice) => validateSlice(specOf(slice)),
    validateUpdate: (slice, old) => validateSliceUpdate(specOf(slice), specOf(old)),
  },
});
