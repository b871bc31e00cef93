/** Default cluster roles of nodes, of components of the control plane, and of add-ons. */
import {
  allow,
  allowUrls,
  authentication,
  authorization,
  certificates,
  coordination,
  core,
  type DefaultRole,
  discovery,
  dynamicResources,
  gated,
  groups,
  networking,
  read,
  readUpdate,
  readWrite,
  reportEvents,
  serviceAccounts,
  storage,
  users,
} from './declare.ts';

/** Asking who a caller is and what it may do: components that serve requests delegate both. */
const delegateTokens = allow('create', authentication, 'tokenreviews');
const delegateAccess = allow('create', authorization, 'subjectaccessreviews');

const nodeRoles: readonly DefaultRole[] = [
  {
    name: 'system:node',
    needs: 'nodes',
    rules: [
      delegateTokens,
      allow('create', authorization, 'subjectaccessreviews localsubjectaccessreviews'),
      allow(read, core, 'services'),
      allow('create get list watch', core, 'nodes'),
      allow('update patch', core, 'nodes/status'),
      allow('update patch', core, 'nodes'),
      reportEvents,
      allow(read, core, 'pods'),
      // Mirror pods.
      allow('create delete', core, 'pods'),
      allow('update patch', core, 'pods/status'),
      allow('create', core, 'pods/eviction'),
      allow(read, core, 'secrets configmaps'),
      allow('get', core, 'persistentvolumeclaims persistentvolumes'),
      allow('get', core, 'endpoints'),
      // Rotation of the client certificate.
      allow('create get list watch', certificates, 'certificatesigningrequests'),
      allow('get create update patch delete', coordination, 'leases'),
      allow('get', storage, 'volumeattachments'),
      allow('create', core, 'serviceaccounts/token'),
      allow('get update patch', core, 'persistentvolumeclaims/status'),
      allow(read, storage, 'csidrivers'),
      allow('get create update patch delete', storage, 'csinodes'),
      allow(read, 'node.{domain}', 'runtimeclasses'),
      allow('get', dynamicResources, 'resourceclaims'),
      allow('deletecollection', dynamicResources, 'resourceslices'),
      gated('ClusterTrustBundle', allow(read, certificates, 'clustertrustbundles')),
      // Service account tokens for credential providers.
      allow('get', core, 'serviceaccounts'),
    ],
    // Nodes have their rights from the node authorizer.
    boundTo: [],
  },
  {
    name: 'system:node-bootstrapper',
    needs: 'nodes',
    rules: [allow('create get list watch', certificates, 'certificatesigningrequests')],
  },
  {
    name: 'system:node-problem-detector',
    rules: [allow('get', core, 'nodes'), allow('patch', core, 'nodes/status'), reportEvents],
  },
  {
    name: 'system:node-proxier',
    rules: [
      allow('list watch', core, 'services endpoints'),
      allow(read, core, 'nodes'),
      reportEvents,
      allow('list watch', networking, 'servicecidrs'),
      allow('list watch', discovery, 'endpointslices'),
    ],
    boundTo: users('system:kube-proxy'),
  },
  {
    name: 'system:kubelet-api-admin',
    rules: [
      allow(read, core, 'nodes'),
      allow('proxy', core, 'nodes'),
      allow('*', core, 'nodes/proxy nodes/metrics nodes/stats nodes/log'),
      allow('*', core, 'nodes/pods nodes/healthz nodes/configz'),
    ],
  },
];

const controlPlaneRoles: readonly DefaultRole[] = [
  {
    name: 'system:kube-controller-manager',
    rules: [
      reportEvents,
      allow('create', coordination, 'leases'),
      allow('get update', coordination, 'leases', 'kube-controller-manager'),
      // The credentials of its controllers.
      allow('create', core, 'secrets serviceaccounts'),
      allow('delete', core, 'secrets'),
      allow('get', core, 'namespaces secrets serviceaccounts configmaps'),
      allow('update', core, 'secrets serviceaccounts'),
      delegateTokens,
      delegateAccess,
      allow('list watch', '*', '*'),
      allow('create', core, 'serviceaccounts/token'),
    ],
    boundTo: users('system:kube-controller-manager'),
  },
  {
    name: 'system:kube-scheduler',
    rules: [
      reportEvents,
      allow('create', coordination, 'leases'),
      allow('get update list watch', coordination, 'leases', 'kube-scheduler'),
      allow(readWrite, coordination, 'leasecandidates'),
      allow(read, core, 'nodes'),
      allow('get list watch delete', core, 'pods'),
      allow('create', core, 'pods/binding bindings'),
      allow('patch update', core, 'pods/status'),
      allow(read, core, 'services replicationcontrollers'),
      allow(read, ['apps', 'extensions'], 'replicasets'),
      allow(read, 'apps', 'statefulsets'),
      allow(read, 'policy', 'poddisruptionbudgets'),
      allow(read, core, 'persistentvolumeclaims persistentvolumes'),
      delegateTokens,
      delegateAccess,
      allow(read, storage, 'csinodes'),
      allow(read, storage, 'volumeattachments'),
      // The namespace selectors of pod affinity.
      allow(read, core, 'namespaces'),
      allow(read, storage, 'csidrivers'),
      allow(read, storage, 'csistoragecapacities'),
      allow(read, dynamicResources, 'deviceclasses'),
      allow(readUpdate, dynamicResources, 'resourceclaims'),
      allow(readUpdate, dynamicResources, 'resourceclaims/status'),
      allow('update', core, 'pods/finalizers'),
      allow(read, dynamicResources, 'resourceslices'),
      allow('create delete', dynamicResources, 'resourceclaims'),
      gated('DRADeviceTaints', allow(read, dynamicResources, 'devicetaintrules')),
      allow('update patch', dynamicResources, 'resourceclaims/binding'),
    ],
    boundTo: users('system:kube-scheduler'),
  },
  {
    name: 'system:volume-scheduler',
    rules: [
      allow(readUpdate, core, 'persistentvolumes'),
      allow(read, storage, 'storageclasses'),
      allow(readUpdate, core, 'persistentvolumeclaims'),
    ],
    boundTo: users('system:kube-scheduler'),
  },
  { name: 'system:auth-delegator', rules: [delegateTokens, delegateAccess] },
  { name: 'system:kube-aggregator', rules: [allow(read, core, 'services endpoints')] },
  {
    name: 'system:monitoring',
    rules: [
      allowUrls('get', '/metrics /metrics/slis /livez /readyz /healthz /livez/* /readyz/* /healthz/* /flagz /statusz'),
      allow('get', core, 'nodes/metrics'),
    ],
    boundTo: groups('system:monitoring'),
  },
  {
    name: 'system:service-account-issuer-discovery',
    rules: [
      allowUrls(
        'get',
        '/.well-known/openid-configuration /.well-known/openid-configuration/ /openid/v1/jwks /openid/v1/jwks/',
      ),
    ],
    boundTo: groups('system:serviceaccounts'),
  },
  {
    name: 'system:cluster-trust-bundle-discovery',
    gate: 'ClusterTrustBundle',
    rules: [allow(read, certificates, 'clustertrustbundles')],
    boundTo: groups('system:serviceaccounts'),
  },
];

/** May approve the certificate signing requests of one signer. */
const approver = (signer: string): DefaultRole => ({
  name: `system:certificates.{domain}:${signer}-approver`,
  rules: [allow('approve', certificates, 'signers', `{labels}/${signer}`)],
});

/** The requests of whoever has this role are approved, as requests of a node for its own client certificate. */
const nodeRequester = (kind: string): DefaultRole => ({
  name: `system:certificates.{domain}:certificatesigningrequests:${kind}`,
  rules: [allow('create', certificates, `certificatesigningrequests/${kind}`)],
});

const certificateRoles: readonly DefaultRole[] = [
  nodeRequester('nodeclient'),
  nodeRequester('selfnodeclient'),
  approver('legacy-unknown'),
  approver('kubelet-serving'),
  approver('kube-apiserver-client'),
  approver('kube-apiserver-client-kubelet'),
];

const addOnRoles: readonly DefaultRole[] = [
  {
    name: 'system:kube-dns',
    rules: [allow('list watch', core, 'endpoints services')],
    boundTo: serviceAccounts('kube-dns'),
  },
  {
    name: 'system:heapster',
    rules: [allow(read, core, 'events pods nodes namespaces'), allow(read, 'extensions', 'deployments')],
  },
  {
    name: 'system:persistent-volume-provisioner',
    rules: [
      allow('get list watch create delete', core, 'persistentvolumes'),
      // Claims are locked by an annotation.
      allow('get list watch update', core, 'persistentvolumeclaims'),
      allow(read, storage, 'storageclasses'),
      allow('watch', core, 'events'),
      reportEvents,
    ],
  },
];

export const componentRoles: readonly DefaultRole[] = [
  ...nodeRoles,
  ...controlPlaneRoles,
  ...certificateRoles,
  ...addOnRoles,
];
