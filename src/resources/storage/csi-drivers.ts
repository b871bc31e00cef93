import { age, name, orUnset } from '../cells.ts';
import { resource } from '../define.ts';
import { CSIDriver } from '../types/storage-v1.ts';

export const csiDrivers = resource({
  group: 'storage.{domain}',
  plural: 'csidrivers',
  kind: 'CSIDriver',
  schema: CSIDriver,
  namespaced: false,
  columns: [
    name,
    ['AttachRequired', ({ spec }) => spec?.attachRequired ?? true, 'boolean'],
    ['PodInfoOnMount', ({ spec }) => spec?.podInfoOnMount ?? false, 'boolean'],
    ['StorageCapacity', ({ spec }) => spec?.storageCapacity ?? false, 'boolean'],
    [
      'TokenRequests',
      ({ spec }) => orUnset((spec?.tokenRequests ?? []).map(({ audience = '' }) => audience).join(',')),
    ],
    ['RequiresRepublish', ({ spec }) => spec?.requiresRepublish ?? false, 'boolean'],
    ['Modes', ({ spec }) => (spec?.volumeLifecycleModes ?? []).join(',')],
    age,
  ],
  strategy: { generation: true, unconditionalUpdate: false },
});
