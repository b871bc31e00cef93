import type { FeatureGate } from './feature-gate.ts';

type Row = readonly [stage: FeatureGate['stage'], on: boolean, locked: boolean, names: string];

/** Feature gates by their stage and default in release 1.33. */
const rows: readonly Row[] = [
  [
    'alpha',
    false,
    false,
    `APIServingWithRoutine ClientsAllowCBOR ClientsPreferCBOR CloudControllerManagerWebhook
     ComponentFlagz ComponentStatusz CPUManagerPolicyAlphaOptions CSIVolumeHealth CustomCPUCFSQuotaPeriod 
     EventedPLEG ExternalServiceAccountTokenSigner
     HPAScaleToZero InformerResourceVersion InPlacePodVerticalScalingExclusiveCPUs InTreePluginPortworxUnregister
     KubeletCrashLoopBackOffMax KubeletEnsureSecretPulledImages KubeletInUserNamespace
     KubeletPodResourcesDynamicResources KubeletPodResourcesGet KubeletPSI
     KubeletServiceAccountTokenForCredentialProviders LoggingAlphaOptions MemoryQoS
     PodAndContainerStatsFromCRI PodLogsQuerySplitStreams PodTopologyLabelsAdmission
     QOSReserved ReduceDefaultCrashLoopBackOffDecay RuntimeClassInImageCriAPI StorageCapacityScoring StorageVersionAPI
     StrictIPCIDRValidation TopologyManagerPolicyAlphaOptions UnknownVersionInteroperabilityProxy
     WindowsCPUAndMemoryAffinity WindowsGracefulNodeShutdown`,
  ],
  [
    'beta',
    true,
    false,
    `APIServerIdentity
     ConsistentListFromCache ContainerCheckpoint ContextualLogging CPUManagerPolicyBetaOptions
     DisableCPUQuotaWithExclusiveCPUs GracefulNodeShutdown
     GracefulNodeShutdownBasedOnPodPriority ImageMaximumGCAge InOrderInformers KubeletCgroupDriverFromCRI
     KubeletFineGrainedAuthz KubeletSeparateDiskGC KubeletTracing LoggingBetaOptions NodeSwap OrderedNamespaceDeletion
     PodDeletionCost PodLifecycleSleepActionAllowZero PodReadyToStartContainersCondition PortForwardWebsockets
     RelaxedDNSSearchValidation RelaxedEnvironmentVariableValidation ReloadKubeletServerCertificateFile
     ResilientWatchCacheInitialization RotateKubeletServerCertificate SchedulerAsyncPreemption
     SchedulerPopFromBackoffQ SchedulerQueueingHints SeparateTaintEvictionController
     StreamingCollectionEncodingToJSON StreamingCollectionEncodingToProtobuf
     SystemdWatchdog TopologyManagerPolicyBetaOptions
     TranslateStreamCloseWebsocketRequests UnauthenticatedHTTP2DOSMitigation WinDSR WinOverlay`,
  ],
  [
    'beta',
    false,
    false,
    `ConcurrentWatchObjectDecode DisableAllocatorDualWrite
     LocalStorageCapacityIsolationFSQuotaMonitoring NodeLogQuery SELinuxMount WatchCacheInitializationPostStartHook
     WatchListClient`,
  ],
  [
    'stable',
    true,
    true,
    `AnyVolumeDataSource BtreeWatchCache ComponentSLIs CPUManagerPolicyOptions CronJobsScheduledAnnotation
     CSIMigrationPortworx DevicePluginCDIDevices HonorPVReclaimPolicy LoadBalancerIPMode LogarithmicScaleDown
     MemoryManager NFTablesProxyMode PodIndexLabel PodSchedulingReadiness ServiceAccountTokenJTI
     ServiceAccountTokenNodeBinding ServiceAccountTokenNodeBindingValidation ServiceAccountTokenPodNodeInfo
     SizeMemoryBackedVolumes StrictCostEnforcementForVAP StrictCostEnforcementForWebhooks
     StructuredAuthorizationConfiguration`,
  ],
  ['stable', true, false, 'ExecProbeTimeout MultiCIDRServiceAllocator TopologyManagerPolicyOptions'],
  // Alpha and off in 1.33: pod security levels are those of the latest release.
  ['stable', true, false, 'UserNamespacesPodSecurityStandards'],
  [
    'deprecated',
    false,
    false,
    `AllowDNSOnlyNodeCSR AllowOverwriteTerminationGracePeriodSeconds
     GitRepoVolumeDriver KMSv1 KubeletRegistrationGetOnExistsOnly LegacySidecarContainers SeparateCacheWatchRPC
     WindowsHostNetwork`,
  ],
  ['deprecated', false, true, 'AllowServiceLBStatusOnNonLB WatchFromStorageWithoutResourceVersion'],
  ['deprecated', true, false, 'AggregatedDiscoveryRemoveBetaType DisableNodeKubeProxyVersion StorageNamespaceIndex'],
];

/** Feature gates of release 1.33 without effect in this server. They can be set as in that release. */
export const inertGates: { readonly [name: string]: FeatureGate } = Object.fromEntries(
  rows.flatMap(([stage, on, locked, names]) =>
    names.split(/\s+/).map((name) => [name, { stage, default: on, locked, help: 'no effect in this server' }]),
  ),
);
