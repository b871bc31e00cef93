import { dns1035Label } from '../../meta/index.ts';
import { age, formatLabels, name, orNone } from '../cells.ts';
import { type ObjectOf, resource } from '../define.ts';
import { Service } from '../types/core-v1.ts';

type ServiceObject = ObjectOf<typeof Service>;

export const services = resource({
  group: '',
  plural: 'services',
  kind: 'Service',
  schema: Service,
  shortNames: ['svc'],
  categories: ['all'],
  status: true,
  subresources: [{ name: 'proxy', verbs: ['create', 'delete', 'get', 'patch', 'update'], kind: 'ServiceProxyOptions' }],
  columns: [
    name,
    ['Type', ({ spec }) => spec?.type ?? ''],
    ['Cluster-IP', ({ spec }) => orNone(spec?.clusterIPs?.[0] ?? spec?.clusterIP)],
    ['External-IP', (service) => orNone(externalAddress(service))],
    ['Port(s)', ({ spec }) => orNone((spec?.ports ?? []).map(formatPort).join(','))],
    age,
    ['Selector', ({ spec }) => formatLabels(spec?.selector), 'wide'],
  ],
  selectableFields: [
    { path: 'spec.clusterIP', value: ({ spec }) => spec?.clusterIP ?? '' },
    { path: 'spec.type', value: ({ spec }) => spec?.type ?? '' },
  ],
  strategy: { nameRule: dns1035Label, createOnUpdate: true },
});

function externalAddress({ spec, status }: ServiceObject): string {
  const own = spec?.externalIPs ?? [];
  if (spec?.type === 'ExternalName') return spec.externalName ?? '';
  if (spec?.type !== 'LoadBalancer') return own.join(',');
  const balanced = (status?.loadBalancer?.ingress ?? [])
    .map(({ ip, hostname }) => ip ?? hostname ?? '')
    .filter((a) => a !== '');
  return [...balanced, ...own].join(',') || '<pending>';
}

const formatPort = ({
  port = 0,
  nodePort = 0,
  protocol = 'TCP',
}: NonNullable<NonNullable<ServiceObject['spec']>['ports']>[number]): string =>
  nodePort > 0 ? `${port}:${nodePort}/${protocol}` : `${port}/${protocol}`;
