import { expandNames, type Names } from '../../meta/index.ts';
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
  /** The resource without which it has nothing to do, such as `ingresses.networking.{domain}`. */
  readonly needs?: string;
  readonly make: (initializer: PluginInitializer) => AdmissionPlugin;
}

/** All plugins, in the order in which they run. */
export const admissionPlugins: readonly PluginEntry[] = [
  { name: 'AlwaysAdmit', on: false, make: alwaysAdmit },
  { name: 'NamespaceAutoProvision', on: false, make: namespaceAutoProvision },
  { name: 'NamespaceLifecycle', on: true, make: ({ namespace, names }) => namespaceLifecycle(namespace, names) },
  { name: 'NamespaceExists', on: false, make: namespaceExists },
  { name: 'LimitPodHardAntiAffinityTopology', on: false, needs: 'pods', make: limitAntiAffinity },
  { name: 'LimitRanger', on: true, needs: 'limitranges', make: limitRanger },
  { name: 'ServiceAccount', on: true, needs: 'pods', make: serviceAccount },
  { name: 'NodeRestriction', on: false, needs: 'nodes', make: nodeRestriction },
  { name: 'TaintNodesByCondition', on: true, needs: 'nodes', make: taintNodes },
  { name: 'AlwaysPullImages', on: false, needs: 'pods', make: alwaysPullImages },
  { name: 'ImagePolicyWebhook', on: false, needs: 'pods', make: imagePolicyWebhook },
  { name: 'PodSecurity', on: true, needs: 'pods', make: podSecurity },
  { name: 'PodNodeSelector', on: false, needs: 'pods', make: podNodeSelector },
  { name: 'Priority', on: true, needs: 'pods', make: priority },
  { name: 'DefaultTolerationSeconds', on: true, needs: 'pods', make: defaultTolerations },
  { name: 'PodTolerationRestriction', on: false, needs: 'pods', make: podTolerations },
  { name: 'EventRateLimit', on: false, needs: 'events', make: eventRateLimit },
  { name: 'ExtendedResourceToleration', on: false, needs: 'pods', make: resourceTolerations },
  { name: 'DefaultStorageClass', on: true, needs: 'persistentvolumeclaims', make: defaultStorageClass },
  { name: 'StorageObjectInUseProtection', on: true, needs: 'persistentvolumeclaims', make: storageProtection },
  { name: 'OwnerReferencesPermissionEnforcement', on: false, make: ownerReferencesPermission },
  { name: 'PersistentVolumeClaimResize', on: true, needs: 'persistentvolumeclaims', make: claimResize },
  { name: 'RuntimeClass', on: true, needs: 'pods', make: runtimeClass },
  {
    name: 'CertificateApproval',
    on: true,
    needs: 'certificatesigningrequests.certificates.{domain}',
    make: certificateApproval,
  },
  {
    name: 'CertificateSigning',
    on: true,
    needs: 'certificatesigningrequests.certificates.{domain}',
    make: certificateSigning,
  },
  { name: 'ClusterTrustBundleAttest', on: true, make: trustBundleAttest },
  {
    name: 'CertificateSubjectRestriction',
    on: true,
    needs: 'certificatesigningrequests.certificates.{domain}',
    make: certificateSubjectRestriction,
  },
  { name: 'DefaultIngressClass', on: true, needs: 'ingresses.networking.{domain}', make: defaultIngressClass },
  { name: 'DenyServiceExternalIPs', on: false, needs: 'services', make: denyExternalIps },
  { name: 'PodTopologyLabels', on: true, needs: 'pods', make: podTopologyLabels },
  { name: 'MutatingAdmissionPolicy', on: true, make: mutatingPolicies },
  { name: 'MutatingAdmissionWebhook', on: true, make: mutatingWebhooks },
  { name: 'ValidatingAdmissionPolicy', on: true, make: validatingPolicies },
  { name: 'ValidatingAdmissionWebhook', on: true, make: validatingWebhooks },
  // Only ResourceQuota and AlwaysDeny run after them.
  { name: 'ResourceQuota', on: true, needs: 'resourcequotas', make: resourceQuota },
  { name: 'AlwaysDeny', on: false, make: alwaysDeny },
];

/** The names of the enabled plugins in order. A name that is both enabled and disabled is disabled. */
export const enabledPlugins = (enabled: readonly string[], disabled: readonly string[]): string[] =>
  admissionPlugins
    .filter(({ name, on }) => (on || enabled.includes(name)) && !disabled.includes(name))
    .map(({ name }) => name);

/** The names of the plugins that have nothing to do without the absent resources. */
export const idlePlugins = (absent: ReadonlySet<string>, names: Names): string[] =>
  admissionPlugins
    .filter(({ needs }) => needs !== undefined && absent.has(expandNames(needs, names)))
    .map(({ name }) => name);

/** The enabled plugins in order, without those that have nothing to do. */
export function makePlugins(
  initializer: PluginInitializer,
  enabled: readonly string[],
  disabled: readonly string[],
  absent: ReadonlySet<string> = new Set(),
): AdmissionPlugin[] {
  const on = new Set(enabledPlugins(enabled, disabled));
  for (const idle of idlePlugins(absent, initializer.names)) on.delete(idle);
  return admissionPlugins.filter(({ name }) => on.has(name)).map(({ make }) => make(initializer));
}
