import {
  annotationOf,
  at,
  formatGroupResource,
  type Json,
  jsonEqual,
  type Names,
  nodeOf,
  nodePrefix,
  statusError,
} from '../../meta/index.ts';
import type { ObjectOf } from '../../schema/index.ts';
import { TokenRequest } from '../../types/authentication-v1.ts';
import { CertificateSigningRequest } from '../../types/certificates-v1.ts';
import { Node, PersistentVolumeClaim, Pod } from '../../types/core-v1.ts';
import { forbidden, typedRequest } from '../request.ts';
import type { AdmissionPlugin, AdmissionRequest, PluginInitializer } from '../types.ts';
import { requireAudience } from './node-audiences.ts';
import { apiReference } from './pod-references.ts';

type Initializer = Pick<PluginInitializer, 'names' | 'objects' | 'authorize' | 'features' | 'requestedSubject'>;

/** A rule for the requests of a node. @throws StatusError */
type NodeRule = (node: string, request: AdmissionRequest) => void | Promise<void>;

/** Lets a node write only its own Node object, and what belongs to it and to the pods that are bound to it. */
export function nodeRestriction(initializer: Initializer): AdmissionPlugin {
  const { domain } = initializer.names;
  const rules = new Map<string, NodeRule>([
    ['pods', podRules(initializer)],
    ['nodes', (node, request) => checkNode(initializer.names, node, request)],
    ['persistentvolumeclaims', (node, request) => checkClaimStatus(initializer, node, request)],
    ['serviceaccounts', (node, request) => checkToken(initializer, node, request)],
    [`leases.coordination.${domain}`, (node, request) => checkLease(initializer.names, node, request)],
    [`csinodes.storage.${domain}`, checkOwnName],
    [`resourceslices.resource.${domain}`, checkSlice],
    [
      `certificatesigningrequests.certificates.${domain}`,
      (node, request) => checkCertificateRequest(initializer, node, request),
    ],
  ]);
  return {
    name: 'NodeRestriction',
    handles: ({ operation, resource }) => operation !== 'CONNECT' && rules.has(resource),
    mutate: (request) => {
      const node = nodeOf(request.user);
      if (node === undefined) return undefined;
      if (node === '') {
        throw forbidden(request, `could not determine node from user ${JSON.stringify(request.user.name)}`);
      }
      return rules.get(formatGroupResource(request.resource))?.(node, request);
    },
  };
}

const unexpected = (request: AdmissionRequest) => forbidden(request, `unexpected operation "${request.operation}"`);

function podRules({ names, objects }: Initializer): NodeRule {
  const podOf = async (request: AdmissionRequest): Promise<ObjectOf<typeof Pod>> => {
    const { operation, oldObject } = typedRequest(Pod, request);
    const deleted = operation === 'DELETE' ? oldObject : undefined;
    const found = deleted ?? (await objects.get(Pod, request.namespace, request.name));
    if (found === undefined) throw statusError.notFound({ group: '', resource: 'pod' }, request.name);
    return found;
  };
  const requireBound = async (node: string, request: AdmissionRequest, why: string): Promise<void> => {
    if ((await podOf(request)).spec?.nodeName !== node) throw forbidden(request, why);
  };
  const only = 'pods with spec.nodeName set to itself';
  return (node, request) => {
    const { operation, subresource } = request;
    switch (subresource) {
      case '':
        if (operation === 'CREATE') return checkMirrorPod({ names, objects }, node, request);
        if (operation === 'DELETE') return requireBound(node, request, `node "${node}" can only delete ${only}`);
        throw forbidden(
          request,
          `unexpected operation "${operation}", node "${node}" can only create and delete mirror pods`,
        );
      case 'status':
        return checkPodStatus(node, request);
      case 'eviction':
        if (operation !== 'CREATE') throw forbidden(request, `unexpected operation ${operation}`);
        return requireBound(node, request, `node ${node} can only evict ${only}`);
      default:
        throw forbidden(
          request,
          `unexpected pod subresource "${subresource}", only 'status' and 'eviction' are allowed`,
        );
    }
  };
}

/** A node creates mirror pods of its static pods alone, which it owns, and which need no other objects of the API. */
async function checkMirrorPod(
  { names, objects }: Pick<Initializer, 'names' | 'objects'>,
  node: string,
  request: AdmissionRequest,
): Promise<void> {
  const { object: pod } = typedRequest(Pod, request);
  if (pod === undefined) return;
  const refuse = (why: string) => forbidden(request, why);
  const mirror = `${names.labels}/config.mirror`;
  if (annotationOf(pod, mirror) === undefined) {
    throw refuse(`pod does not have "${mirror}" annotation, node "${node}" can only create mirror pods`);
  }
  const only = `node "${node}" can only create pods with`;
  if (pod.spec?.nodeName !== node) throw refuse(`${only} spec.nodeName set to itself`);
  const [owner, second] = pod.metadata.ownerReferences ?? [];
  if (second !== undefined) throw refuse(`${only} a single owner reference set to itself`);
  if (owner === undefined || owner.apiVersion !== 'v1' || owner.kind !== 'Node' || owner.name !== node) {
    throw refuse(`${only} an owner reference set to itself`);
  }
  if (owner['controller'] !== true) throw refuse(`${only} a controller owner reference set to itself`);
  if (owner['blockOwnerDeletion'] === true) {
    throw refuse(`node "${node}" must not set blockOwnerDeletion on an owner reference`);
  }
  const found = await objects.get(Node, '', node);
  if (found === undefined) throw statusError.notFound({ group: '', resource: 'node' }, node);
  const { uid = '' } = found.metadata;
  if (owner.uid !== uid) throw refuse(`node ${node} UID mismatch: expected ${owner.uid} got ${uid}`);
  const reference = apiReference(pod.spec);
  if (reference !== undefined) throw refuse(`node "${node}" can not create pods that reference ${reference}`);
}

function checkPodStatus(node: string, request: AdmissionRequest): void {
  if (request.operation !== 'UPDATE') throw unexpected(request);
  const { object: pod, oldObject: old } = typedRequest(Pod, request);
  if (pod === undefined || old === undefined) return;
  if (old.spec?.nodeName !== node) {
    const only = 'update pod status for pods with spec.nodeName set to itself';
    throw forbidden(request, `node "${node}" can only ${only}`);
  }
  if (!jsonEqual(old.metadata.labels ?? {}, pod.metadata.labels ?? {})) {
    throw forbidden(request, `node "${node}" cannot update labels through pod status`);
  }
  if (!jsonEqual(old.status?.resourceClaimStatuses ?? [], pod.status?.resourceClaimStatuses ?? [])) {
    throw forbidden(request, `node "${node}" cannot update resource claim statues`);
  }
}

function checkNode(names: Names, node: string, request: AdmissionRequest): void {
  const { operation, name } = request;
  const refuse = (why: string) => forbidden(request, why);
  if (name !== node) throw refuse(`node "${node}" is not allowed to modify node "${name}"`);
  const { object, oldObject: old } = typedRequest(Node, request);
  if (object === undefined) return;
  const { configSource, taints = [] } = object.spec ?? {};
  const labels = forbiddenLabels(object.metadata.labels ?? {}, old?.metadata.labels ?? {}, names).join(', ');
  if (operation === 'CREATE') {
    if (configSource !== undefined) {
      throw refuse(`node "${node}" is not allowed to create pods with a non-nil configSource`);
    }
    if (labels !== '') throw refuse(`node "${node}" is not allowed to set the following labels: ${labels}`);
    return;
  }
  if (configSource !== undefined && !jsonEqual(configSource, old?.spec?.configSource)) {
    throw refuse(`node "${node}" is not allowed to update configSource to a new non-nil configSource`);
  }
  if (!jsonEqual(taints, old?.spec?.taints ?? [])) throw refuse(`node "${node}" is not allowed to modify taints`);
  if (!jsonEqual(object.metadata.ownerReferences ?? [], old?.metadata.ownerReferences ?? [])) {
    throw refuse(`node "${node}" is not allowed to modify ownerReferences`);
  }
  if (labels !== '') throw refuse(`is not allowed to modify labels: ${labels}`);
}

type Labels = { readonly [key: string]: string };

/** The labels that differ, and that a node must not set, sorted. */
function forbiddenLabels(after: Labels, before: Labels, names: Names): string[] {
  const of = (labels: Labels, key: string) => (Object.hasOwn(labels, key) ? labels[key] : undefined);
  const keys = [...new Set([...Object.keys(after), ...Object.keys(before)])];
  return keys.filter((key) => of(after, key) !== of(before, key) && !mayNodeSet(key, names)).sort();
}

const within = (prefix: string, domain: string): boolean => prefix === domain || prefix.endsWith(`.${domain}`);

/** Of the labels of the product, a node may set those that kubelets know, and none below `node-restriction`. */
function mayNodeSet(key: string, { labels, domain }: Names): boolean {
  const slash = key.indexOf('/');
  const prefix = slash < 0 ? '' : key.slice(0, slash);
  if (within(prefix, `node-restriction.${labels}`)) return false;
  if (!within(prefix, labels) && !within(prefix, domain)) return true;
  return (
    within(prefix, `kubelet.${labels}`) ||
    within(prefix, `node.${labels}`) ||
    kubeletLabels.some((label) => key === label.replace('{labels}', labels))
  );
}

const kubeletLabels = [
  '{labels}/hostname',
  '{labels}/os',
  '{labels}/arch',
  'topology.{labels}/zone',
  'topology.{labels}/region',
  'failure-domain.beta.{labels}/zone',
  'failure-domain.beta.{labels}/region',
  'beta.{labels}/instance-type',
  'beta.{labels}/os',
  'beta.{labels}/arch',
];

/** A node updates the size and the conditions in the status of claims, which it resizes, and nothing else. */
function checkClaimStatus({ features }: Initializer, node: string, request: AdmissionRequest): void {
  if (request.subresource !== 'status') throw forbidden(request, 'may only update PVC status');
  if (request.operation !== 'UPDATE') throw unexpected(request);
  const { object, oldObject } = typedRequest(PersistentVolumeClaim, request);
  if (object === undefined || oldObject === undefined) return;
  const recovery = ['allocatedResourceStatuses', 'allocatedResources'];
  const own = new Set(['capacity', 'conditions', ...(features.RecoverVolumeExpansionFailure ? recovery : [])]);
  const partsOf = ({ metadata, status = {}, ...rest }: ObjectOf<typeof PersistentVolumeClaim>) => ({
    ...prefixed('', rest),
    ...prefixed('metadata.', metadata, new Set(['resourceVersion', 'managedFields'])),
    ...prefixed('status.', status, own),
  });
  const [before, after] = [partsOf(oldObject), partsOf(object)];
  const changed = Object.keys({ ...before, ...after }).filter((field) => !jsonEqual(before[field], after[field]));
  if (changed.length === 0) return;
  const why = `is not allowed to update fields other than status.quantity and status.conditions: ${changed.join(', ')}`;
  throw forbidden(request, `node "${node}" ${why}`);
}

/** The fields of an object but some, with a prefix before their names. */
const prefixed = (prefix: string, fields: object, but?: ReadonlySet<string>): { [field: string]: Json } =>
  Object.fromEntries(
    Object.entries(fields)
      .filter(([name]) => but?.has(name) !== true)
      .map(([name, value]) => [prefix + name, value as Json]),
  );

/** A node asks for tokens that are bound to a pod on it, for the audiences of the pod. */
async function checkToken(initializer: Initializer, node: string, request: AdmissionRequest): Promise<void> {
  if (request.operation !== 'CREATE' || request.subresource !== 'token') return;
  const { spec } = typedRequest(TokenRequest, request).object ?? {};
  const { apiVersion, kind, name, uid } = spec?.boundObjectRef ?? {};
  if (apiVersion !== 'v1' || kind !== 'Pod' || !name) {
    throw forbidden(request, 'node requested token not bound to a pod');
  }
  if (!uid) throw forbidden(request, 'node requested token with a pod binding without a uid');
  const pod = await initializer.objects.get(Pod, request.namespace, name);
  if (pod === undefined) throw statusError.notFound({ group: '', resource: 'pod' }, name);
  if (uid !== pod.metadata.uid) {
    const why = 'does not match the UID in record. The object might have been deleted and then recreated';
    throw forbidden(request, `the UID in the bound object reference (${uid}) ${why}`);
  }
  if (pod.spec?.nodeName !== node) {
    throw forbidden(request, 'node requested token bound to a pod scheduled on a different node');
  }
  if (!initializer.features.ServiceAccountNodeAudienceRestriction) return;
  await requireAudience(initializer, request, pod, spec?.audiences ?? []);
}

function checkLease({ nodeLeaseNamespace }: Names, node: string, request: AdmissionRequest): void {
  if (request.namespace !== nodeLeaseNamespace) {
    throw forbidden(request, `can only access leases in the "${nodeLeaseNamespace}" system namespace`);
  }
  requireOwnName(node, request, 'node lease');
}

const checkOwnName: NodeRule = (node, request) => requireOwnName(node, request, 'CSINode');

function requireOwnName(node: string, request: AdmissionRequest, what: string): void {
  const name = request.operation === 'CREATE' ? request.object?.metadata.name : request.name;
  if (name !== node) throw forbidden(request, `can only access ${what} with the same name as the requesting node`);
}

const checkSlice: NodeRule = (node, request) => {
  const { operation, object, oldObject } = request;
  if (operation === 'UPDATE') return;
  const slice = operation === 'CREATE' ? object : oldObject;
  if (at(slice, 'spec', 'nodeName') === node) return;
  const verb = operation === 'CREATE' ? 'create' : 'delete';
  throw forbidden(request, `can only ${verb} ResourceSlice with the same NodeName as the requesting node`);
};

/** Certificates of kubelets, for their clients and for serving, are for the node that asks. */
function checkCertificateRequest(
  { names, features, requestedSubject }: Initializer,
  node: string,
  request: AdmissionRequest,
): void {
  if (features.AllowInsecureKubeletCertificateSigningRequests || request.operation !== 'CREATE') return;
  const { spec } = typedRequest(CertificateSigningRequest, request).object ?? {};
  const signers = ['kubelet-serving', 'kube-apiserver-client-kubelet'].map((signer) => `${names.labels}/${signer}`);
  if (!signers.includes(spec?.signerName ?? '')) return;
  const subject = requestedSubject(Buffer.from(spec?.request ?? '', 'base64').toString('latin1'));
  if (subject === undefined) {
    throw forbidden(request, 'unable to parse csr: it must be one CERTIFICATE REQUEST in PEM');
  }
  if (subject.commonName !== nodePrefix + node) {
    throw forbidden(request, `can only create a node CSR with CN=${nodePrefix}${node}`);
  }
}
