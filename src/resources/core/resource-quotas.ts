import { age, name } from '../cells.ts';
import { type ObjectOf, resource } from '../define.ts';
import { ResourceQuota } from '../types/core-v1.ts';

export const resourceQuotas = resource({
  group: '',
  plural: 'resourcequotas',
  kind: 'ResourceQuota',
  schema: ResourceQuota,
  shortNames: ['quota'],
  status: true,
  columns: [name, ['Request', (quota) => usage(quota, false)], ['Limit', (quota) => usage(quota, true)], age],
});

/** `name: used/hard` for each limited resource, of limits or of everything else. */
function usage({ status }: ObjectOf<typeof ResourceQuota>, limits: boolean): string {
  return Object.entries(status?.hard ?? {})
    .filter(([resource]) => resource.startsWith('limits') === limits)
    .map(([resource, hard]) => `${resource}: ${status?.used?.[resource] ?? '0'}/${hard}`)
    .join(', ');
}
