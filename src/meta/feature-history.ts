import type { FeatureGate } from './feature-gate.ts';
import { isSince, type Release, type ReleaseText } from './release.ts';

type State = Pick<FeatureGate, 'stage' | 'default' | 'locked'>;

/** The state before a release; `undefined`: the gate did not exist. */
type Row = readonly [before: State | undefined, names: string];

const alpha: State = { stage: 'alpha', default: false, locked: false };
const beta: State = { stage: 'beta', default: true, locked: false };
const betaOff: State = { stage: 'beta', default: false, locked: false };
const stable: State = { stage: 'stable', default: true, locked: false };
const stableOff: State = { stage: 'stable', default: false, locked: false };
const deprecated: State = { stage: 'deprecated', default: false, locked: false };

/** The gates that changed in a release, with their state before it. The latest release first. */
const changes: readonly (readonly [release: ReleaseText, rows: readonly Row[]])[] = [
  [
    '1.33',
    [
      [
        undefined,
        `AllowParsingUserUIDFromCertAuth ContainerStopSignals DeclarativeValidation DeclarativeValidationTakeover
         DeploymentReplicaSetTerminatingReplicas DisableCPUQuotaWithExclusiveCPUs DRADeviceTaints
         DRAPartitionableDevices DRAPrioritizedList HPAConfigurableTolerance InOrderInformers
         KubeletEnsureSecretPulledImages KubeletPSI KubeletServiceAccountTokenForCredentialProviders
         ListFromCacheSnapshot MutableCSINodeAllocatableCount PodObservedGenerationTracking
         PodTopologyLabelsAdmission PreferSameTrafficDistribution ReduceDefaultCrashLoopBackOffDecay
         SchedulerPopFromBackoffQ StorageCapacityScoring StreamingCollectionEncodingToJSON
         StreamingCollectionEncodingToProtobuf StrictIPCIDRValidation`,
      ],
      [
        alpha,
        `ClusterTrustBundle ClusterTrustBundleProjection CoordinatedLeaderElection DisableAllocatorDualWrite
         DRAResourceClaimDeviceStatus ImageVolume InPlacePodVerticalScaling InPlacePodVerticalScalingAllocatedStatus
         KubeletFineGrainedAuthz PodLifecycleSleepActionAllowZero RelaxedDNSSearchValidation RemoteRequestHeaderUID
         SchedulerAsyncPreemption SELinuxChangePolicy SELinuxMount SupplementalGroupsPolicy WindowsHostNetwork WinDSR`,
      ],
      [
        beta,
        `AnyVolumeDataSource BtreeWatchCache CPUManagerPolicyOptions CRDValidationRatcheting CSIMigrationPortworx
         HonorPVReclaimPolicy JobBackoffLimitPerIndex JobSuccessPolicy MatchLabelKeysInPodAffinity NFTablesProxyMode
         NodeInclusionPolicyInPodTopologySpread RecursiveReadOnlyMounts SeparateCacheWatchRPC
         ServiceAccountTokenNodeBinding ServiceTrafficDistribution SidecarContainers StorageNamespaceIndex
         TopologyAwareHints WatchList`,
      ],
      [
        betaOff,
        `MultiCIDRServiceAllocator OrderedNamespaceDeletion ProcMountType ServiceAccountNodeAudienceRestriction
         UserNamespacesSupport WatchFromStorageWithoutResourceVersion`,
      ],
      [stable, 'GitRepoVolumeDriver LegacySidecarContainers'],
      [stableOff, 'AggregatedDiscoveryRemoveBetaType'],
      [deprecated, 'DisableNodeKubeProxyVersion'],
    ],
  ],
  [
    '1.32',
    [
      [
        undefined,
        `AllowUnsafeMalformedObjectDeletion BtreeWatchCache CBORServingAndStorage ClientsAllowCBOR ClientsPreferCBOR
         ComponentFlagz ComponentStatusz DRAAdminAccess DRAResourceClaimDeviceStatus ExternalServiceAccountTokenSigner
         InPlacePodVerticalScalingAllocatedStatus InPlacePodVerticalScalingExclusiveCPUs KubeletCrashLoopBackOffMax
         KubeletFineGrainedAuthz MutatingAdmissionPolicy PodLevelResources PodLifecycleSleepActionAllowZero
         PodLogsQuerySplitStreams RelaxedDNSSearchValidation RemoteRequestHeaderUID SchedulerAsyncPreemption
         SELinuxChangePolicy ServiceAccountNodeAudienceRestriction SystemdWatchdog WindowsCPUAndMemoryAffinity
         WindowsGracefulNodeShutdown`,
      ],
      [
        alpha,
        `AnonymousAuthConfigurableEndpoints AuthorizeNodeWithSelectors AuthorizeWithSelectors
         DynamicResourceAllocation JobManagedBy RecoverVolumeExpansionFailure RelaxedEnvironmentVariableValidation
         WatchList`,
      ],
      [
        beta,
        `ComponentSLIs CronJobsScheduledAnnotation CustomResourceFieldSelectors LoadBalancerIPMode MemoryManager
         PodIndexLabel RetryGenerateName ServiceAccountTokenJTI ServiceAccountTokenNodeBindingValidation
         ServiceAccountTokenPodNodeInfo SizeMemoryBackedVolumes StatefulSetAutoDeletePVC
         StructuredAuthorizationConfiguration TopologyManagerPolicyOptions`,
      ],
      [betaOff, 'SchedulerQueueingHints StrictCostEnforcementForVAP StrictCostEnforcementForWebhooks'],
      [stable, 'AllowOverwriteTerminationGracePeriodSeconds KubeletRegistrationGetOnExistsOnly'],
      [deprecated, 'AllowServiceLBStatusOnNonLB'],
    ],
  ],
];

/** The gates that differ in a release from those of the latest one; undefined: the release does not have the gate. */
export function formerGates(release: Release): ReadonlyMap<string, State | undefined> {
  const former = new Map<string, State | undefined>();
  for (const [changed, rows] of changes) {
    if (isSince(release, changed)) break;
    for (const [before, names] of rows) for (const name of names.split(/\s+/)) former.set(name, before);
  }
  return former;
}
