/** Warnings for services. */

import { type Names, warned } from '../../meta/index.ts';
import type { ObjectOf } from '../../schema/index.ts';
import type { Service, ServiceSpec } from '../../types/core-v1.ts';
import { addressWarnings, cidrWarnings } from '../shared/addresses.ts';
import { hasClusterIp, isHeadless } from './services.defaults.ts';

/** The deprecated topology annotation and its replacement. */
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
    ...warned(addresses).flatMap((ip, i) => addressWarnings(`spec.clusterIPs[${i}]`, ip, names)),
    ...warned(externalIPs).flatMap((ip, i) => addressWarnings(`spec.externalIPs[${i}]`, ip, names)),
    ...addressWarnings('spec.loadBalancerIP', loadBalancerIP, names),
    ...warned(loadBalancerSourceRanges).flatMap((range, i) =>
      cidrWarnings(`spec.loadBalancerSourceRanges[${i}]`, range),
    ),
    ...namesWarnings(spec),
    ...(isHeadless(spec) ? headlessWarnings(spec) : []),
  ];
}

/** Warnings for the ingress points of a load balancer. */
export const ingressPointWarnings = (points: readonly { readonly ip?: string }[] | undefined, names: Names): string[] =>
  warned(points).flatMap(({ ip = '' }, i) => addressWarnings(`status.loadBalancer.ingress[${i}]`, ip, names));

function namesWarnings({ type, externalIPs = [], externalName = '' }: ServiceSpec): string[] {
  if (type === 'ExternalName') {
    return externalIPs.length > 0 ? ['spec.externalIPs is ignored when spec.type is "ExternalName"'] : [];
  }
  return externalName === '' ? [] : ['spec.externalName is ignored when spec.type is not "ExternalName"'];
}

/** Warnings for fields that have no effect on headless services. */
const headlessWarnings = (spec: ServiceSpec): string[] => [
  ...(spec.loadBalancerIP ? ['spec.loadBalancerIP is ignored for headless services'] : []),
  ...(spec.externalIPs === undefined ? [] : ['spec.externalIPs is ignored for headless services']),
  ...(spec.sessionAffinity === 'None' ? [] : ['spec.SessionAffinity is ignored for headless services']),
];
