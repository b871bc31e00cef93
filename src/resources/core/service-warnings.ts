/** Advice on services. */
import type { Names } from '../../meta/index.ts';
import type { ObjectOf } from '../define.ts';
import type { Service, ServiceSpec } from '../types/core-v1.ts';
import { warnOfAddress, warnOfRange } from '../validate/addresses.ts';
import { hasClusterIp, isHeadless } from './service-fields.ts';

/** The annotation of old, and the one that replaces it. */
export const topologyAnnotations = ({ labels }: Names): readonly [old: string, current: string] => [
  `service.${labels}/topology-aware-hints`,
  `service.${labels}/topology-mode`,
];

export function warnOfService({ metadata, spec = {} }: ObjectOf<typeof Service>, names: Names): string[] {
  const [old, current] = topologyAnnotations(names);
  const { clusterIPs = [], externalIPs = [], loadBalancerIP = '', loadBalancerSourceRanges = [] } = spec;
  const addresses = hasClusterIp(spec) && !isHeadless(spec) ? clusterIPs : [];
  return [
    ...(metadata.annotations?.[old] === undefined
      ? []
      : [`annotation ${old} is deprecated, please use ${current} instead`]),
    ...addresses.flatMap((ip, i) => warnOfAddress(`spec.clusterIPs[${i}]`, ip, names)),
    ...externalIPs.flatMap((ip, i) => warnOfAddress(`spec.externalIPs[${i}]`, ip, names)),
    ...warnOfAddress('spec.loadBalancerIP', loadBalancerIP, names),
    ...loadBalancerSourceRanges.flatMap((range, i) => warnOfRange(`spec.loadBalancerSourceRanges[${i}]`, range)),
    ...warnOfNames(spec),
    ...(isHeadless(spec) ? warnOfHeadless(spec) : []),
  ];
}

/** Advice on the addresses under which a balancer can be reached. */
export const warnOfIngressPoints = (points: readonly { readonly ip?: string }[] | undefined, names: Names): string[] =>
  (points ?? []).flatMap(({ ip = '' }, i) => warnOfAddress(`status.loadBalancer.ingress[${i}]`, ip, names));

function warnOfNames({ type, externalIPs = [], externalName = '' }: ServiceSpec): string[] {
  if (type === 'ExternalName') {
    return externalIPs.length > 0 ? ['spec.externalIPs is ignored when spec.type is "ExternalName"'] : [];
  }
  return externalName === '' ? [] : ['spec.externalName is ignored when spec.type is not "ExternalName"'];
}

/** Fields that say nothing where there is no address that they could speak of. */
const warnOfHeadless = (spec: ServiceSpec): string[] => [
  ...(spec.loadBalancerIP ? ['spec.loadBalancerIP is ignored for headless services'] : []),
  ...(spec.externalIPs === undefined ? [] : ['spec.externalIPs is ignored for headless services']),
  ...(spec.sessionAffinity === 'None' ? [] : ['spec.SessionAffinity is ignored for headless services']),
];
