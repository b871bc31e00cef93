/** Defaults of services, and fields that an update may leave out. */
import type { Infer } from '../../schema/index.ts';
import type { ServicePort, ServiceSpec, ServiceStatus } from '../../types/core-v1.ts';
import { same } from '../shared/field-rules.ts';

const AFFINITY_SECONDS = 10_800;

export const isExternal = ({ type, externalIPs = [] }: ServiceSpec): boolean =>
  type === 'LoadBalancer' || type === 'NodePort' || (type === 'ClusterIP' && externalIPs.length > 0);

export const isHeadless = ({ clusterIPs = [] }: ServiceSpec): boolean =>
  clusterIPs.length === 1 && clusterIPs[0] === 'None';

export const hasClusterIp = ({ type }: ServiceSpec): boolean => type !== 'ExternalName';
export const hasNodePorts = ({ type }: ServiceSpec): boolean => type === 'NodePort' || type === 'LoadBalancer';

export const isLoadBalancer = ({ type }: ServiceSpec): boolean => type === 'LoadBalancer';

/** Whether a service needs `healthCheckNodePort`: a load balancer with `externalTrafficPolicy: Local`. */
export const needsHealthPort = ({ type, externalTrafficPolicy }: ServiceSpec): boolean =>
  type === 'LoadBalancer' && externalTrafficPolicy === 'Local';

/** Sets the defaults that need no allocation. */
export function defaultService(spec: ServiceSpec, status: ServiceStatus): void {
  spec.sessionAffinity ??= 'None';
  if (spec.sessionAffinity === 'None') delete spec.sessionAffinityConfig;
  if (spec.sessionAffinity === 'ClientIP' && spec.sessionAffinityConfig?.clientIP?.timeoutSeconds === undefined) {
    spec.sessionAffinityConfig = { clientIP: { timeoutSeconds: AFFINITY_SECONDS } };
  }
  spec.type ??= 'ClusterIP';
  for (const port of spec.ports ?? []) {
    if (port.targetPort === undefined || port.targetPort === 0 || port.targetPort === '') {
      port.targetPort = port.port ?? 0;
    }
  }
  if (isExternal(spec)) spec.externalTrafficPolicy ??= 'Cluster';
  if (['ClusterIP', 'NodePort', 'LoadBalancer'].includes(spec.type)) spec.internalTrafficPolicy ??= 'Cluster';
  if (spec.type === 'LoadBalancer') spec.allocateLoadBalancerNodePorts ??= true;
  for (const ingress of status.loadBalancer?.ingress ?? []) if (ingress.ip) ingress.ipMode ??= 'VIP';
}

/** Makes `clusterIP` and `clusterIPs` agree, whichever of the two the client sets. */
export function syncClusterIps(spec: ServiceSpec, old?: ServiceSpec): void {
  const address = spec.clusterIP ?? '';
  if (old === undefined) {
    if (address !== '' && !spec.clusterIPs?.length) spec.clusterIPs = [address];
    return;
  }
  const before = old.clusterIPs ?? [];
  if ((old.clusterIP ?? '') === address) {
    if (!spec.clusterIPs?.length && before.length > 0) spec.clusterIPs = [...before];
  } else if (same(spec.clusterIPs ?? [], before)) {
    if (address === '') delete spec.clusterIPs;
    else spec.clusterIPs = [address];
  }
}

type Ports = Infer<typeof ServicePort>[];
const nodePorts = (ports: Ports | undefined): number[] => (ports ?? []).map(({ nodePort = 0 }) => nodePort);

/** Copies allocated cluster IPs and node ports that the update leaves out. */
export function keepAllocated(spec: ServiceSpec, old: ServiceSpec): void {
  if (hasClusterIp(old) && hasClusterIp(spec)) {
    if (old.clusterIP !== undefined) spec.clusterIP ||= old.clusterIP;
    if (!spec.clusterIPs?.length && old.clusterIPs !== undefined) spec.clusterIPs = [...old.clusterIPs];
  }
  if (hasNodePorts(old) && hasNodePorts(spec)) keepNodePorts(spec.ports ?? [], old.ports ?? []);
  if (needsHealthPort(old) && needsHealthPort(spec) && old.healthCheckNodePort !== undefined) {
    spec.healthCheckNodePort ||= old.healthCheckNodePort;
  }
}

function keepNodePorts(ports: Ports, old: Ports): void {
  const had = new Set(nodePorts(old));
  const used = new Set(nodePorts(ports).filter((port) => had.has(port)));
  const byName = new Map(old.map(({ name = '', nodePort = 0 }) => [name, nodePort]));
  for (const port of ports) {
    const oldNodePort = byName.get(port.name ?? '') ?? 0;
    if ((port.nodePort ?? 0) !== 0 || oldNodePort === 0 || used.has(oldNodePort)) continue;
    port.nodePort = oldNodePort;
    used.add(oldNodePort);
  }
}

/** Removes `internalTrafficPolicy` from an ExternalName service. */
export function dropInternalPolicy(spec: ServiceSpec): void {
  const { type, internalTrafficPolicy: policy } = spec;
  if (type === 'ExternalName' && (policy === 'Cluster' || policy === 'Local')) delete spec.internalTrafficPolicy;
}

/** Removes the fields that only the old type needs, unless the client has changed them too. */
export function dropUnneeded(spec: ServiceSpec, old: ServiceSpec): void {
  const drop = (field: keyof ServiceSpec, needs: (spec: ServiceSpec) => boolean) => {
    if (needs(old) && !needs(spec) && same(spec[field], old[field])) delete spec[field];
  };
  const sameAddresses = same(spec.clusterIP, old.clusterIP) && same(spec.clusterIPs, old.clusterIPs);
  if (sameAddresses && hasClusterIp(old) && !hasClusterIp(spec)) {
    delete spec.clusterIP;
    delete spec.clusterIPs;
  }
  drop('ipFamilies', hasClusterIp);
  drop('ipFamilyPolicy', hasClusterIp);
  if (hasNodePorts(old) && !hasNodePorts(spec)) {
    // Ports may be added and removed in the same update, but no node port may be changed.
    const had = new Set([0, ...nodePorts(old.ports)]);
    if (nodePorts(spec.ports).every((port) => had.has(port))) for (const port of spec.ports ?? []) delete port.nodePort;
  }
  drop('healthCheckNodePort', needsHealthPort);
  drop('allocateLoadBalancerNodePorts', isLoadBalancer);
  drop('loadBalancerClass', isLoadBalancer);
  drop('externalTrafficPolicy', isExternal);
}
