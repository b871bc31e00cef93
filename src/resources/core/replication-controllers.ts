import { age, containerNames, formatLabels, imageNames, name } from '../cells.ts';
import { resource } from '../define.ts';
import { ReplicationController } from '../types/core-v1.ts';

export const replicationControllers = resource({
  group: '',
  plural: 'replicationcontrollers',
  kind: 'ReplicationController',
  schema: ReplicationController,
  shortNames: ['rc'],
  categories: ['all'],
  status: true,
  scale: true,
  columns: [
    name,
    ['Desired', ({ spec }) => spec?.replicas ?? 0, 'integer'],
    ['Current', ({ status }) => status?.replicas ?? 0, 'integer'],
    ['Ready', ({ status }) => status?.readyReplicas ?? 0, 'integer'],
    age,
    ['Containers', ({ spec }) => containerNames(spec?.template?.spec?.containers), 'wide'],
    ['Images', ({ spec }) => imageNames(spec?.template?.spec?.containers), 'wide'],
    ['Selector', ({ spec }) => formatLabels(spec?.selector), 'wide'],
  ],
  selectableFields: [{ path: 'status.replicas', value: ({ status }) => String(status?.replicas ?? 0) }],
  strategy: { generation: true },
});
