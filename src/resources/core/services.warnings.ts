/** Advice on services. */
import type { Names } from '../../meta/index.ts';
import { addressWarnings, cidrWarnings } from '../shared/addresses.ts';
import type { ObjectOf } from '../shared/define.ts';
import type { Service, ServiceSpec } from '../types/core-v1.ts';
import { hasClusterIp, isHeadless } from './services.defaults.ts';

/** The annotation of old, and the one that replaces it. */
export const topologyAnnotations = ({ labels }: Names): readonly [old: string, current: string] => [
  `service.${labels}/topology-aware-hints`,
  `service.${labels}/topology-mode`,
];

export function serviceWarnings({ metadata, spec = {} }: ObjectOf<typeof Service>, names: Names): string[] {
  const [old, current] = topologyAnnotations(names);
  const { clusterIPs = [], externalIPs = [], loadBalancerIP = '', loadBalancerSourceRanges = [] } = spec;
  const addresses = hasClusterIp(spec) && !isHeadless(spec) ? clusterIPs : [];
  return [
    ...(metadata.annotations?.[old] === undefined
      ? []
      : [`annotation ${old} is deprecated, please use ${current} instead`]),
    ...addresses.flatMap((ip, i) => addressWarnings(`spec.clusterIPs[${i}]`, ip, names)),
    ...externalIPs.flatMap((ip, i) => addressWarnings(`spec.externalIPs[${i}]`, ip, names)),
    ...addressWarnings('spec.loadBalancerIP', loadBalancerIP, names),
    ...loadBalancerSourceRanges.flatMap((range, i) => cidrWarnings(`spec.loadBalancerSourceRanges[${i}]`, range)),
    ...namesWarnings(spec),
    ...(isHeadless(spec) ? headlessWarnings(spec) : []),
  ];
}

/** Advice on the addresses under which a balancer can be reached. */
export const ingressPointWarnings = (points: readonly { readonly ip?: string }[] | undefined, names: Names): string[] =>
  (points ?? []).flatMap(({ ip = '' }, i) => addressWarnings(`status.loadBalancer.ingress[${i}]`, ip, names));

function namesWarnings({ type, externalIPs = [], externalName = '' }: ServiceSpec): string[] {
  if (type === 'ExternalName') {
    return externalIPs.length > 0 ? ['spec.externalIPs is ignored when spec.type is "ExternalName"'] : [];
  }
  return externalName === '' ? [] : ['spec.externalName is ignored when spec.type is not "ExternalName"'];
}

/** Fields that say nothing where there is no address that they could speak of. */
const headlessWarnings = (spec: ServiceSpec): string[] => [
  ...(spec.loadBalancerIP ? ['spec.loadBalancerIP is ignored for headless services'] : []),
  ...(spec.externalIPs === undefined ? [] : ['spec.externalIPs is ignored for headless services']),
  ...(spec.sessionAffinity === 'None' ? [] : ['spec.SessionAffinity is ignored for headless services']),
];
