/** The built-in kinds that controllers read and write. */
import { ControllerRevision, DaemonSet, Deployment, ReplicaSet, StatefulSet } from '../types/apps-v1.ts';
import { HorizontalPodAutoscaler } from '../types/autoscaling-v2.ts';
import { CronJob, Job } from '../types/batch-v1.ts';
import { CertificateSigningRequest } from '../types/certificates-v1.ts';
import { Lease } from '../types/coordination-v1.ts';
import {
  ConfigMap,
  Endpoints,
  Event,
  Namespace,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  ReplicationController,
  ResourceQuota,
  Secret,
  Service,
  ServiceAccount,
} from '../types/core-v1.ts';
import { EndpointSlice } from '../types/discovery-v1.ts';
import { PodDisruptionBudget } from '../types/policy-v1.ts';
import { ClusterRole } from '../types/rbac-v1.ts';
import { StorageClass } from '../types/storage-v1.ts';
import { kindOf } from './kind.ts';

export const kinds = {
  certificateSigningRequests: kindOf(
    CertificateSigningRequest,
    'certificates.{domain}/v1',
    'certificatesigningrequests',
    'Cluster',
  ),
  clusterRoles: kindOf(ClusterRole, 'rbac.authorization.{domain}/v1', 'clusterroles', 'Cluster'),
  configMaps: kindOf(ConfigMap, 'v1', 'configmaps'),
  controllerRevisions: kindOf(ControllerRevision, 'apps/v1', 'controllerrevisions'),
  cronJobs: kindOf(CronJob, 'batch/v1', 'cronjobs'),
  daemonSets: kindOf(DaemonSet, 'apps/v1', 'daemonsets'),
  deployments: kindOf(Deployment, 'apps/v1', 'deployments'),
  endpoints: kindOf(Endpoints, 'v1', 'endpoints'),
  endpointSlices: kindOf(EndpointSlice, 'discovery.{domain}/v1', 'endpointslices'),
  events: kindOf(Event, 'v1', 'events'),
  horizontalPodAutoscalers: kindOf(HorizontalPodAutoscaler, 'autoscaling/v2', 'horizontalpodautoscalers'),
  jobs: kindOf(Job, 'batch/v1', 'jobs'),
  leases: kindOf(Lease, 'coordination.{domain}/v1', 'leases'),
  namespaces: kindOf(Namespace, 'v1', 'namespaces', 'Cluster'),
  nodes: kindOf(Node, 'v1', 'nodes', 'Cluster'),
  persistentVolumeClaims: kindOf(PersistentVolumeClaim, 'v1', 'persistentvolumeclaims'),
  persistentVolumes: kindOf(PersistentVolume, 'v1', 'persistentvolumes', 'Cluster'),
  podDisruptionBudgets: kindOf(PodDisruptionBudget, 'policy/v1', 'poddisruptionbudgets'),
  pods: kindOf(Pod, 'v1', 'pods'),
  replicaSets: kindOf(ReplicaSet, 'apps/v1', 'replicasets'),
  replicationControllers: kindOf(ReplicationController, 'v1', 'replicationcontrollers'),
  resourceQuotas: kindOf(ResourceQuota, 'v1', 'resourcequotas'),
  secrets: kindOf(Secret, 'v1', 'secrets'),
  serviceAccounts: kindOf(ServiceAccount, 'v1', 'serviceaccounts'),
  services: kindOf(Service, 'v1', 'services'),
  statefulSets: kindOf(StatefulSet, 'apps/v1', 'statefulsets'),
  storageClasses: kindOf(StorageClass, 'storage.{domain}/v1', 'storageclasses', 'Cluster'),
};
