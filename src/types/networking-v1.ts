/** The types of networking/v1. */
import { field, type Infer, inline, int32, intOrString, list, string, struct } from '../schema/index.ts';
import { TypedLocalObjectReference } from './core-v1.ts';
import { Condition, LabelSelector, ObjectMeta, typeMeta } from './meta-v1.ts';

// NetworkPolicy

export const NetworkPolicyPort = struct('networking/v1.NetworkPolicyPort', {
  protocol: field(1, string, { nullable: true, known: ['TCP', 'UDP', 'SCTP'] }),
  port: field(2, intOrString, { nullable: true }),
  endPort: field(3, int32, { nullable: true }),
});
export type NetworkPolicyPort = Infer<typeof NetworkPolicyPort>;

export const IPBlock = struct('networking/v1.IPBlock', {
  cidr: field(1, string, { required: true, always: true }),
  except: field(2, list(string), { listType: 'atomic' }),
});

export const NetworkPolicyPeer = struct('networking/v1.NetworkPolicyPeer', {
  podSelector: field(1, LabelSelector, { nullable: true }),
  namespaceSelector: field(2, LabelSelector, { nullable: true }),
  ipBlock: field(3, IPBlock, { nullable: true }),
});

export const NetworkPolicyIngressRule = struct('networking/v1.NetworkPolicyIngressRule', {
  ports: field(1, list(NetworkPolicyPort), { listType: 'atomic' }),
  from: field(2, list(NetworkPolicyPeer), { listType: 'atomic' }),
});

export const NetworkPolicyEgressRule = struct('networking/v1.NetworkPolicyEgressRule', {
  ports: field(1, list(NetworkPolicyPort), { listType: 'atomic' }),
  to: field(2, list(NetworkPolicyPeer), { listType: 'atomic' }),
});

export const NetworkPolicySpec = struct('networking/v1.NetworkPolicySpec', {
  podSelector: field(1, LabelSelector, { required: true, always: true }),
  ingress: field(2, list(NetworkPolicyIngressRule), { listType: 'atomic' }),
  egress: field(3, list(NetworkPolicyEgressRule), { listType: 'atomic' }),
  policyTypes: field(4, list(string), { known: ['Ingress', 'Egress'], listType: 'atomic' }),
});
export type NetworkPolicySpec = Infer<typeof NetworkPolicySpec>;

export const NetworkPolicy = struct('networking/v1.NetworkPolicy', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  spec: field(2, NetworkPolicySpec),
});
export type NetworkPolicy = Infer<typeof NetworkPolicy>;

// Ingress

export const ServiceBackendPort = struct(
  'networking/v1.ServiceBackendPort',
  {
    name: field(1, string),
    number: field(2, int32),
  },
  { structType: 'atomic' },
);

export const IngressServiceBackend = struct('networking/v1.IngressServiceBackend', {
  name: field(1, string, { required: true, always: true }),
  port: field(2, ServiceBackendPort),
});

export const IngressBackend = struct('networking/v1.IngressBackend', {
  service: field(4, IngressServiceBackend, { nullable: true }),
  resource: field(3, TypedLocalObjectReference, { nullable: true }),
});
export type IngressBackend = Infer<typeof IngressBackend>;

export const IngressTLS = struct('networking/v1.IngressTLS', {
  hosts: field(1, list(string), { listType: 'atomic' }),
  secretName: field(2, string),
});

export const HTTPIngressPath = struct('networking/v1.HTTPIngressPath', {
  path: field(1, string),
  pathType: field(3, string, {
    required: true,
    emptyOk: true,
    always: true,
    nullable: true,
    known: ['Exact', 'ImplementationSpecific', 'Prefix'],
  }),
  backend: field(2, IngressBackend, { required: true, always: true }),
});

export const HTTPIngressRuleValue = struct('networking/v1.HTTPIngressRuleValue', {
  paths: field(1, list(HTTPIngressPath), { required: true, always: true, listType: 'atomic' }),
});

export const IngressRuleValue = struct('networking/v1.IngressRuleValue', {
  http: field(1, HTTPIngressRuleValue, { nullable: true }),
});

export const IngressRule = struct('networking/v1.IngressRule', {
  host: field(1, string),
  ...inline(2, 'ingressRuleValue', IngressRuleValue),
});

export const IngressSpec = struct('networking/v1.IngressSpec', {
  ingressClassName: field(4, string, { nullable: true }),
  defaultBackend: field(1, IngressBackend, { nullable: true }),
  tls: field(2, list(IngressTLS), { listType: 'atomic' }),
  rules: field(3, list(IngressRule), { listType: 'atomic' }),
});
export type IngressSpec = Infer<typeof IngressSpec>;

export const IngressPortStatus = struct('networking/v1.IngressPortStatus', {
  port: field(1, int32, { required: true, emptyOk: true, always: true }),
  protocol: field(2, string, {
    required: true,
    emptyOk: true,
    always: true,
    known: ['TCP', 'UDP', 'SCTP'],
    open: true,
    enum: true,
  }),
  error: field(3, string, { nullable: true }),
});

export const IngressLoadBalancerIngress = struct('networking/v1.IngressLoadBalancerIngress', {
  ip: field(1, string),
  hostname: field(2, string),
  ports: field(4, list(IngressPortStatus), { listType: 'atomic' }),
});

export const IngressLoadBalancerStatus = struct('networking/v1.IngressLoadBalancerStatus', {
  ingress: field(1, list(IngressLoadBalancerIngress), { listType: 'atomic' }),
});

export const IngressStatus = struct('networking/v1.IngressStatus', {
  loadBalancer: field(1, IngressLoadBalancerStatus),
});
export type IngressStatus = Infer<typeof IngressStatus>;

export const Ingress = struct('networking/v1.Ingress', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  spec: field(2, IngressSpec),
  status: field(3, IngressStatus),
});
export type Ingress = Infer<typeof Ingress>;

// IngressClass

export const IngressClassParametersReference = struct('networking/v1.IngressClassParametersReference', {
  apiGroup: field(1, string, { nullable: true, protoName: 'aPIGroup' }),
  kind: field(2, string, { required: true, emptyOk: true, always: true }),
  name: field(3, string, { required: true, emptyOk: true, always: true }),
  scope: field(4, string, { always: true, nullable: true }),
  namespace: field(5, string, { nullable: true }),
});

export const IngressClassSpec = struct('networking/v1.IngressClassSpec', {
  controller: field(1, string),
  parameters: field(2, IngressClassParametersReference, { nullable: true }),
});
export type IngressClassSpec = Infer<typeof IngressClassSpec>;

export const IngressClass = struct('networking/v1.IngressClass', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  spec: field(2, IngressClassSpec),
});
export type IngressClass = Infer<typeof IngressClass>;

// IPAddress

export const ParentReference = struct('networking/v1.ParentReference', {
  group: field(1, string),
  resource: field(2, string, { required: true }),
  namespace: field(3, string),
  name: field(4, string, { required: true }),
});

export const IPAddressSpec = struct('networking/v1.IPAddressSpec', {
  parentRef: field(1, ParentReference, { required: true, nullable: true }),
});
export type IPAddressSpec = Infer<typeof IPAddressSpec>;

export const IPAddress = struct('networking/v1.IPAddress', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  spec: field(2, IPAddressSpec),
});
export type IPAddress = Infer<typeof IPAddress>;

// ServiceCIDR

export const ServiceCIDRSpec = struct('networking/v1.ServiceCIDRSpec', {
  cidrs: field(1, list(string), { listType: 'atomic' }),
});
export type ServiceCIDRSpec = Infer<typeof ServiceCIDRSpec>;

export const ServiceCIDRStatus = struct('networking/v1.ServiceCIDRStatus', {
  conditions: field(1, list(Condition), {
    listType: 'map',
    listMapKeys: ['type'],
    duplicates: true,
    patchStrategy: 'merge',
    patchMergeKey: 'type',
  }),
});
export type ServiceCIDRStatus = Infer<typeof ServiceCIDRStatus>;

export const ServiceCIDR = struct('networking/v1.ServiceCIDR', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  spec: field(2, ServiceCIDRSpec),
  status: field(3, ServiceCIDRStatus),
});
export type ServiceCIDR = Infer<typeof ServiceCIDR>;
