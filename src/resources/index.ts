/** The built-in kinds: one file each, listed here in the order in which their groups are shown. */
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
import { selfSubjectReviews } from './authentication/self-subject-reviews.ts';
import { tokenReviews } from './authentication/token-reviews.ts';
import { localSubjectAccessReviews } from './authorization/local-subject-access-reviews.ts';
import { selfSubjectAccessReviews } from './authorization/self-subject-access-reviews.ts';
import { selfSubjectRulesReviews } from './authorization/self-subject-rules-reviews.ts';
import { subjectAccessReviews } from './authorization/subject-access-reviews.ts';
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

export { isCertificate, requestedOrganizations } from './certificates/x509.ts';
export { findType } from './find-type.ts';
export { standardFlowObjects } from './flowcontrol/standard.ts';

export const builtinResources: readonly ResourceDefinition[] = [
  // core
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
  // apiregistration
  apiServices,
  // apps
  controllerRevisions,
  daemonSets,
  deployments,
  replicaSets,
  statefulSets,
  // events
  eventsOfGroup,
  // authentication
  selfSubjectReviews,
  tokenReviews,
  // authorization
  localSubjectAccessReviews,
  selfSubjectAccessReviews,
  selfSubjectRulesReviews,
  subjectAccessReviews,
  // autoscaling
  horizontalPodAutoscalers,
  // batch
  cronJobs,
  jobs,
  // certificates
  clusterTrustBundles,
  certificateSigningRequests,
  // networking
  ingressClasses,
  ingresses,
  ipAddresses,
  networkPolicies,
  serviceCidrs,
  // policy
  podDisruptionBudgets,
  // rbac
  clusterRoleBindings,
  clusterRoles,
  roleBindings,
  roles,
  // storage
  csiDrivers,
  csiNodes,
  csiStorageCapacities,
  storageClasses,
  volumeAttributesClasses,
  volumeAttachments,
  // admissionregistration
  mutatingAdmissionPolicies,
  mutatingAdmissionPolicyBindings,
  mutatingWebhookConfigurations,
  validatingAdmissionPolicies,
  validatingAdmissionPolicyBindings,
  validatingWebhookConfigurations,
  // apiextensions
  customResourceDefinitions,
  // scheduling
  priorityClasses,
  // coordination
  leaseCandidates,
  leases,
  // node
  runtimeClasses,
  // discovery
  endpointSlices,
  // flowcontrol
  flowSchemas,
  priorityLevelConfigurations,
  // internal.apiserver
  storageVersions,
  // resource
  deviceClasses,
  deviceTaintRules,
  resourceClaims,
  resourceClaimTemplates,
  resourceSlices,
  // storagemigration
  storageVersionMigrations,
];
