import { age, containerNames, imageNames, name } from '../cells.ts';
import { resource } from '../define.ts';
import { StatefulSet } from '../types/apps-v1.ts';

export const statefulSets = resource({
  group: 'apps',
  plural: 'statefulsets',
  kind: 'StatefulSet',
  schema: StatefulSet,
  shortNames: ['sts'],
  categories: ['all'],
  status: true,
  scale: true,
  columns: [
    name,
    ['Ready', ({ spec, status }) => `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`],
    age,
    ['Containers', ({ spec }) => containerNames(spec?.template?.spec?.containers), 'wide'],
    ['Images', ({ spec }) => imageNames(spec?.template?.spec?.containers), 'wide'],
  ],
  strategy: { generation: true },
});
