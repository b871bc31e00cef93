/** Objects while a kustomization is built, and their identities. */
import {
  compatibleDomain,
  defaultDomain,
  expandNames,
  isJsonObject,
  type Json,
  type JsonObject,
  namesFor,
  setKey,
} from '../../meta/index.ts';
import { jsonText } from '../output/json.ts';

/** Kustomizations have the names of this domain, whichever domain the server has. */
export const names = namesFor(compatibleDomain);

/** A group, version and kind; an absent or empty one stands for all. */
export interface Gvk {
  readonly group?: string;
  readonly version?: string;
  readonly kind?: string;
}

/** The identity of an object. */
export interface Identity {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly name: string;
  /** `default` for none; undefined for cluster-scoped objects. */
  readonly namespace: string | undefined;
}

/** How the object of a generator joins the others. */
type Behavior = 'create' | 'replace' | 'merge';

interface ResourceOptions {
  readonly behavior?: Behavior;
  readonly needsHash?: boolean;
}

/** An object with the names that it had before. */
export class Resource {
  object: JsonObject;
  /** The identities before each change of name, namespace or kind, the first one first. */
  readonly #before: Pick<Identity, 'kind' | 'name' | 'namespace'>[] = [];
  /** The prefixes and suffixes of the name, in the order in which they were added. */
  readonly prefixes: string[] = [];
  readonly suffixes: string[] = [];
  readonly behavior: Behavior;
  /** Where the object comes from, in YAML. */
  origin: string | undefined;
  /** The transformers that ran on it, each in YAML. */
  readonly transformations: string[] = [];
  /** Whether the hash of the content is appended to the name. */
  needsHash: boolean;

  constructor(object: JsonObject, { behavior = 'create', needsHash = false }: ResourceOptions = {}) {
    this.object = object;
    this.behavior = behavior;
    this.needsHash = needsHash;
  }

  get metadata(): JsonObject {
    const { metadata = null } = this.object;
    return isJsonObject(metadata) ? metadata : {};
  }

  get kind(): string {
    return jsonText(this.object['kind']);
  }

  get name(): string {
    return jsonText(this.metadata['name']);
  }

  get namespace(): string {
    return jsonText(this.metadata['namespace']);
  }

  get identity(): Identity {
    const { group, version } = groupVersionOf(jsonText(this.object['apiVersion']));
    const { kind } = this;
    return { group, version, kind, name: this.name, namespace: effectiveNamespace(group, kind, this.namespace) };
  }

  /** The identities before the present one. */
  get previous(): Identity[] {
    const { group, version } = this.identity;
    return this.#before.map((before) => ({ group, version, ...before }));
  }

  /** The identity in the file that the object comes from. */
  get original(): Identity {
    return this.previous[0] ?? this.identity;
  }

  /** All identities, the present one last. */
  get identities(): Identity[] {
    return [...this.previous, this.identity];
  }

  /** Remembers the present identity before a change. */
  remember(): void {
    const { kind, name, namespace } = this.identity;
    this.#before.push({ kind, name, namespace });
  }

  /** Takes over the former identities of an object that this one replaces. */
  succeed(other: Resource): void {
    for (const before of other.#before) this.#before.push(before);
    for (const prefix of other.prefixes) this.prefixes.push(prefix);
    for (const suffix of other.suffixes) this.suffixes.push(suffix);
  }

  /** Sets a field of the metadata; undefined removes it. */
  setMetadata(field: string, value: Json | undefined): void {
    const { metadata } = this;
    if (value === undefined) delete metadata[field];
    else setKey(metadata, field, value);
    this.object['metadata'] = metadata;
  }

  /** The labels or annotations. */
  texts(field: 'labels' | 'annotations'): { [key: string]: string } {
    const value = this.metadata[field] ?? null;
    if (!isJsonObject(value)) return {};
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, jsonText(item)]));
  }

  /** The present identity in messages. */
  get text(): string {
    return identityText(this.identity);
  }
}

/** An identity in messages: `apps/v1 Deployment shop/web`. */
export const identityText = ({ group, version, kind, name, namespace }: Identity): string =>
  `${[group, version].filter((part) => part !== '').join('/')} ${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;

const ownDomain = `.${defaultDomain}`;

/** The group, under its name in kustomizations, and the version of an `apiVersion`. */
export function groupVersionOf(apiVersion: string): { readonly group: string; readonly version: string } {
  const slash = apiVersion.indexOf('/');
  const group = slash < 0 ? '' : apiVersion.slice(0, slash);
  return {
    group: group.endsWith(ownDomain) ? `${group.slice(0, -ownDomain.length)}.${compatibleDomain}` : group,
    version: apiVersion.slice(slash + 1),
  };
}

/** Whether a group, version and kind are among those that a selector stands for. */
export const isSelected = (gvk: Gvk, { group = '', version = '', kind = '' }: Gvk): boolean =>
  (group === '' || gvk.group === group) &&
  (version === '' || gvk.version === version) &&
  (kind === '' || gvk.kind === kind);

export const isSameIdentity = (a: Identity, b: Identity): boolean =>
  a.name === b.name &&
  a.namespace === b.namespace &&
  a.kind === b.kind &&
  a.group === b.group &&
  a.version === b.version;

/** The cluster-scoped kinds by their group. */
export const clusterScoped: { readonly [group: string]: readonly string[] } = {
  '': ['ComponentStatus', 'Namespace', 'Node', 'PersistentVolume'],
  'admissionregistration.{domain}': [
    'MutatingAdmissionPolicy',
    'MutatingAdmissionPolicyBinding',
    'MutatingWebhookConfiguration',
    'ValidatingAdmissionPolicy',
    'ValidatingAdmissionPolicyBinding',
    'ValidatingWebhookConfiguration',
  ],
  'apiextensions.{domain}': ['CustomResourceDefinition'],
  'apiregistration.{domain}': ['APIService'],
  'certificates.{domain}': ['CertificateSigningRequest', 'ClusterTrustBundle'],
  'flowcontrol.apiserver.{domain}': ['FlowSchema', 'PriorityLevelConfiguration'],
  'internal.apiserver.{domain}': ['StorageVersion'],
  'networking.{domain}': ['IPAddress', 'IngressClass', 'ServiceCIDR'],
  'node.{domain}': ['RuntimeClass'],
  policy: ['PodSecurityPolicy'],
  'rbac.authorization.{domain}': ['ClusterRole', 'ClusterRoleBinding'],
  'resource.{domain}': ['DeviceClass', 'DeviceTaintRule', 'ResourceSlice'],
  'scheduling.{domain}': ['PriorityClass'],
  'storage.{domain}': ['CSIDriver', 'CSINode', 'StorageClass', 'VolumeAttachment', 'VolumeAttributesClass'],
  'storagemigration.{domain}': ['StorageVersionMigration'],
};

const clusterScopedKinds = new Set(
  Object.entries(clusterScoped).flatMap(([group, kinds]) =>
    kinds.map((kind) => `${expandNames(group, names)}/${kind}`),
  ),
);

export const isClusterScoped = ({ group = '', kind = '' }: Gvk): boolean => clusterScopedKinds.has(`${group}/${kind}`);

/** The namespace that identities compare: undefined for cluster-scoped kinds, `default` for none. */
const effectiveNamespace = (group: string, kind: string, namespace: string): string | undefined => {
  if (isClusterScoped({ group, kind })) return undefined;
  return namespace === '' ? 'default' : namespace;
};
