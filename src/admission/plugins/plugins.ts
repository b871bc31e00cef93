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

/** An available plugin. */
interface PluginEntry {
  readonly name: string;
  /** Whether it is enabled by default. */
  readonly on: boolean;
  readonly make: (initializer: PluginInitializer) => AdmissionPlugin;
}

/** All plugins, in the order in which they run. */
export const admissionPlugins: readonly PluginEntry[] = [
  { name: 'AlwaysAdmit', on: false, make: alwaysAdmit },
  { name: 'NamespaceAutoProvision', on: false, make: namespaceAutoProvision },
  { name: 'NamespaceLifecycle', on: true, make: ({ namespace, names }) => namespaceLifecycle(namespace, names) },
  { name: 'NamespaceExists', on: false, make: namespaceExists },
  { name: 'LimitPodHardAntiAffinityTopology', on: false, make: limitAntiAffinity },
  { name: 'LimitRanger', on: true, make: limitRanger },
  { name: 'ServiceAccount', on: true, make: serviceAccount },
  { name: 'NodeRestriction', on: false, make: nodeRestriction },
  { name: 'TaintNodesByCondition', on: true, make: taintNodes },
  { name: 'AlwaysPullImages', on: false, make: alwaysPullImages },
  { name: 'ImagePolicyWebhook', on: false, make: imagePolicyWebhook },
  { name: 'PodSecurity', on: true, make: podSecurity },
  { name: 'PodNodeSelector', on: false, make: podNodeSelector },
  { name: 'Priority', on: true, make: priority },
  { name: 'DefaultTolerationSeconds', on: true, make: defaultTolerations },
  { name: 'PodTolerationRestriction', on: false, make: podTolerations },
  { name: 'EventRateLimit', on: false, make: eventRateLimit },
  { name: 'ExtendedResourceToleration', on: false, make: resourceTolerations },
  { name: 'DefaultStorageClass', on: true, make: defaultStorageClass },
  { name: 'StorageObjectInUseProtection', on: true, make: storageProtection },
  { name: 'OwnerReferencesPermissionEnforcement', on: false, make: ownerReferencesPermission },
  { name: 'PersistentVolumeClaimResize', on: true, make: claimResize },
  { name: 'RuntimeClass', on: true, make: runtimeClass },
  { name: 'CertificateApproval', on: true, make: certificateApproval },
  { name: 'CertificateSigning', on: true, make: certificateSigning },
  { name: 'ClusterTrustBundleAttest', on: true, make: trustBundleAttest },
  { name: 'CertificateSubjectRestriction', on: true, make: certificateSubjectRestriction },
  { name: 'DefaultIngressClass', on: true, make: defaultIngressClass },
  { name: 'DenyServiceExternalIPs', on: false, make: denyExternalIps },
  { name: 'PodTopologyLabels', on: true, make: podTopologyLabels },
  { name: 'MutatingAdmissionPolicy', on: true, make: mutatingPolicies },
  { name: 'MutatingAdmissionWebhook', on: true, make: mutatingWebhooks },
  { name: 'ValidatingAdmissionPolicy', on: true, make: validatingPolicies },
  { name: 'ValidatingAdmissionWebhook', on: true, make: validatingWebhooks },
  // Only ResourceQuota and AlwaysDeny run after them.
  { name: 'ResourceQuota', on: true, make: resourceQuota },
  { name: 'AlwaysDeny', on: false, make: alwaysDeny },
];

/** The names of the enabled plugins in order. A name that is both enabled and disabled is disabled. */
export const enabledPlugins = (enabled: readonly string[], disabled: readonly string[]): string[] =>
  admissionPlugins
    .filter(({ name, on }) => (on || enabled.includes(name)) && !disabled.includes(name))
    .map(({ name }) => name);

/** The enabled plugins in order. */
export function makePlugins(
  initializer: PluginInitializer,
  enabled: readonly string[],
  disabled: readonly string[],
): AdmissionPlugin[] {
  const names = new Set(enabledPlugins(enabled, disabled));
  return admissionPlugins.filter(({ name }) => names.has(name)).map(({ make }) => make(initializer));
}
