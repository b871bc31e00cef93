/** Default cluster roles of controllers, each bound to the service account of its name in the system namespace. */
import type { FeatureName } from '../../meta/index.ts';
import type { PolicyRule } from '../../types/rbac-v1.ts';
import {
  allow,
  authorization,
  certificates,
  core,
  type DefaultRole,
  discovery,
  dynamicResources,
  type GatedRule,
  gated,
  networking,
  rbac,
  read,
  reportEvents,
  serviceAccounts,
  storage,
} from './declare.ts';

/** The workload groups of old and new. */
const workloads = ['apps', 'extensions'];
const signers =
  '{labels}/legacy-unknown {labels}/kube-apiserver-client {labels}/kube-apiserver-client-kubelet {labels}/kubelet-serving';

/** The rules of each controller, by its name. */
const rules: { readonly [controller: string]: readonly (PolicyRule | GatedRule)[] } = {
  'attachdetach-controller': [
    allow('list watch', core, 'persistentvolumes persistentvolumeclaims'),
    allow(read, core, 'nodes'),
    allow('patch update', core, 'nodes/status'),
    allow('list watch', core, 'pods'),
    reportEvents,
    allow('get create delete list watch', storage, 'volumeattachments'),
    allow(read, storage, 'csidrivers'),
    allow(read, storage, 'csinodes'),
  ],
  'certificate-controller': [
    allow('get list watch delete', certificates, 'certificatesigningrequests'),
    allow('update', certificates, 'certificatesigningrequests/status certificatesigningrequests/approval'),
    allow('approve', certificates, 'signers', '{labels}/kube-apiserver-client-kubelet'),
    allow('sign', certificates, 'signers', signers),
    allow('create', authorization, 'subjectaccessreviews'),
    reportEvents,
  ],
  // It gives roles rights that it does not hold itself.
  'clusterrole-aggregation-controller': [allow('escalate get list watch update patch', rbac, 'clusterroles')],
  'cronjob-controller': [
    allow('get list watch update', 'batch', 'cronjobs'),
    allow('get list watch create update delete patch', 'batch', 'jobs'),
    allow('update', 'batch', 'cronjobs/status'),
    allow('update', 'batch', 'cronjobs/finalizers'),
    allow('list watch delete', core, 'pods'),
    reportEvents,
  ],
  'daemon-set-controller': [
    allow(read, workloads, 'daemonsets'),
    allow('update', workloads, 'daemonsets/status'),
    allow('update', workloads, 'daemonsets/finalizers'),
    allow('list watch', core, 'nodes'),
    allow('list watch create delete patch', core, 'pods'),
    allow('create', core, 'pods/binding'),
    allow('get list watch create delete update patch', 'apps', 'controllerrevisions'),
    reportEvents,
  ],
  'deployment-controller': [
    allow('get list watch update', workloads, 'deployments'),
    allow('update', workloads, 'deployments/status'),
    allow('update', workloads, 'deployments/finalizers'),
    allow('get list watch create update patch delete', workloads, 'replicasets'),
    allow('get list watch update', core, 'pods'),
    reportEvents,
  ],
  'device-taint-eviction-controller': [
    allow('get list watch delete', core, 'pods'),
    allow('update patch', core, 'pods/status'),
    allow(read, dynamicResources, 'resourceclaims'),
    allow(read, dynamicResources, 'resourceslices'),
    allow(read, dynamicResources, 'deviceclasses'),
    reportEvents,
    gated('DRADeviceTaints', allow(read, dynamicResources, 'devicetaintrules')),
  ],
  'disruption-controller': [
    allow(read, workloads, 'deployments'),
    allow(read, workloads, 'replicasets'),
    allow(read, core, 'replicationcontrollers'),
    allow(read, 'policy', 'poddisruptionbudgets'),
    allow(read, 'apps', 'statefulsets'),
    allow('update', 'policy', 'poddisruptionbudgets/status'),
    allow('patch update', core, 'pods/status'),
    allow('get', '*', '*/scale'),
    reportEvents,
  ],
  'endpoint-controller': [
    allow(read, core, 'services pods'),
    allow('get list watch create update delete', core, 'endpoints'),
    allow('create', core, 'endpoints/restricted'),
    reportEvents,
  ],
  'endpointslice-controller': [
    allow(read, core, 'services pods nodes'),
    // Owner references that block the deletion of the service.
    allow('update', core, 'services/finalizers'),
    allow('get list watch create update delete', discovery, 'endpointslices'),
    allow('create', discovery, 'endpointslices/restricted'),
    reportEvents,
  ],
  'endpointslicemirroring-controller': [
    allow(read, core, 'services endpoints'),
    allow('update', core, 'services/finalizers'),
    allow('update', core, 'endpoints/finalizers'),
    allow('get list watch create update delete', discovery, 'endpointslices'),
    allow('create', discovery, 'endpointslices/restricted'),
    reportEvents,
  ],
  'ephemeral-volume-controller': [
    allow(read, core, 'pods'),
    allow('update', core, 'pods/finalizers'),
    allow('get list watch create', core, 'persistentvolumeclaims'),
    reportEvents,
  ],
  'expand-controller': [
    allow('get list watch update patch', core, 'persistentvolumes'),
    allow('update patch', core, 'persistentvolumeclaims/status'),
    allow(read, core, 'persistentvolumeclaims'),
    reportEvents,
  ],
  'generic-garbage-collector': [allow('get list watch patch update delete', '*', '*'), reportEvents],
  'horizontal-pod-autoscaler': [
    allow(read, 'autoscaling', 'horizontalpodautoscalers'),
    allow('update', 'autoscaling', 'horizontalpodautoscalers/status'),
    allow('get update', '*', '*/scale'),
    allow('list watch', core, 'pods'),
    allow('list watch', 'metrics.{domain}', 'pods'),
    allow(read, 'custom.metrics.{domain}', '*'),
    allow(read, 'external.metrics.{domain}', '*'),
    reportEvents,
  ],
  'job-controller': [
    allow('get list watch update patch', 'batch', 'jobs'),
    allow('update', 'batch', 'jobs/status'),
    allow('update', 'batch', 'jobs/finalizers'),
    allow('list watch create delete patch', core, 'pods'),
    reportEvents,
  ],
  'kube-apiserver-serving-clustertrustbundle-publisher': [
    allow('attest', certificates, 'signers', '{labels}/kube-apiserver-serving'),
    allow('create update delete list watch', certificates, 'clustertrustbundles'),
    reportEvents,
  ],
  'legacy-service-account-token-cleaner': [
    allow('get', core, 'configmaps', 'kube-apiserver-legacy-service-account-token-tracking'),
    allow('patch delete', core, 'secrets'),
  ],
  'namespace-controller': [
    allow('get list watch delete', core, 'namespaces'),
    allow('update', core, 'namespaces/finalize namespaces/status'),
    allow('get list watch delete deletecollection', '*', '*'),
  ],
  'node-controller': [
    allow('get list watch update delete patch', core, 'nodes'),
    allow('patch update', core, 'nodes/status'),
    allow('patch update', core, 'pods/status'),
    allow('list watch get delete', core, 'pods'),
    reportEvents,
  ],
  'persistent-volume-binder': [
    allow('get list watch update create delete', core, 'persistentvolumes'),
    allow('update', core, 'persistentvolumes/status'),
    allow('get list watch update', core, 'persistentvolumeclaims'),
    allow('update', core, 'persistentvolumeclaims/status'),
    // Pods that recycle volumes, and their events.
    allow('list watch get create delete', core, 'pods'),
    allow(read, storage, 'storageclasses'),
    allow('list watch', core, 'nodes'),
    reportEvents,
    allow('watch', core, 'events'),
  ],
  'pod-garbage-collector': [
    allow('list watch delete', core, 'pods'),
    allow(read, core, 'nodes'),
    allow('patch', core, 'pods/status'),
  ],
  'pv-protection-controller': [allow('get list watch update', core, 'persistentvolumes'), reportEvents],
  'pvc-protection-controller': [
    allow('get list watch update', core, 'persistentvolumeclaims'),
    allow('update', core, 'persistentvolumeclaims/status'),
    allow('list watch get', core, 'pods'),
    reportEvents,
  ],
  'replicaset-controller': [
    allow('get list watch update', workloads, 'replicasets'),
    allow('update', workloads, 'replicasets/status'),
    allow('update', workloads, 'replicasets/finalizers'),
    allow('list watch patch create delete', core, 'pods'),
    reportEvents,
  ],
  'replication-controller': [
    allow('get list watch update', core, 'replicationcontrollers'),
    allow('update', core, 'replicationcontrollers/status'),
    allow('update', core, 'replicationcontrollers/finalizers'),
    allow('list watch patch create delete', core, 'pods'),
    reportEvents,
  ],
  'resource-claim-controller': [
    allow(read, core, 'pods'),
    allow('update', core, 'pods/finalizers'),
    allow('get list watch create delete', dynamicResources, 'resourceclaims'),
    allow('update patch', dynamicResources, 'resourceclaims resourceclaims/status'),
    allow('update patch', core, 'pods/status'),
    reportEvents,
    allow('update patch', dynamicResources, 'resourceclaims/binding'),
  ],
  // Any resource may have a quota.
  'resourcequota-controller': [
    allow('list watch', '*', '*'),
    allow('update', core, 'resourcequotas/status'),
    reportEvents,
  ],
  'root-ca-cert-publisher': [allow('create update', core, 'configmaps'), reportEvents],
  'route-controller': [allow('list watch', core, 'nodes'), allow('patch', core, 'nodes/status'), reportEvents],
  'selinux-warning-controller': [
    reportEvents,
    allow(read, core, 'persistentvolumes'),
    allow(read, core, 'persistentvolumeclaims'),
    allow(read, core, 'pods'),
    allow(read, storage, 'csidrivers'),
  ],
  'service-account-controller': [allow('create', core, 'serviceaccounts'), reportEvents],
  'service-cidrs-controller': [
    allow('get list watch patch update', networking, 'servicecidrs'),
    allow('patch update', networking, 'servicecidrs/finalizers'),
    allow('patch update', networking, 'servicecidrs/status'),
    allow(read, networking, 'ipaddresses'),
    reportEvents,
  ],
  'service-controller': [
    allow(read, core, 'services'),
    allow('patch update', core, 'services/status'),
    allow('list watch', core, 'nodes'),
    reportEvents,
  ],
  'statefulset-controller': [
    allow('list watch', core, 'pods'),
    allow(read, 'apps', 'statefulsets'),
    allow('update', 'apps', 'statefulsets/status'),
    allow('update', 'apps', 'statefulsets/finalizers'),
    allow('get create delete update patch', core, 'pods'),
    allow('get create delete update patch list watch', 'apps', 'controllerrevisions'),
    allow('get create list watch', core, 'persistentvolumeclaims'),
    allow('update delete', core, 'persistentvolumeclaims'),
    allow('update', core, 'pods/finalizers'),
    reportEvents,
  ],
  // `create` is for the migrator of the reference server, which applies. This one patches objects that exist.
  'storage-version-migrator-controller': [
    allow('list create patch', '*', '*'),
    allow('get', 'apiextensions.{domain}', 'customresourcedefinitions'),
    allow('patch', 'apiextensions.{domain}', 'customresourcedefinitions/status'),
    allow('update', 'storagemigration.{domain}', 'storageversionmigrations/status'),
  ],
  'ttl-after-finished-controller': [allow('get list watch delete', 'batch', 'jobs'), reportEvents],
  'ttl-controller': [allow('update patch list watch', core, 'nodes'), reportEvents],
  'validatingadmissionpolicy-status-controller': [
    allow(read, 'admissionregistration.{domain}', 'validatingadmissionpolicies'),
    allow('get patch update', 'admissionregistration.{domain}', 'validatingadmissionpolicies/status'),
    reportEvents,
  ],
  'volumeattributesclass-protection-controller': [
    allow(read, core, 'persistentvolumeclaims'),
    allow(read, core, 'persistentvolumes'),
    allow('get list watch update', storage, 'volumeattributesclasses'),
    reportEvents,
  ],
};

/** Controllers of features that can be off. */
const gates: { readonly [controller: string]: FeatureName } = {
  'kube-apiserver-serving-clustertrustbundle-publisher': 'ClusterTrustBundle',
  'selinux-warning-controller': 'SELinuxChangePolicy',
  'storage-version-migrator-controller': 'StorageVersionMigrator',
};

export const controllerRoles: readonly DefaultRole[] = Object.entries(rules).map(([controller, held]) => {
  const gate = gates[controller];
  return {
    name: `system:controller:${controller}`,
    rules: held,
    boundTo: serviceAccounts(controller),
    ...(gate === undefined ? {} : { gate }),
  };
});
