import { alwaysAdmit, alwaysDeny } from './always.ts';
import { alwaysPullImages } from './always-pull-images.ts';
import { limitAntiAffinity } from './anti-affinity.ts';
import { certificateApproval, certificateSigning, certificateSubjectRestriction } from './certificates.ts';
import { claimResize } from './claim-resize.ts';
import { defaultIngressClass } from './default-ingress-class.ts';
import { defaultStorageClass } from './default-storage-class.ts';
import { defaultTolerations } from './default-tolerations.ts';
import { denyExternalIps } from './external-ips.ts';
import { limitRanger } from './limit-ranger.ts';
import { namespaceLifecycle } from './namespace-lifecycle.ts';
import { namespaceAutoProvision, namespaceExists } from './namespace-presence.ts';
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
import type { AdmissionPlugin, PluginInitializer } from './types.ts';

/** A plugin that a server may have. */
interface PluginEntry {
  readonly name: string;
  /** Whether it takes part when nobody says otherwise. */
  readonly on: boolean;
  readonly make: (world: PluginInitializer) => AdmissionPlugin;
}

/** Every plugin, in the order in which they see a write. */
export const admissionPlugins: readonly PluginEntry[] = [
  { name: 'AlwaysAdmit', on: false, make: alwaysAdmit },
  { name: 'NamespaceAutoProvision', on: false, make: namespaceAutoProvision },
  { name: 'NamespaceLifecycle', on: true, make: ({ namespace, names }) => namespaceLifecycle(namespace, names) },
  { name: 'NamespaceExists', on: false, make: namespaceExists },
  { name: 'LimitPodHardAntiAffinityTopology', on: false, make: limitAntiAffinity },
  { name: 'LimitRanger', on: true, make: limitRanger },
  { name: 'ServiceAccount', on: true, make: serviceAccount },
  // What knows about nodes belongs here.
  { name: 'TaintNodesByCondition', on: true, make: taintNodes },
  { name: 'AlwaysPullImages', on: false, make: alwaysPullImages },
  { name: 'PodSecurity', on: true, make: podSecurity },
  { name: 'PodNodeSelector', on: false, make: podNodeSelector },
  { name: 'Priority', on: true, make: priority },
  { name: 'DefaultTolerationSeconds', on: true, make: defaultTolerations },
  { name: 'PodTolerationRestriction', on: false, make: podTolerations },
  { name: 'ExtendedResourceToleration', on: false, make: resourceTolerations },
  { name: 'DefaultStorageClass', on: true, make: defaultStorageClass },
  { name: 'StorageObjectInUseProtection', on: true, make: storageProtection },
  { name: 'OwnerReferencesPermissionEnforcement', on: false, make: ownerReferencesPermission },
  { name: 'PersistentVolumeClaimResize', on: true, make: claimResize },
  { name: 'RuntimeClass', on: true, make: runtimeClass },
  { name: 'CertificateApproval', on: true, make: certificateApproval },
  { name: 'CertificateSigning', on: true, make: certificateSigning },
  { name: 'CertificateSubjectRestriction', on: true, make: certificateSubjectRestriction },
  { name: 'DefaultIngressClass', on: true, make: defaultIngressClass },
  { name: 'DenyServiceExternalIPs', on: false, make: denyExternalIps },
  { name: 'PodTopologyLabels', on: true, make: podTopologyLabels },
  // Policies and webhooks, those that change objects first, belong here: nothing but what counts comes after them.
  { name: 'ResourceQuota', on: true, make: resourceQuota },
  { name: 'AlwaysDeny', on: false, make: alwaysDeny },
];

/** Plugins that the reference server has beside these: nobody can switch them on here. */
export const absentPlugins: readonly string[] = [
  'ClusterTrustBundleAttest',
  'EventRateLimit',
  'ImagePolicyWebhook',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionWebhook',
  'NodeRestriction',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionWebhook',
];

/** The plugins that take part, in their order. A name that is switched both ways counts as switched off. */
export function makePlugins(
  world: PluginInitializer,
  enabled: readonly string[],
  disabled: readonly string[],
): AdmissionPlugin[] {
  return admissionPlugins
    .filter(({ name, on }) => (on || enabled.includes(name)) && !disabled.includes(name))
    .map(({ make }) => make(world));
}
