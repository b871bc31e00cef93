import { age, name } from '../cells.ts';
import { resource } from '../define.ts';
import { ConfigMap } from '../types/core-v1.ts';

export const configMaps = resource({
  group: '',
  plural: 'configmaps',
  kind: 'ConfigMap',
  schema: ConfigMap,
  shortNames: ['cm'],
  columns: [
    name,
    ['Data', ({ data = {}, binaryData = {} }) => Object.keys(data).length + Object.keys(binaryData).length],
    age,
  ],
});
