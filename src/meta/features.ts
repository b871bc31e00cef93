import type { FeatureGate } from './feature-gate.ts';
import { inertGates } from './inert-features.ts';

const entry =
  (stage: FeatureGate['stage'], on: boolean, locked: boolean) =>
  (help: string, more: Partial<FeatureGate> = {}): FeatureGate => ({ stage, default: on, locked, help, ...more });

const alpha = entry('alpha', false, false);
const beta = entry('beta', true, false);
const stable = entry('stable', true, true);
const deprecated = entry('deprecated', false, false);
const off = { default: false };

const field = (...paths: string[]) => `${paths.map((path) => `\`${path}\``).join(', ')}: kept in objects`;

/** The feature gates that this server implements, as in release 1.33 except where noted. */
export const featureGates = {
  AllAlpha: alpha('every alpha feature is on that has no switch of its own'),
  AllBeta: beta('every beta feature is on that has no switch of its own, also those that are off otherwise', off),
  AllowUnsafeMalformedObjectDeletion: alpha(
    'stored objects that cannot be read may be deleted by who asks for just that',
  ),
  APIResponseCompression: beta('large answers are compressed for clients that accept gzip'),
  AuthorizeWithSelectors: beta('access reviews know field and label selectors'),
  ClusterTrustBundle: beta('bundles of certificates are served where their version is', off),
  ClusterTrustBundleProjection: beta(field('volumes[].projected.sources[].clusterTrustBundle'), off),
  ContainerStopSignals: alpha(field('lifecycle.stopSignal')),
  CoordinatedLeaderElection: beta(field('lease.spec.strategy', 'preferredHolder'), off),
  CRDValidationRatcheting: stable('values that do not change are not judged anew'),
  CrossNamespaceVolumeDataSource: alpha(field('claim.spec.dataSourceRef.namespace')),
  CustomResourceFieldSelectors: stable('type definitions name the fields that can be selected'),
  DeclarativeValidation: beta(
    'declared rules run beside those written by hand, and differences are logged and counted',
  ),
  DeclarativeValidationTakeover: beta('where both are there, the declared rules decide', off),
  DeploymentReplicaSetTerminatingReplicas: alpha(field('status.terminatingReplicas')),
  DRAAdminAccess: alpha(field('resourceclaim.spec.devices.requests[].adminAccess')),
  DRADeviceTaints: alpha('device taint rules are served where their version is; devices have taints'),
  DRAPartitionableDevices: alpha(field('resourceslice.spec.sharedCounters', 'perDeviceNodeSelection')),
  DRAPrioritizedList: alpha(field('resourceclaim.spec.devices.requests[].firstAvailable')),
  DRAResourceClaimDeviceStatus: beta(field('resourceclaim.status.devices')),
  DynamicResourceAllocation: beta(
    'claims, slices and classes of devices are served where their version is; pods have `resourceClaims`',
    off,
  ),
  HPAConfigurableTolerance: alpha(field('autoscaler.spec.behavior.*.tolerance')),
  ImageVolume: beta(field('volumes[].image'), off),
  InPlacePodVerticalScaling: beta('pods have a subresource `resize`, and containers `resizePolicy`'),
  InPlacePodVerticalScalingAllocatedStatus: deprecated(field('containerStatuses[].allocatedResources')),
  JobBackoffLimitPerIndex: stable(field('job.spec.backoffLimitPerIndex')),
  JobManagedBy: beta(field('job.spec.managedBy')),
  JobPodReplacementPolicy: beta(field('job.spec.podReplacementPolicy', 'status.terminating')),
  JobSuccessPolicy: stable(field('job.spec.successPolicy')),
  ListFromCacheSnapshot: alpha('lists at a version of the last 75 seconds may come from a snapshot of the watch cache'),
  MatchLabelKeysInPodAffinity: stable(field('podAffinity.*.matchLabelKeys', 'mismatchLabelKeys')),
  MatchLabelKeysInPodTopologySpread: beta(field('topologySpreadConstraints[].matchLabelKeys')),
  MaxUnavailableStatefulSet: alpha(field('statefulset.spec.updateStrategy.rollingUpdate.maxUnavailable')),
  MutableCSINodeAllocatableCount: alpha(
    field('csidriver.spec.nodeAllocatableUpdatePeriodSeconds', 'volumeError.errorCode'),
  ),
  NodeInclusionPolicyInPodTopologySpread: stable(field('topologySpreadConstraints[].nodeAffinityPolicy')),
  OpenAPIEnums: beta('OpenAPI tells the values that a field may have'),
  PodLevelResources: alpha(field('pod.spec.resources')),
  PodLifecycleSleepAction: beta(field('lifecycle.*.sleep')),
  PodObservedGenerationTracking: alpha(field('pod.status.observedGeneration')),
  PreferSameTrafficDistribution: alpha(field('endpointslice.endpoints[].hints.forNodes')),
  ProcMountType: beta(field('containers[].securityContext.procMount')),
  RecoverVolumeExpansionFailure: beta(field('claim.status.allocatedResources', 'allocatedResourceStatuses')),
  RecursiveReadOnlyMounts: stable(field('volumeMounts[].recursiveReadOnly')),
  ResourceHealthStatus: alpha(field('containerStatuses[].allocatedResourcesStatus')),
  RetryGenerateName: stable('a made-up name that is taken is made up anew'),
  SELinuxChangePolicy: beta(field('pod.spec.securityContext.seLinuxChangePolicy')),
  SELinuxMountReadWriteOncePod: beta(field('csidriver.spec.seLinuxMount')),
  ServiceTrafficDistribution: stable(field('service.spec.trafficDistribution')),
  SidecarContainers: stable(field('initContainers[].restartPolicy')),
  StatefulSetAutoDeletePVC: stable(field('statefulset.spec.persistentVolumeClaimRetentionPolicy')),
  StorageVersionHash: beta('discovery tells by a hash how objects are stored'),
  StorageVersionMigrator: alpha('migrations of stored objects are served where their version is'),
  SupplementalGroupsPolicy: beta(field('pod.spec.securityContext.supplementalGroupsPolicy')),
  TopologyAwareHints: stable(field('endpointslice.endpoints[].hints')),
  UserNamespacesSupport: beta(field('pod.spec.hostUsers')),
  VolumeAttributesClass: beta(field('volumeAttributesClassName'), off),
  WatchList: beta('a watch may begin with what is there (`sendInitialEvents`)', off),
} satisfies { [name: string]: FeatureGate };

export type FeatureName = keyof typeof featureGates;
/** Whether each feature gate is on. */
export type Features = { readonly [name in FeatureName]: boolean };

/** Every feature gate that can be set, sorted by name. */
export const featureList: readonly (readonly [string, FeatureGate])[] = Object.entries<FeatureGate>({
  ...featureGates,
  ...inertGates,
}).sort(([a], [b]) => (a < b ? -1 : 1));

/** Every gate as it is when nobody switches it. */
export const defaultFeatures = Object.fromEntries(featureList.map(([name, gate]) => [name, gate.default])) as Features;
