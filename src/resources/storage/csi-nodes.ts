import { age, name } from '../cells.ts';
import { resource } from '../define.ts';
import { CSINode } from '../types/storage-v1.ts';

export const csiNodes = resource({
  group: 'storage.{domain}',
  plural: 'csinodes',
  kind: 'CSINode',
  schema: CSINode,
  namespaced: false,
  columns: [name, ['Drivers', ({ spec }) => spec?.drivers?.length ?? 0, 'integer'], age],
  strategy: { unconditionalUpdate: false },
});
