/** A controller as `--controllers` lists it. */
export interface ListedController {
  readonly name: string;
  /** Its former name, which `--controllers` accepts too. */
  readonly formerName?: string;
  /** `*` does not turn it on. */
  readonly onlyWhenNamed?: true;
}

/** All controllers, in the order in which they start. A command that reads flags loads this list, not the controllers. */
export const listedControllers: readonly ListedController[] = [
  { name: 'garbage-collector-controller', formerName: 'garbagecollector' },
  { name: 'namespace-controller', formerName: 'namespace' },
  { name: 'resourcequota-controller', formerName: 'resourcequota' },
  { name: 'serviceaccount-controller', formerName: 'serviceaccount' },
  { name: 'clusterrole-aggregation-controller', formerName: 'clusterrole-aggregation' },
  { name: 'deployment-controller', formerName: 'deployment' },
  { name: 'replicaset-controller', formerName: 'replicaset' },
  { name: 'replicationcontroller-controller', formerName: 'replicationcontroller' },
  { name: 'statefulset-controller', formerName: 'statefulset' },
  { name: 'daemonset-controller', formerName: 'daemonset' },
  { name: 'job-controller', formerName: 'job' },
  { name: 'cronjob-controller', formerName: 'cronjob' },
  { name: 'horizontal-pod-autoscaler-controller', formerName: 'horizontalpodautoscaling' },
  { name: 'disruption-controller', formerName: 'disruption' },
  { name: 'endpoints-controller', formerName: 'endpoint' },
  { name: 'endpointslice-controller', formerName: 'endpointslice' },
  { name: 'endpointslice-mirroring-controller', formerName: 'endpointslicemirroring' },
  { name: 'service-cidr-controller' },
  { name: 'pod-garbage-collector-controller', formerName: 'podgc' },
  { name: 'ttl-after-finished-controller', formerName: 'ttl-after-finished' },
  { name: 'persistentvolume-binder-controller', formerName: 'persistentvolume-binder' },
  { name: 'persistentvolumeclaim-protection-controller', formerName: 'pvc-protection' },
  { name: 'persistentvolume-protection-controller', formerName: 'pv-protection' },
  { name: 'ephemeral-volume-controller', formerName: 'ephemeral-volume' },
  { name: 'node-lifecycle-controller', formerName: 'nodelifecycle' },
  { name: 'taint-eviction-controller' },
  { name: 'ttl-controller', formerName: 'ttl' },
  { name: 'validatingadmissionpolicy-status-controller', formerName: 'validatingadmissionpolicy-status' },
  { name: 'storage-version-migrator-controller', formerName: 'svm' },
  { name: 'serviceaccount-token-controller', formerName: 'serviceaccount-token' },
  { name: 'certificatesigningrequest-signing-controller', formerName: 'csrsigning' },
  { name: 'certificatesigningrequest-approving-controller', formerName: 'csrapproving' },
  { name: 'certificatesigningrequest-cleaner-controller', formerName: 'csrcleaner' },
  { name: 'bootstrap-signer-controller', formerName: 'bootstrapsigner', onlyWhenNamed: true },
  { name: 'token-cleaner-controller', formerName: 'tokencleaner', onlyWhenNamed: true },
  { name: 'root-ca-certificate-publisher-controller', formerName: 'root-ca-cert-publisher' },
  { name: 'legacy-serviceaccount-token-cleaner-controller', formerName: 'legacy-service-account-token-cleaner' },
];
