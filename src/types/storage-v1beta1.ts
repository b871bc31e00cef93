/** The types of storage/v1beta1. */
import { field, map, string, struct } from '../schema/index.ts';
import { ObjectMeta, typeMeta } from './meta-v1.ts';

export const VolumeAttributesClass = struct('storage/v1beta1.VolumeAttributesClass', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  driverName: field(2, string, { required: true, always: true }),
  parameters: field(3, map(string)),
});
