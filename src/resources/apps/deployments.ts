import { age, containerNames, formatSelector, imageNames, name } from '../cells.ts';
import { resource } from '../define.ts';
import { Deployment } from '../types/apps-v1.ts';

export const deployments = resource({
  group: 'apps',
  plural: 'deployments',
  kind: 'Deployment',
  schema: Deployment,
  shortNames: ['deploy'],
  categories: ['all'],
  status: true,
  scale: true,
  columns: [
    name,
    ['Ready', ({ spec, status }) => `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`],
    ['Up-to-date', ({ status }) => status?.updatedReplicas ?? 0],
    ['Available', ({ status }) => status?.availableReplicas ?? 0],
    age,
    ['Containers', ({ spec }) => containerNames(spec?.template?.spec?.containers), 'wide'],
    ['Images', ({ spec }) => imageNames(spec?.template?.spec?.containers), 'wide'],
    ['Selector', ({ spec }) => formatSelector(spec?.selector), 'wide'],
  ],
  strategy: { generation: true },
});
