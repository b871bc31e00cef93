import { age, name } from '../cells.ts';
import { resource } from '../define.ts';
import { VolumeAttachment } from '../types/storage-v1.ts';

export const volumeAttachments = resource({
  group: 'storage.{domain}',
  plural: 'volumeattachments',
  kind: 'VolumeAttachment',
  schema: VolumeAttachment,
  namespaced: false,
  status: true,
  columns: [
    name,
    ['Attacher', ({ spec }) => spec?.attacher ?? ''],
    ['PV', ({ spec }) => spec?.source?.persistentVolumeName ?? ''],
    ['Node', ({ spec }) => spec?.nodeName ?? ''],
    ['Attached', ({ status }) => status?.attached ?? false, 'boolean'],
    age,
  ],
  strategy: { unconditionalUpdate: false },
});
