import { expandNames, type Names } from '../../meta/index.ts';

/** An available plugin. */
interface PluginEntry {
  /** Whether it is enabled by default. */
  readonly on: boolean;
  /** The resource without which it has nothing to do, such as `ingresses.networking.{domain}`. */
  readonly needs?: string;
}

const entries = {
  AlwaysAdmit: { on: false },
  NamespaceAutoProvision: { on: false },
  NamespaceLifecycle: { on: true },
  NamespaceExists: { on: false },
  LimitPodHardAntiAffinityTopology: { on: false, needs: 'pods' },
  LimitRanger: { on: true, needs: 'limitranges' },
  ServiceAccount: { on: true, needs: 'pods' },
  NodeRestriction: { on: false, needs: 'nodes' },
  TaintNodesByCondition: { on: true, needs: 'nodes' },
  AlwaysPullImages: { on: false, needs: 'pods' },
  ImagePolicyWebhook: { on: false, needs: 'pods' },
  PodSecurity: { on: true, needs: 'pods' },
  PodNodeSelector: { on: false, needs: 'pods' },
  Priority: { on: true, needs: 'pods' },
  DefaultTolerationSeconds: { on: true, needs: 'pods' },
  PodTolerationRestriction: { on: false, needs: 'pods' },
  EventRateLimit: { on: false, needs: 'events' },
  ExtendedResourceToleration: { on: false, needs: 'pods' },
  DefaultStorageClass: { on: true, needs: 'persistentvolumeclaims' },
  StorageObjectInUseProtection: { on: true, needs: 'persistentvolumeclaims' },
  OwnerReferencesPermissionEnforcement: { on: false },
  PersistentVolumeClaimResize: { on: true, needs: 'persistentvolumeclaims' },
  RuntimeClass: { on: true, needs: 'pods' },
  CertificateApproval: { on: true, needs: 'certificatesigningrequests.certificates.{domain}' },
  CertificateSigning: { on: true, needs: 'certificatesigningrequests.certificates.{domain}' },
  ClusterTrustBundleAttest: { on: true },
  CertificateSubjectRestriction: { on: true, needs: 'certificatesigningrequests.certificates.{domain}' },
  DefaultIngressClass: { on: true, needs: 'ingresses.networking.{domain}' },
  DenyServiceExternalIPs: { on: false, needs: 'services' },
  PodTopologyLabels: { on: true, needs: 'pods' },
  MutatingAdmissionPolicy: { on: true },
  MutatingAdmissionWebhook: { on: true },
  ValidatingAdmissionPolicy: { on: true },
  ValidatingAdmissionWebhook: { on: true },
  // Only ResourceQuota and AlwaysDeny run after those above.
  ResourceQuota: { on: true, needs: 'resourcequotas' },
  AlwaysDeny: { on: false },
} satisfies { readonly [name: string]: PluginEntry };

export type PluginName = keyof typeof entries;

/** All admission plugins, in the order in which they run. A command that reads flags loads this list, not the plugins. */
export const admissionPlugins: { readonly [name in PluginName]: PluginEntry } = entries;

export const pluginNames = Object.keys(entries) as PluginName[];

/** The names of the enabled plugins in order. A name that is both enabled and disabled is disabled. */
export const enabledPlugins = (enabled: readonly string[], disabled: readonly string[]): PluginName[] =>
  pluginNames.filter((name) => (admissionPlugins[name].on || enabled.includes(name)) && !disabled.includes(name));

/** The names of the plugins that have nothing to do without the absent resources. */
export const idlePlugins = (absent: ReadonlySet<string>, names: Names): PluginName[] =>
  pluginNames.filter((name) => {
    const { needs } = admissionPlugins[name];
    return needs !== undefined && absent.has(expandNames(needs, names));
  });
