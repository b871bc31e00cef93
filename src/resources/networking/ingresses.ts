import { age, formatSome, name, orNone } from '../cells.ts';
import { resource } from '../define.ts';
import { Ingress } from '../types/networking-v1.ts';

export const ingresses = resource({
  group: 'networking.{domain}',
  plural: 'ingresses',
  kind: 'Ingress',
  schema: Ingress,
  shortNames: ['ing'],
  status: true,
  columns: [
    name,
    ['Class', ({ spec }) => orNone(spec?.ingressClassName)],
    [
      'Hosts',
      ({ spec }) => {
        const hosts = (spec?.rules ?? []).map(({ host }) => host || '*').filter((host) => host !== '*');
        return hosts.length === 0 ? '*' : formatSome(hosts, 3);
      },
    ],
    [
      'Address',
      ({ status }) => (status?.loadBalancer?.ingress ?? []).map(({ ip, hostname }) => ip || hostname || '').join(','),
    ],
    ['Ports', ({ spec }) => (spec?.tls === undefined ? '80' : '80, 443')],
    age,
  ],
  strategy: { generation: true },
});
