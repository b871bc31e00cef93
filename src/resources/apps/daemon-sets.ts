import { age, containerNames, formatLabels, formatSelector, imageNames, name } from '../cells.ts';
import { resource } from '../define.ts';
import { DaemonSet } from '../types/apps-v1.ts';

export const daemonSets = resource({
  group: 'apps',
  plural: 'daemonsets',
  kind: 'DaemonSet',
  schema: DaemonSet,
  shortNames: ['ds'],
  categories: ['all'],
  status: true,
  columns: [
    name,
    ['Desired', ({ status }) => status?.desiredNumberScheduled ?? 0, 'integer'],
    ['Current', ({ status }) => status?.currentNumberScheduled ?? 0, 'integer'],
    ['Ready', ({ status }) => status?.numberReady ?? 0, 'integer'],
    ['Up-to-date', ({ status }) => status?.updatedNumberScheduled ?? 0, 'integer'],
    ['Available', ({ status }) => status?.numberAvailable ?? 0, 'integer'],
    ['Node Selector', ({ spec }) => formatLabels(spec?.template?.spec?.nodeSelector)],
    age,
    ['Containers', ({ spec }) => containerNames(spec?.template?.spec?.containers), 'wide'],
    ['Images', ({ spec }) => imageNames(spec?.template?.spec?.containers), 'wide'],
    ['Selector', ({ spec }) => formatSelector(spec?.selector), 'wide'],
  ],
  strategy: { generation: true },
});
