import { age, name } from '../cells.ts';
import { resource } from '../define.ts';
import { ServiceCIDR } from '../types/networking-v1.ts';

export const serviceCidrs = resource({
  group: 'networking.{domain}',
  plural: 'servicecidrs',
  kind: 'ServiceCIDR',
  schema: ServiceCIDR,
  namespaced: false,
  status: true,
  columns: [name, ['CIDRs', ({ spec }) => (spec?.cidrs ?? []).join(',')], age],
});
