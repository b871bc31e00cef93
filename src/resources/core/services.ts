import { dns1035Label } from '../../meta/index.ts';
import type { ObjectOf } from '../../schema/index.ts';
import { Service } from '../../types/core-v1.ts';
import { age, formatLabels, name, orNone } from '../shared/columns.ts';
import { resource } from '../shared/define.ts';
import { proxyService } from './proxy.ts';
import { validateAddressUpdate } from './services.address-validation.ts';
import { allocateForService } from './services.allocation.ts';
import {
  defaultService,
  dropInternalPolicy,
  dropUnneeded,
  isLoadBalancer,
  keepAllocated,
  syncClusterIps,
} from './services.defaults.ts';
import { validateClassUpdate, validateService } from './services.validation.ts';
import { ingressPointWarnings, serviceWarnings } from './services.warnings.ts';

type ServiceObject = ObjectOf<typeof Service>;

export const services = resource({
  group: '',
  plural: 'services',
  kind: 'Service',
  schema: Service,
  lifecycle: { introduced: '1.0' },
  shortNames: ['svc'],
  categories: ['all'],
  status: true,
  subresources: [
    {
      name: 'proxy',
      type: 'connect',
      verbs: ['create', 'delete', 'get', 'patch', 'update'],
      kind: 'ServiceProxyOptions',
      connect: proxyService,
    },
  ],
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
  strategy: {
    metadataChecks: [0, 1],
    returnsDeleted: true,
    nameRule: dns1035Label,
    createOnUpdate: true,
    // The endpoints are deleted with the service: a new service of that name must not use them.
    cascadeDelete: ['endpoints'],
    defaults: (service) => {
      service.spec ??= {};
      defaultService(service.spec, service.status ?? {});
    },
    prepareCreate: ({ spec = {} }) => {
      syncClusterIps(spec);
      dropInternalPolicy(spec);
    },
    prepareUpdate: ({ spec = {}, status }, { spec: old = {} }) => {
      keepAllocated(spec, old);
      syncClusterIps(spec, old);
      dropUnneeded(spec, old);
      dropInternalPolicy(spec);
      // Only load balancers have `status.loadBalancer`.
      if (!isLoadBalancer(spec) && status?.loadBalancer !== undefined) status.loadBalancer = {};
    },
    allocate: (service, old, pools) => allocateForService(service?.spec, old?.spec, pools),
    validate: (service, { names }) => validateService(service, names),
    validateUpdate: ({ spec = {} }, { spec: old = {} }) => [
      ...validateClassUpdate(spec, old),
      ...validateAddressUpdate(spec, old),
    ],
    warnings: (service, _, { names }) => serviceWarnings(service, names),
    statusWarnings: ({ status }, { names }) => ingressPointWarnings(status?.loadBalancer?.ingress, names),
  },
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
