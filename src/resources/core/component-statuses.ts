import type { ResourceDefinition } from '../../registry/index.ts';
import { ComponentStatus } from '../../types/core-v1.ts';
import { name } from '../shared/columns.ts';
import { resource } from '../shared/define.ts';

const declared = resource({
  group: '',
  plural: 'componentstatuses',
  kind: 'ComponentStatus',
  schema: ComponentStatus,
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

export const componentStatuses: ResourceDefinition = {
  ...declared,
  versions: [{ version: 'v1', schema: ComponentStatus, deprecated: { since: '1.19' } }],
};
