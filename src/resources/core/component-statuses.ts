import { ComponentStatus } from '../../types/core-v1.ts';
import { name } from '../shared/columns.ts';
import { resource } from '../shared/define.ts';

export const componentStatuses = resource({
  group: '',
  plural: 'componentstatuses',
  kind: 'ComponentStatus',
  schema: ComponentStatus,
  lifecycle: { introduced: '1.0', deprecated: '1.19' },
  shortNames: ['cs'],
  namespaced: false,
  verbs: ['get', 'list'],
  virtual: true,
  columns: [
    name,
    [
      'Status',
      ({ conditions = [] }) =>
        conditions.some((c) => c.type === 'Healthy' && c.status === 'True') ? 'Healthy' : 'Unhealthy',
    ],
    ['Message', ({ conditions = [] }) => conditions[0]?.message ?? ''],
    ['Error', ({ conditions = [] }) => conditions[0]?.error ?? ''],
  ],
});
