import { policyStatusController } from './admission-policies/status.ts';
import { horizontalPodAutoscalerController } from './autoscaling/controller.ts';
import { certificateApprover } from './certificates/approving.ts';
import { certificateCleaner } from './certificates/cleaner.ts';
import { certificateSigner } from './certificates/signing.ts';
import { clusterRoleAggregationController } from './cluster-role-aggregation.ts';
import { disruptionController } from './disruption/controller.ts';
import { endpointsController } from './endpoints/endpoints-controller.ts';
import { endpointSliceMirroringController } from './endpoints/mirroring-controller.ts';
import { endpointSlicesController } from './endpoints/slices-controller.ts';
import { garbageCollector } from './garbage-collector/garbage-collector.ts';
import { bootstrapSigner, tokenCleaner } from './identity/bootstrap-tokens.ts';
import { legacyTokenCleaner } from './identity/legacy-tokens.ts';
import { rootCertificatePublisher } from './identity/root-certificates.ts';
import { secretTokenController } from './identity/secret-tokens.ts';
import { serviceAccountController } from './identity/service-accounts.ts';
import { namespaceController } from './namespaces/namespace-controller.ts';
import { nodeLifecycleController } from './nodes/lifecycle.ts';
import { taintEvictionController } from './nodes/taint-eviction.ts';
import { ttlController } from './nodes/ttl.ts';
import { resourceQuotaController } from './quota/controller.ts';
import { serviceCidrsController } from './service-cidrs.ts';
import { volumeBinderController } from './storage/binder/controller.ts';
import { claimProtectionController } from './storage/claim-protection.ts';
import { ephemeralVolumeController } from './storage/ephemeral-volumes.ts';
import { volumeProtectionController } from './storage/volume-protection.ts';
import { storageVersionMigrator } from './storage-version-migrator.ts';
import type { Controller } from './types.ts';
import { cronJobController } from './workloads/cron-jobs/controller.ts';
import { daemonSetController } from './workloads/daemon-sets/controller.ts';
import { deploymentController } from './workloads/deployments/controller.ts';
import { jobController } from './workloads/jobs/controller.ts';
import { podGarbageCollector } from './workloads/pod-garbage-collector.ts';
import { replicaSetController, replicationController } from './workloads/replica-sets.ts';
import { statefulSetController } from './workloads/stateful-sets/controller.ts';
import { ttlAfterFinishedController } from './workloads/ttl-after-finished.ts';

/** All controllers, in the order in which they start. */
export const allControllers: readonly Controller[] = [
  garbageCollector,
  namespaceController,
  resourceQuotaController,
  serviceAccountController,
  clusterRoleAggregationController,
  deploymentController,
  replicaSetController,
  replicationController,
  statefulSetController,
  daemonSetController,
  jobController,
  cronJobController,
  horizontalPodAutoscalerController,
  disruptionController,
  endpointsController,
  endpointSlicesController,
  endpointSliceMirroringController,
  serviceCidrsController,
  podGarbageCollector,
  ttlAfterFinishedController,
  volumeBinderController,
  claimProtectionController,
  volumeProtectionController,
  ephemeralVolumeController,
  nodeLifecycleController,
  taintEvictionController,
  ttlController,
  policyStatusController,
  storageVersionMigrator,
  secretTokenController,
  certificateSigner,
  certificateApprover,
  certificateCleaner,
  bootstrapSigner,
  tokenCleaner,
  rootCertificatePublisher,
  legacyTokenCleaner,
];
