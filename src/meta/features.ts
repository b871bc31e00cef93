import type { FeatureGate } from './feature-gate.ts';
import { formerGates } from './feature-history.ts';
import { inertGates } from './inert-features.ts';
import type { Release } from './release.ts';

const entry =
  (stage: FeatureGate['stage'], on: boolean, locked: boolean) =>
  (help: string, more: Partial<FeatureGate> = {}): FeatureGate => ({ stage, default: on, locked, help, ...more });

const alpha = entry('alpha', false, false);
const beta = entry('beta', true, false);
const stable = entry('stable', true, true);
const deprecated = entry('deprecated', false, false);
const off = { default: false };

const field = (...paths: string[]) => `enables ${paths.map((path) => `\`${path}\``).join(' and ')}`;

/** The feature gates that this server implements, as in release 1.33 except where noted. */
export const featureGates = {
  AllAlpha: alpha('turns on every alpha feature without a setting of its own'),
  AllBeta: beta('turns on every beta feature without a setting of its own, also those that are off by default', off),
  AllowInsecureKubeletCertificateSigningRequests: deprecated(
    'the plugin NodeRestriction lets kubelets ask for certificates of any subject',
  ),
  AllowUnsafeMalformedObjectDeletion: alpha(
    'a stored object that cannot be decoded may be deleted with `ignoreStoreReadErrorWithClusterBreakingPotential`',
  ),
  AllowParsingUserUIDFromCertAuth: beta('the uid of a user is read from its client certificate'),
  AnonymousAuthConfigurableEndpoints: beta(
    'the file of `--authentication-config` decides at which paths requests without credentials are served',
  ),
  APIServerTracing: beta('requests are traced where `--tracing-config-file` is given'),
  APIResponseCompression: beta('large responses of gets and lists are compressed for clients that accept gzip'),
  AuthorizeNodeWithSelectors: beta(
    'a node reads its own Node object and its own pods only, in the authorization mode Node',
  ),
  AuthorizeWithSelectors: beta('authorizers and access reviews get field and label selectors'),
  CBORServingAndStorage: alpha('requests and responses may be CBOR; objects are stored as JSON all the same'),
  ClusterTrustBundle: beta('ClusterTrustBundles are served in the versions that `--runtime-config` enables', off),
  ClusterTrustBundleProjection: beta(field('volumes[].projected.sources[].clusterTrustBundle'), off),
  ContainerStopSignals: alpha(field('lifecycle.stopSignal')),
  CoordinatedLeaderElection: beta(field('lease.spec.strategy', 'preferredHolder'), off),
  CRDValidationRatcheting: stable('updates do not validate unchanged values again'),
  CrossNamespaceVolumeDataSource: alpha(field('claim.spec.dataSourceRef.namespace')),
  CustomResourceFieldSelectors: stable('custom resource definitions declare selectable fields'),
  DeclarativeValidation: beta(
    'declarative validation runs in addition to handwritten validation; mismatches are logged and counted',
  ),
  DeclarativeValidationTakeover: beta('errors of declarative validation replace those of handwritten validation', off),
  DeploymentReplicaSetTerminatingReplicas: alpha(field('status.terminatingReplicas')),
  DRAAdminAccess: alpha(field('resourceclaim.spec.devices.requests[].adminAccess')),
  DRADeviceTaints: alpha(
    'DeviceTaintRules are served in the versions that `--runtime-config` enables; devices have `taints`',
  ),
  DRAPartitionableDevices: alpha(field('resourceslice.spec.sharedCounters', 'perDeviceNodeSelection')),
  DRAPrioritizedList: alpha(field('resourceclaim.spec.devices.requests[].firstAvailable')),
  DRAResourceClaimDeviceStatus: beta(field('resourceclaim.status.devices')),
  DynamicResourceAllocation: beta(
    'resource claims, resource slices and device classes are served in the versions that `--runtime-config` enables; pods have `resourceClaims`',
    off,
  ),
  HPAConfigurableTolerance: alpha(field('autoscaler.spec.behavior.*.tolerance')),
  ImageVolume: beta(field('volumes[].image'), off),
  InPlacePodVerticalScaling: beta('pods have the subresource `resize`, and containers `resizePolicy`'),
  InPlacePodVerticalScalingAllocatedStatus: deprecated(field('containerStatuses[].allocatedResources')),
  JobBackoffLimitPerIndex: stable(field('job.spec.backoffLimitPerIndex')),
  JobManagedBy: beta(field('job.spec.managedBy')),
  JobPodReplacementPolicy: beta(field('job.spec.podReplacementPolicy', 'status.terminating')),
  JobSuccessPolicy: stable(field('job.spec.successPolicy')),
  ListFromCacheSnapshot: alpha('later pages of a list are served from a snapshot of the watch cache for 75 seconds'),
  MatchLabelKeysInPodAffinity: stable(field('podAffinity.*.matchLabelKeys', 'mismatchLabelKeys')),
  MatchLabelKeysInPodTopologySpread: beta(field('topologySpreadConstraints[].matchLabelKeys')),
  MaxUnavailableStatefulSet: alpha(field('statefulset.spec.updateStrategy.rollingUpdate.maxUnavailable')),
  MutableCSINodeAllocatableCount: alpha(
    field('csidriver.spec.nodeAllocatableUpdatePeriodSeconds', 'volumeError.errorCode'),
  ),
  MutatingAdmissionPolicy: alpha('MutatingAdmissionPolicies, which `--runtime-config` serves, change objects'),
  NodeInclusionPolicyInPodTopologySpread: stable(field('topologySpreadConstraints[].nodeAffinityPolicy')),
  OpenAPIEnums: beta('OpenAPI lists the enum values of fields'),
  PodLevelResources: alpha(field('pod.spec.resources')),
  PodLifecycleSleepAction: beta(field('lifecycle.*.sleep')),
  PodObservedGenerationTracking: alpha(field('pod.status.observedGeneration')),
  PreferSameTrafficDistribution: alpha(field('endpointslice.endpoints[].hints.forNodes')),
  ProcMountType: beta(field('containers[].securityContext.procMount')),
  RecoverVolumeExpansionFailure: beta(field('claim.status.allocatedResources', 'allocatedResourceStatuses')),
  RecursiveReadOnlyMounts: stable(field('volumeMounts[].recursiveReadOnly')),
  RemoteRequestHeaderUID: beta('`--requestheader-uid-headers` may be set'),
  ResourceHealthStatus: alpha(field('containerStatuses[].allocatedResourcesStatus')),
  RetryGenerateName: stable('a create with `generateName` tries another name when the generated one exists'),
  SELinuxChangePolicy: beta(field('pod.spec.securityContext.seLinuxChangePolicy')),
  SELinuxMountReadWriteOncePod: beta(field('csidriver.spec.seLinuxMount')),
  ServiceAccountNodeAudienceRestriction: beta(
    'the plugin NodeRestriction lets kubelets ask for tokens of the audiences of the volumes of a pod alone',
  ),
  ServiceTrafficDistribution: stable(field('service.spec.trafficDistribution')),
  SidecarContainers: stable(field('initContainers[].restartPolicy')),
  StatefulSetAutoDeletePVC: stable(field('statefulset.spec.persistentVolumeClaimRetentionPolicy')),
  StorageVersionHash: beta('discovery has `storageVersionHash`'),
  StorageVersionMigrator: alpha(
    'StorageVersionMigrations are served in the versions that `--runtime-config` enables, and carried out',
  ),
  StructuredAuthenticationConfiguration: beta('identity providers are configured by `--authentication-config`'),
  SupplementalGroupsPolicy: beta(field('pod.spec.securityContext.supplementalGroupsPolicy')),
  TopologyAwareHints: stable(field('endpointslice.endpoints[].hints')),
  UserNamespacesSupport: beta(field('pod.spec.hostUsers')),
  VolumeAttributesClass: beta(field('volumeAttributesClassName'), off),
  WatchList: beta('a watch with `sendInitialEvents` starts with the existing objects', off),
} satisfies { [name: string]: FeatureGate };

export type FeatureName = keyof typeof featureGates;
/** Whether each feature gate is on. */
export type Features = { readonly [name in FeatureName]: boolean };

/** Every feature gate that can be set, sorted by name. */
export const featureList: readonly (readonly [string, FeatureGate])[] = Object.entries<FeatureGate>({
  ...featureGates,
  ...inertGates,
}).sort(([a], [b]) => (a < b ? -1 : 1));

/** The gates of a release, by name; undefined: that release does not have the gate. */
export function gatesIn(release: Release): ReadonlyMap<string, FeatureGate | undefined> {
  const former = formerGates(release);
  return new Map(
    featureList.map(([name, gate]) => {
      if (!former.has(name)) return [name, gate];
      const state = former.get(name);
      return [name, state && { ...gate, ...state }];
    }),
  );
}

/** The default of every gate. */
export const defaultFeatures = Object.fromEntries(featureList.map(([name, gate]) => [name, gate.default])) as Features;
