import { age, containerNames, formatLabels, imageNames, name } from '../cells.ts';
import { resource } from '../define.ts';
import { PodTemplate } from '../types/core-v1.ts';

export const podTemplates = resource({
  group: '',
  plural: 'podtemplates',
  kind: 'PodTemplate',
  schema: PodTemplate,
  columns: [
    name,
    ['Containers', ({ template }) => containerNames(template?.spec?.containers)],
    ['Images', ({ template }) => imageNames(template?.spec?.containers)],
    ['Pod Labels', ({ template }) => formatLabels(template?.metadata?.labels)],
    age,
  ],
  strategy: { generation: true, createOnUpdate: true },
});
