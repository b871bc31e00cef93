/** The built-in kinds that controllers read and write; import them as `kinds`. */
import { ValidatingAdmissionPolicy } from '../../types/admissionregistration-v1.ts';
import { ControllerRevision, DaemonSet, Deployment, ReplicaSet, StatefulSet } from '../../types/apps-v1.ts';
import { HorizontalPodAutoscaler } from '../../types/autoscaling-v2.ts';
import { CronJob, Job } from '../../types/batch-v1.ts';
import { CertificateSigningRequest } from '../../types/certificates-v1.ts';
import { Lease } from '../../types/coordination-v1.ts';
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
} from '../../types/core-v1.ts';
import { EndpointSlice } from '../../types/discovery-v1.ts';
import { IPAddress, ServiceCIDR } from '../../types/networking-v1.ts';
import { PodDisruptionBudget } from '../../types/policy-v1.ts';
import { ClusterRole } from '../../types/rbac-v1.ts';
import { StorageClass } from '../../types/storage-v1.ts';
import { StorageVersionMigration } from '../../types/storagemigration-v1alpha1.ts';
import { kindOf } from './kind.ts';

export const certificateSigningRequests = kindOf(
  CertificateSigningRequest,
  'certificates.{domain}/v1',
  'certificatesigningrequests',
  'Cluster',
);
export const clusterRoles = kindOf(ClusterRole, 'rbac.authorization.{domain}/v1', 'clusterroles', 'Cluster');
export const configMaps = kindOf(ConfigMap, 'v1', 'configmaps');
export const controllerRevisions = kindOf(ControllerRevision, 'apps/v1', 'controllerrevisions');
export const cronJobs = kindOf(CronJob, 'batch/v1', 'cronjobs');
export const daemonSets = kindOf(DaemonSet, 'apps/v1', 'daemonsets');
export const deployments = kindOf(Deployment, 'apps/v1', 'deployments');
export const endpoints = kindOf(Endpoints, 'v1', 'endpoints');
export const endpointSlices = kindOf(EndpointSlice, 'discovery.{domain}/v1', 'endpointslices');
export const events = kindOf(Event, 'v1', 'events');
export const horizontalPodAutoscalers = kindOf(HorizontalPodAutoscaler, 'autoscaling/v2', 'horizontalpodautoscalers');
export const ipAddresses = kindOf(IPAddress, 'networking.{domain}/v1', 'ipaddresses', 'Cluster');
export const jobs = kindOf(Job, 'batch/v1', 'jobs');
export const leases = kindOf(Lease, 'coordination.{domain}/v1', 'leases');
export const namespaces = kindOf(Namespace, 'v1', 'namespaces', 'Cluster');
export const nodes = kindOf(Node, 'v1', 'nodes', 'Cluster');
export const persistentVolumeClaims = kindOf(PersistentVolumeClaim, 'v1', 'persistentvolumeclaims');
export const persistentVolumes = kindOf(PersistentVolume, 'v1', 'persistentvolumes', 'Cluster');
export const podDisruptionBudgets = kindOf(PodDisruptionBudget, 'policy/v1', 'poddisruptionbudgets');
export const pods = kindOf(Pod, 'v1', 'pods');
export const replicaSets = kindOf(ReplicaSet, 'apps/v1', 'replicasets');
export const replicationControllers = kindOf(ReplicationController, 'v1', 'replicationcontrollers');
export const resourceQuotas = kindOf(ResourceQuota, 'v1', 'resourcequotas');
export const secrets = kindOf(Secret, 'v1', 'secrets');
export const serviceAccounts = kindOf(ServiceAccount, 'v1', 'serviceaccounts');
export const serviceCidrs = kindOf(ServiceCIDR, 'networking.{domain}/v1', 'servicecidrs', 'Cluster');
export const services = kindOf(Service, 'v1', 'services');
export const statefulSets = kindOf(StatefulSet, 'apps/v1', 'statefulsets');
export const storageClasses = kindOf(StorageClass, 'storage.{domain}/v1', 'storageclasses', 'Cluster');
export const storageVersionMigrations = kindOf(
  StorageVersionMigration,
  'storagemigration.{domain}/v1alpha1',
  'storageversionmigrations',
  'Cluster',
);
export const validatingAdmissionPolicies = kindOf(
  ValidatingAdmissionPolicy,
  'admissionregistration.{domain}/v1',
  'validatingadmissionpolicies',
  'Cluster',
);
