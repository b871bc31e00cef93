import { age, name } from '../cells.ts';
import { resource } from '../define.ts';
import { CSIStorageCapacity } from '../types/storage-v1.ts';

export const csiStorageCapacities = resource({
  group: 'storage.{domain}',
  plural: 'csistoragecapacities',
  kind: 'CSIStorageCapacity',
  schema: CSIStorageCapacity,
  columns: [
    name,
    ['StorageClassName', ({ storageClassName = '' }) => storageClassName],
    ['Capacity', ({ capacity }) => capacity ?? '<unset>'],
    age,
  ],
  strategy: { unconditionalUpdate: false },
});
