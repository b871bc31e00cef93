import { mutatingPolicies } from '../policies/mutating-policies.ts';
import { validatingPolicies } from '../policies/validating-policies.ts';
import type { AdmissionPlugin, PluginInitializer } from '../types.ts';
import { mutatingWebhooks } from '../webhooks/mutating.ts';
import { validatingWebhooks } from '../webhooks/validating.ts';
import { alwaysAdmit, alwaysDeny } from './always.ts';
import { alwaysPullImages } from './always-pull-images.ts';
import { limitAntiAffinity } from './anti-affinity.ts';
import {
  certificateApproval,
  certificateSigning,
  certificateSubjectRestriction,
  trustBundleAttest,
} from './certificates.ts';
import { claimResize } from './claim-resize.ts';
import { defaultIngressClass } from './default-ingress-class.ts';
import { defaultStorageClass } from './default-storage-class.ts';
import { defaultTolerations } from './default-tolerations.ts';
import { eventRateLimit } from './event-rate-limit.ts';
import { denyExternalIps } from './external-ips.ts';
import { imagePolicyWebhook } from './image-policy-webhook.ts';
import { limitRanger } from './limit-ranger.ts';
import { enabledPlugins, idlePlugins, type PluginName } from './names.ts';
import { namespaceAutoProvision, namespaceExists } from './namespace-exists.ts';
import { namespaceLifecycle } from './namespace-lifecycle.ts';
import { nodeRestriction } from './node-restriction.ts';
import { ownerReferencesPermission } from './owner-references.ts';
import { podNodeSelector } from './pod-node-selector.ts';
import { podSecurity } from './pod-security.ts';
import { podTolerations } from './pod-tolerations.ts';
import { podTopologyLabels } from './pod-topology-labels.ts';
import { priority } from './priority.ts';
import { resourceQuota } from './resource-quota.ts';
import { resourceTolerations } from './resource-tolerations.ts';
import { runtimeClass } from './runtime-class.ts';
import { serviceAccount } from './service-account.ts';
import { storageProtection } from './storage-protection.ts';
import { taintNodes } from './taint-nodes.ts';

const makers: { readonly [name in PluginName]: (initializer: PluginInitializer) => AdmissionPlugin } = {
  AlwaysAdmit: alwaysAdmit,
  NamespaceAutoProvision: namespaceAutoProvision,
  NamespaceLifecycle: ({ namespace, names }) => namespaceLifecycle(namespace, names),
  NamespaceExists: namespaceExists,
  LimitPodHardAntiAffinityTopology: limitAntiAffinity,
  LimitRanger: limitRanger,
  ServiceAccount: serviceAccount,
  NodeRestriction: nodeRestriction,
  TaintNodesByCondition: taintNodes,
  AlwaysPullImages: alwaysPullImages,
  ImagePolicyWebhook: imagePolicyWebhook,
  PodSecurity: podSecurity,
  PodNodeSelector: podNodeSelector,
  Priority: priority,
  DefaultTolerationSeconds: defaultTolerations,
  PodTolerationRestriction: podTolerations,
  EventRateLimit: eventRateLimit,
  ExtendedResourceToleration: resourceTolerations,
  DefaultStorageClass: defaultStorageClass,
  StorageObjectInUseProtection: storageProtection,
  OwnerReferencesPermissionEnforcement: ownerReferencesPermission,
  PersistentVolumeClaimResize: claimResize,
  RuntimeClass: runtimeClass,
  CertificateApproval: certificateApproval,
  CertificateSigning: certificateSigning,
  ClusterTrustBundleAttest: trustBundleAttest,
  CertificateSubjectRestriction: certificateSubjectRestriction,
  DefaultIngressClass: defaultIngressClass,
  DenyServiceExternalIPs: denyExternalIps,
  PodTopologyLabels: podTopologyLabels,
  MutatingAdmissionPolicy: mutatingPolicies,
  MutatingAdmissionWebhook: mutatingWebhooks,
  ValidatingAdmissionPolicy: validatingPolicies,
  ValidatingAdmissionWebhook: validatingWebhooks,
  ResourceQuota: resourceQuota,
  AlwaysDeny: alwaysDeny,
};

/** The enabled plugins in order, without those that have nothing to do. */
export function makePlugins(
  initializer: PluginInitializer,
  enabled: readonly string[],
  disabled: readonly string[],
  absent: ReadonlySet<string> = new Set(),
): AdmissionPlugin[] {
  const idle = new Set(idlePlugins(absent, initializer.names));
  return enabledPlugins(enabled, disabled)
    .filter((name) => !idle.has(name))
    .map((name) => makers[name](initializer));
}
