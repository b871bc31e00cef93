import { isIP } from 'node:net';
import {
  dns1123Label,
  dns1123Subdomain,
  type FieldError,
  fieldError,
  getKey,
  type Names,
  portName,
  qualifiedName,
  validateLabels,
} from '../../meta/index.ts';
import type { ObjectOf } from '../../schema/index.ts';
import type { Service, ServicePort, ServiceSpec, ServiceStatus } from '../../types/core-v1.ts';
import { validateCidr, validateIp, validatePublicIp } from '../shared/addresses.ts';
import { byRule, eachOf, oneOf, within } from '../shared/field-rules.ts';
import { validateAddresses } from './services.address-validation.ts';
import { isExternal, isHeadless, needsHealthPort } from './services.defaults.ts';
import { topologyAnnotations } from './services.warnings.ts';

const KUBELET_PORT = 10250;
const MAX_AFFINITY_SECONDS = 86_400;

const forbiddenUnless = (ok: boolean, field: string, why: string): FieldError[] =>
  ok ? [] : [fieldError.forbidden(field, why)];
const loadBalancerOnly = "may only be used when `type` is 'LoadBalancer'";

export const validateService = (service: ObjectOf<typeof Service>, names: Names): FieldError[] => {
  const { spec = {}, status = {} } = service;
  return [
    ...validateTopology(service, names),
    ...validateType(spec),
    ...validatePorts(spec),
    ...validateLabels(spec.selector ?? {}, 'spec.selector'),
    ...validateAffinity(spec),
    ...validateAddresses(spec),
    ...eachOf(spec.externalIPs, 'spec.externalIPs', validateExternalIp),
    ...validateSourceRanges(service, names),
    ...validateLoadBalancer(spec),
    ...validateTraffic(spec),
    ...validateStatus(spec, status),
  ];
};

/** The deprecated topology annotation and its replacement must agree when both are set. */
function validateTopology({ metadata }: ObjectOf<typeof Service>, names: Names): FieldError[] {
  const [old, current] = topologyAnnotations(names);
  const { annotations = {} } = metadata;
  const [before, now] = [getKey(annotations, old), getKey(annotations, current)];
  if (before === undefined || now === undefined || before === now) return [];
  const why = `must match annotations[${old}] when both are specified`;
  return [fieldError.invalid(`metadata.annotations[${current}]`, now, why)];
}

function validateType(spec: ServiceSpec): FieldError[] {
  const { type = '', ports = [], clusterIPs = [] } = spec;
  const errors: FieldError[] = [];
  if (ports.length === 0 && !isHeadless(spec) && type !== 'ExternalName')
    errors.push(fieldError.required('spec.ports'));
  if ((type === 'LoadBalancer' || type === 'NodePort') && isHeadless(spec)) {
    errors.push(fieldError.invalid('spec.clusterIPs[0]', 'None', `may not be set to 'None' for ${type} services`));
  }
  if (type === 'LoadBalancer') {
    ports.forEach(({ port }, i) => {
      if (port !== KUBELET_PORT) return;
      const why = `may not expose port ${KUBELET_PORT} externally since it is used by kubelet`;
      errors.push(fieldError.invalid(`spec.ports[${i}]`, port, why));
    });
  }
  if (type !== 'ExternalName') return errors;
  const why = 'may not be set for ExternalName services';
  const host = (spec.externalName ?? '').replace(/\.$/, '');
  return [
    ...errors,
    ...forbiddenUnless(clusterIPs.length === 0, 'spec.clusterIPs', why),
    ...forbiddenUnless((spec.ipFamilies ?? []).length === 0, 'spec.ipFamilies', why),
    ...forbiddenUnless(spec.ipFamilyPolicy === undefined, 'spec.ipFamilyPolicy', why),
    ...(host === '' ? [fieldError.required('spec.externalName')] : byRule('spec.externalName', host, dns1123Subdomain)),
  ];
}

function validatePorts({ ports = [], type }: ServiceSpec): FieldError[] {
  const path = 'spec.ports';
  const seen = new Set<string>();
  const pairs = new Set<string>();
  const nodePairs = new Set<string>();
  return eachOf(ports, path, (port, at) => {
    const { name = '', protocol = '', port: number = 0, nodePort = 0 } = port;
    const errors = validatePort(port, ports.length > 1, at);
    if (name !== '' && seen.has(name)) errors.push(fieldError.duplicate(`${at}.name`, name));
    seen.add(name);
    if (type === 'ClusterIP' && nodePort !== 0) {
      errors.push(fieldError.forbidden(`${at}.nodePort`, "may not be used when `type` is 'ClusterIP'"));
    }
    if (nodePort !== 0) {
      const pair = `${protocol} ${nodePort}`;
      if (nodePairs.has(pair)) errors.push(fieldError.duplicate(`${at}.nodePort`, nodePort));
      nodePairs.add(pair);
    }
    const pair = `${protocol} ${number}`;
    if (pairs.has(pair)) errors.push(fieldError.duplicate(at, shownPort(protocol, number)));
    pairs.add(pair);
    return errors;
  });
}

const shownPort = (protocol: string, port: number) => ({
  Name: '',
  Protocol: protocol,
  AppProtocol: null,
  Port: port,
  TargetPort: 0,
  NodePort: 0,
});

function validatePort(port: ServicePort, several: boolean, path: string): FieldError[] {
  const { name = '', targetPort = 0, appProtocol } = port;
  const at = `${path}.targetPort`;
  return [
    ...(name === '' && several ? [fieldError.required(`${path}.name`)] : []),
    ...(name === '' ? [] : byRule(`${path}.name`, name, dns1123Label)),
    ...(typeof targetPort === 'number' ? within(at, targetPort, 1, 65535) : byRule(at, targetPort, portName)),
    ...(appProtocol === undefined ? [] : byRule(`${path}.appProtocol`, appProtocol, qualifiedName)),
  ];
}

function validateAffinity({ sessionAffinity, sessionAffinityConfig: config }: ServiceSpec): FieldError[] {
  const seconds = config?.clientIP?.timeoutSeconds;
  if (sessionAffinity !== 'ClientIP' || seconds === undefined) return [];
  if (seconds > 0 && seconds <= MAX_AFFINITY_SECONDS) return [];
  const why = `must be greater than 0 and less than ${MAX_AFFINITY_SECONDS}`;
  return [fieldError.invalid('spec.sessionAffinityConfig.clientIP.timeoutSeconds', seconds, why)];
}

function validateExternalIp(address: string, path: string): FieldError[] {
  const errors = validateIp(path, address);
  return errors.length > 0 ? errors : validatePublicIp(path, address);
}

function validateSourceRanges({ spec = {}, metadata }: ObjectOf<typeof Service>, { labels }: Names): FieldError[] {
  const ranges = spec.loadBalancerSourceRanges ?? [];
  const balanced = spec.type === 'LoadBalancer';
  if (ranges.length > 0) {
    const path = 'spec.LoadBalancerSourceRanges';
    const errors = forbiddenUnless(balanced, path, loadBalancerOnly);
    return [...errors, ...eachOf(ranges, path, (range, at) => validateCidr(at, range.trim()))];
  }
  const key = `service.beta.${labels}/load-balancer-source-ranges`;
  const text = metadata.annotations?.[key];
  if (text === undefined) return [];
  const path = `metadata.annotations[${key}]`;
  const parts = text.trim() === '' ? [] : text.split(',');
  const errors = forbiddenUnless(balanced, path, loadBalancerOnly);
  return [...errors, ...parts.flatMap((range) => validateCidr(path, range.trim()))];
}

function validateLoadBalancer(spec: ServiceSpec): FieldError[] {
  const balanced = spec.type === 'LoadBalancer';
  const { allocateLoadBalancerNodePorts: allocate } = spec;
  return [
    ...forbiddenUnless(balanced || allocate === undefined, 'spec.allocateLoadBalancerNodePorts', loadBalancerOnly),
    ...validateLoadBalancerClass(spec),
  ];
}

function validateLoadBalancerClass({ type, loadBalancerClass: name }: ServiceSpec): FieldError[] {
  const path = 'spec.loadBalancerClass';
  if (name === undefined) return [];
  return type === 'LoadBalancer' ? byRule(path, name, qualifiedName) : [fieldError.forbidden(path, loadBalancerOnly)];
}

/** Validates an update of the class, which is immutable; its other errors are reported again. */
export function validateClassUpdate(spec: ServiceSpec, old: ServiceSpec): FieldError[] {
  const { type, loadBalancerClass: name } = spec;
  const changes = type === 'LoadBalancer' && old.type === type && name !== old.loadBalancerClass;
  const errors = changes ? [fieldError.invalid('spec.loadBalancerClass', name, 'may not change once set')] : [];
  return [...errors, ...validateLoadBalancerClass(spec)];
}

function validateTraffic(spec: ServiceSpec): FieldError[] {
  const { externalTrafficPolicy: policy = '', healthCheckNodePort: port = 0, trafficDistribution } = spec;
  const errors: FieldError[] = [];
  const path = 'spec.externalTrafficPolicy';
  if (isExternal(spec)) errors.push(...oneOf(path, policy, ['Cluster', 'Local']));
  else if (policy !== '') {
    errors.push(fieldError.invalid(path, policy, 'may only be set for externally-accessible services'));
  }
  const at = 'spec.healthCheckNodePort';
  if (port !== 0 && needsHealthPort(spec)) errors.push(...within(at, port, 1, 65535));
  else if (port !== 0) {
    const why = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
    errors.push(fieldError.invalid(at, port, why));
  }
  if (trafficDistribution === undefined) return errors;
  return [...errors, ...oneOf('spec.trafficDistribution', trafficDistribution, ['PreferClose'])];
}

function validateStatus(spec: ServiceSpec, { loadBalancer }: ServiceStatus): FieldError[] {
  const path = 'status.loadBalancer.ingress';
  const entries = loadBalancer?.ingress ?? [];
  if (entries.length > 0 && spec.type !== 'LoadBalancer') {
    return [fieldError.forbidden(path, "may only be used when `spec.type` is 'LoadBalancer'")];
  }
  return eachOf(entries, path, ({ ip = '', ipMode, hostname = '' }, at) => {
    const errors = validateIngressPoint(ip, hostname, at);
    const mode = `${at}.ipMode`;
    if (ipMode === undefined) return errors;
    if (ip === '') return [...errors, fieldError.forbidden(mode, 'may not be specified when `ip` is not set')];
    return [...errors, ...oneOf(mode, ipMode, ['Proxy', 'VIP'])];
  });
}

/** Validates an ingress point of a load balancer: an IP or a host name. */
export function validateIngressPoint(ip: string, hostname: string, path: string): FieldError[] {
  const errors = ip === '' ? [] : validateIp(`${path}.ip`, ip);
  if (hostname === '') return errors;
  errors.push(...byRule(`${path}.hostname`, hostname, dns1123Subdomain));
  if (isIP(hostname) === 0) return errors;
  return [...errors, fieldError.invalid(`${path}.hostname`, hostname, 'must be a DNS name, not an IP address')];
}
