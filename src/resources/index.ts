/** The built-in API groups and their kinds. */
import type { ResourceDefinition } from '../registry/index.ts';
import { mutatingAdmissionPolicies } from './admissionregistration/mutating-admission-policies.ts';
import { mutatingAdmissionPolicyBindings } from './admissionregistration/mutating-admission-policy-bindings.ts';
import { mutatingWebhookConfigurations } from './admissionregistration/mutating-webhook-configurations.ts';
import { validatingAdmissionPolicies } from './admissionregistration/validating-admission-policies.ts';
import { validatingAdmissionPolicyBindings } from './admissionregistration/validating-admission-policy-bindings.ts';
import { validatingWebhookConfigurations } from './admissionregistration/validating-webhook-configurations.ts';
import { customResourceDefinitions } from './apiextensions/custom-resource-definitions.ts';
import { apiServices } from './apiregistration/api-services.ts';
import { controllerRevisions } from './apps/controller-revisions.ts';
import { daemonSets } from './apps/daemon-sets.ts';
import { deployments } from './apps/deployments.ts';
import { replicaSets } from './apps/replica-sets.ts';
import { statefulSets } from './apps/stateful-sets.ts';
import { selfSubjectReviews, tokenReviews } from './authentication/reviews.ts';
import {
  localSubjectAccessReviews,
  selfSubjectAccessReviews,
  selfSubjectRulesReviews,
  subjectAccessReviews,
} from './authorization/reviews.ts';
import { horizontalPodAutoscalers } from './autoscaling/horizontal-pod-autoscalers.ts';
import { cronJobs } from './batch/cron-jobs.ts';
import { jobs } from './batch/jobs.ts';
import { certificateSigningRequests } from './certificates/certificate-signing-requests.ts';
import { clusterTrustBundles } from './certificates/cluster-trust-bundles.ts';
import { leaseCandidates } from './coordination/lease-candidates.ts';
import { leases } from './coordination/leases.ts';
import { bindings } from './core/bindings.ts';
import { componentStatuses } from './core/component-statuses.ts';
import { configMaps } from './core/config-maps.ts';
import { endpoints } from './core/endpoints.ts';
import { events } from './core/events.ts';
import { limitRanges } from './core/limit-ranges.ts';
import { namespaces } from './core/namespaces.ts';
import { nodes } from './core/nodes.ts';
import { persistentVolumeClaims } from './core/persistent-volume-claims.ts';
import { persistentVolumes } from './core/persistent-volumes.ts';
import { podTemplates } from './core/pod-templates.ts';
import { pods } from './core/pods.ts';
import { replicationControllers } from './core/replication-controllers.ts';
import { resourceQuotas } from './core/resource-quotas.ts';
import { secrets } from './core/secrets.ts';
import { serviceAccounts } from './core/service-accounts.ts';
import { services } from './core/services.ts';
import { endpointSlices } from './discovery/endpoint-slices.ts';
import { events as eventsOfGroup } from './events/events.ts';
import { flowSchemas } from './flowcontrol/flow-schemas.ts';
import { priorityLevelConfigurations } from './flowcontrol/priority-level-configurations.ts';
import { storageVersions } from './internal/storage-versions.ts';
import { nodeMetrics, podMetrics } from './metrics/usage.ts';
import { ingressClasses } from './networking/ingress-classes.ts';
import { ingresses } from './networking/ingresses.ts';
import { ipAddresses } from './networking/ip-addresses.ts';
import { networkPolicies } from './networking/network-policies.ts';
import { serviceCidrs } from './networking/service-cidrs.ts';
import { runtimeClasses } from './node/runtime-classes.ts';
import { podDisruptionBudgets } from './policy/pod-disruption-budgets.ts';
import { clusterRoleBindings } from './rbac/cluster-role-bindings.ts';
import { clusterRoles } from './rbac/cluster-roles.ts';
import { roleBindings } from './rbac/role-bindings.ts';
import { roles } from './rbac/roles.ts';
import { deviceClasses } from './resource/device-classes.ts';
import { deviceTaintRules } from './resource/device-taint-rules.ts';
import { resourceClaimTemplates } from './resource/resource-claim-templates.ts';
import { resourceClaims } from './resource/resource-claims.ts';
import { resourceSlices } from './resource/resource-slices.ts';
import { priorityClasses } from './scheduling/priority-classes.ts';
import { csiDrivers } from './storage/csi-drivers.ts';
import { csiNodes } from './storage/csi-nodes.ts';
import { csiStorageCapacities } from './storage/csi-storage-capacities.ts';
import { storageClasses } from './storage/storage-classes.ts';
import { volumeAttachments } from './storage/volume-attachments.ts';
import { volumeAttributesClasses } from './storage/volume-attributes-classes.ts';
import { storageVersionMigrations } from './storagemigration/storage-version-migrations.ts';

export {
  bootstrapFlowObjects,
  flowUpdateAnnotation,
  mandatoryFlows,
  mandatoryLevels,
} from './flowcontrol/bootstrap-objects.ts';

/** Loads the versions of built-in kinds that the reference server has removed: most servers serve none. */
export const loadOlderVersions = () => import('./older/index.ts');

/** An API group, its kinds, and how clients rank it against the other groups. */
export interface BuiltinGroup {
  readonly group: string;
  /** `groupPriorityMinimum` of its APIService objects; undefined: it has no such objects. */
  readonly priority: number | undefined;
  /** `versionPriority` of the versions that do not have the usual one of their stage. */
  readonly versionPriorities?: { readonly [version: string]: number };
  readonly resources: readonly ResourceDefinition[];
  /** The resources of a control plane without workloads. Default: all. */
  readonly generic?: readonly ResourceDefinition[];
}

/** Every built-in group, in the order of discovery. */
export const builtinGroups: readonly BuiltinGroup[] = [
  {
    group: '',
    priority: 18_000,
    versionPriorities: { v1: 1 },
    resources: [
      bindings,
      componentStatuses,
      configMaps,
      endpoints,
      events,
      limitRanges,
      namespaces,
      nodes,
      persistentVolumeClaims,
      persistentVolumes,
      podTemplates,
      pods,
      replicationControllers,
      resourceQuotas,
      secrets,
      serviceAccounts,
      services,
    ],
    generic: [configMaps, events, namespaces, resourceQuotas, secrets, serviceAccounts],
  },
  {
    group: 'apiregistration.{domain}',
    priority: undefined,
    resources: [apiServices],
  },
  {
    group: 'apps',
    priority: 17_800,
    resources: [controllerRevisions, daemonSets, deployments, replicaSets, statefulSets],
    generic: [],
  },
  {
    group: 'events.{domain}',
    priority: 17_750,
    versionPriorities: { v1beta1: 5 },
    resources: [eventsOfGroup],
  },
  {
    group: 'authentication.{domain}',
    priority: 17_700,
    resources: [selfSubjectReviews, tokenReviews],
  },
  {
    group: 'authorization.{domain}',
    priority: 17_600,
    resources: [localSubjectAccessReviews, selfSubjectAccessReviews, selfSubjectRulesReviews, subjectAccessReviews],
  },
  {
    group: 'autoscaling',
    priority: 17_500,
    versionPriorities: { v2: 30 },
    resources: [horizontalPodAutoscalers],
    generic: [],
  },
  {
    group: 'batch',
    priority: 17_400,
    resources: [cronJobs, jobs],
    generic: [],
  },
  {
    group: 'certificates.{domain}',
    priority: 17_300,
    resources: [clusterTrustBundles, certificateSigningRequests],
  },
  {
    group: 'networking.{domain}',
    priority: 17_200,
    resources: [ingressClasses, ingresses, ipAddresses, networkPolicies, serviceCidrs],
    generic: [],
  },
  {
    // Older versions of kinds that are in other groups now (`older/`).
    group: 'extensions',
    priority: 17_150,
    versionPriorities: { v1beta1: 1 },
    resources: [],
  },
  {
    group: 'policy',
    priority: 17_100,
    resources: [podDisruptionBudgets],
    generic: [],
  },
  {
    group: 'rbac.authorization.{domain}',
    priority: 17_000,
    resources: [clusterRoleBindings, clusterRoles, roleBindings, roles],
  },
  {
    group: 'storage.{domain}',
    priority: 16_800,
    resources: [csiDrivers, csiNodes, csiStorageCapacities, storageClasses, volumeAttributesClasses, volumeAttachments],
    generic: [],
  },
  {
    group: 'admissionregistration.{domain}',
    priority: 16_700,
    versionPriorities: { v1beta1: 12, v1alpha1: 9 },
    resources: [
      mutatingAdmissionPolicies,
      mutatingAdmissionPolicyBindings,
      mutatingWebhookConfigurations,
      validatingAdmissionPolicies,
      validatingAdmissionPolicyBindings,
      validatingWebhookConfigurations,
    ],
  },
  {
    group: 'apiextensions.{domain}',
    priority: 16_700,
    resources: [customResourceDefinitions],
  },
  {
    group: 'scheduling.{domain}',
    priority: 16_600,
    resources: [priorityClasses],
    generic: [],
  },
  {
    group: 'coordination.{domain}',
    priority: 16_500,
    versionPriorities: { v1beta1: 13, v1alpha2: 12 },
    resources: [leaseCandidates, leases],
  },
  {
    group: 'node.{domain}',
    priority: 16_300,
    resources: [runtimeClasses],
    generic: [],
  },
  {
    group: 'discovery.{domain}',
    priority: 16_200,
    versionPriorities: { v1beta1: 12 },
    resources: [endpointSlices],
    generic: [],
  },
  {
    group: 'flowcontrol.apiserver.{domain}',
    priority: 16_100,
    versionPriorities: { v1: 21, v1beta3: 18 },
    resources: [flowSchemas, priorityLevelConfigurations],
  },
  {
    group: 'internal.apiserver.{domain}',
    priority: 16_000,
    versionPriorities: { v1alpha1: 9 },
    resources: [storageVersions],
  },
  {
    group: 'resource.{domain}',
    priority: 16_200,
    versionPriorities: { v1beta2: 15 },
    resources: [deviceClasses, deviceTaintRules, resourceClaims, resourceClaimTemplates, resourceSlices],
    generic: [],
  },
  {
    group: 'storagemigration.{domain}',
    priority: 15_800,
    versionPriorities: { v1alpha1: 9 },
    resources: [storageVersionMigrations],
  },
];

/** The kinds that a server has: all, or those of a control plane without pods, nodes, services, workloads and storage. */
export type ApiProfile = 'full' | 'generic';

/** The built-in kinds of a profile, in the order of discovery. */
export const resourcesOf = (profile: ApiProfile): readonly ResourceDefinition[] =>
  builtinGroups.flatMap(({ resources, generic = resources }) => (profile === 'generic' ? generic : resources));

export const builtinResources: readonly ResourceDefinition[] = resourcesOf('full');

/** The usage of nodes and pods, which a metrics server has in a cluster: served for fake nodes only. */
export const metricsResources: readonly ResourceDefinition[] = [nodeMetrics, podMetrics];
