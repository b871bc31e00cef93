/** The fields of built-in kinds that transformers change, and those that hold names of other objects. */
import { expandNamesIn } from '../../meta/index.ts';
import { CommandError } from '../errors.ts';
import type { Configuration, FieldSpec, NameReference } from './format.ts';
import { isSelected, names } from './resource.ts';

/** The kinds that have pods, with the path of the pod or of its template. */
const podKinds: readonly { readonly kind: string; readonly path: string }[] = [
  { kind: 'Pod', path: '' },
  { kind: 'PodTemplate', path: 'template/' },
  { kind: 'ReplicationController', path: 'spec/template/' },
  { kind: 'Deployment', path: 'spec/template/' },
  { kind: 'ReplicaSet', path: 'spec/template/' },
  { kind: 'DaemonSet', path: 'spec/template/' },
  { kind: 'StatefulSet', path: 'spec/template/' },
  { kind: 'Job', path: 'spec/template/' },
  { kind: 'CronJob', path: 'spec/jobTemplate/spec/template/' },
];

/** A field of the pods of every kind that has pods. */
const inPods = (...paths: readonly string[]): FieldSpec[] =>
  podKinds.flatMap(({ kind, path }) => paths.map((field) => ({ kind, path: `${path}spec/${field}` })));

/** A field of the containers and of the init containers of pods. */
const inContainers = (...paths: readonly string[]): FieldSpec[] =>
  inPods(...['containers', 'initContainers'].flatMap((list) => paths.map((path) => `${list}/${path}`)));

const created = (specs: readonly FieldSpec[]): FieldSpec[] => specs.map((spec) => ({ ...spec, create: true }));

/** A map of the metadata of objects and of the templates in them. */
const templateMetadata = (field: 'labels' | 'annotations'): FieldSpec[] =>
  created([
    { path: `metadata/${field}` },
    { version: 'v1', kind: 'ReplicationController', path: `spec/template/metadata/${field}` },
    { kind: 'Deployment', path: `spec/template/metadata/${field}` },
    { kind: 'ReplicaSet', path: `spec/template/metadata/${field}` },
    { kind: 'DaemonSet', path: `spec/template/metadata/${field}` },
    { group: 'apps', kind: 'StatefulSet', path: `spec/template/metadata/${field}` },
    { group: 'batch', kind: 'Job', path: `spec/template/metadata/${field}` },
    { group: 'batch', kind: 'CronJob', path: `spec/jobTemplate/metadata/${field}` },
    { group: 'batch', kind: 'CronJob', path: `spec/jobTemplate/spec/template/metadata/${field}` },
  ]);

const templateLabels: readonly FieldSpec[] = [
  ...templateMetadata('labels'),
  ...created([{ group: 'apps', kind: 'StatefulSet', path: 'spec/volumeClaimTemplates[]/metadata/labels' }]),
];

/** The selectors of pods in the pod templates of deployments and stateful sets. */
const selectorsInTemplates: readonly FieldSpec[] = ['Deployment', 'StatefulSet'].flatMap((kind) =>
  [
    'affinity/podAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm',
    'affinity/podAffinity/requiredDuringSchedulingIgnoredDuringExecution',
    'affinity/podAntiAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm',
    'affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution',
    'topologySpreadConstraints',
  ].map((path) => ({ group: 'apps', kind, path: `spec/template/spec/${path}/labelSelector/matchLabels` })),
);

const selectors: readonly FieldSpec[] = [
  ...created([
    { version: 'v1', kind: 'Service', path: 'spec/selector' },
    { version: 'v1', kind: 'ReplicationController', path: 'spec/selector' },
    { kind: 'Deployment', path: 'spec/selector/matchLabels' },
    { kind: 'ReplicaSet', path: 'spec/selector/matchLabels' },
    { kind: 'DaemonSet', path: 'spec/selector/matchLabels' },
    { group: 'apps', kind: 'StatefulSet', path: 'spec/selector/matchLabels' },
  ]),
  ...selectorsInTemplates,
  { group: 'batch', kind: 'Job', path: 'spec/selector/matchLabels' },
  { group: 'batch', kind: 'CronJob', path: 'spec/jobTemplate/spec/selector/matchLabels' },
  { group: 'policy', kind: 'PodDisruptionBudget', path: 'spec/selector/matchLabels' },
  { group: 'networking.{domain}', kind: 'NetworkPolicy', path: 'spec/podSelector/matchLabels' },
  { group: 'networking.{domain}', kind: 'NetworkPolicy', path: 'spec/ingress/from/podSelector/matchLabels' },
  { group: 'networking.{domain}', kind: 'NetworkPolicy', path: 'spec/egress/to/podSelector/matchLabels' },
];

const rbac = 'rbac.authorization.{domain}';
const webhooks = 'admissionregistration.{domain}';

const resourceNames: readonly FieldSpec[] = [
  { kind: 'Role', path: 'rules/resourceNames' },
  { kind: 'ClusterRole', path: 'rules/resourceNames' },
];

/** In the order in which names are looked for. */
const nameReference: readonly NameReference[] = [
  {
    version: 'v1',
    group: 'storage.{domain}',
    kind: 'StorageClass',
    fieldSpecs: [
      { kind: 'PersistentVolume', path: 'spec/storageClassName' },
      { kind: 'PersistentVolumeClaim', path: 'spec/storageClassName' },
      { kind: 'StatefulSet', path: 'spec/volumeClaimTemplates/spec/storageClassName' },
    ],
  },
  {
    version: 'v1',
    kind: 'ServiceAccount',
    fieldSpecs: [
      { group: rbac, kind: 'RoleBinding', path: 'subjects' },
      { group: rbac, kind: 'ClusterRoleBinding', path: 'subjects' },
      ...inPods('serviceAccountName'),
    ],
  },
  { group: rbac, kind: 'Role', fieldSpecs: [{ group: rbac, kind: 'RoleBinding', path: 'roleRef/name' }] },
  {
    group: rbac,
    kind: 'ClusterRole',
    fieldSpecs: [
      { group: rbac, kind: 'RoleBinding', path: 'roleRef/name' },
      { group: rbac, kind: 'ClusterRoleBinding', path: 'roleRef/name' },
    ],
  },
  {
    version: 'v1',
    kind: 'ConfigMap',
    fieldSpecs: [
      ...inPods('volumes/configMap/name', 'volumes/projected/sources/configMap/name'),
      ...inContainers('env/valueFrom/configMapKeyRef/name', 'envFrom/configMapRef/name'),
      { kind: 'Node', path: 'spec/configSource/configMap' },
      ...resourceNames,
      { kind: 'Ingress', path: 'metadata/annotations/nginx.ingress.{labels}\\/fastcgi-params-configmap' },
    ],
  },
  {
    version: 'v1',
    kind: 'Secret',
    fieldSpecs: [
      ...inPods('volumes/secret/secretName', 'volumes/projected/sources/secret/name', 'imagePullSecrets/name'),
      ...inContainers('env/valueFrom/secretKeyRef/name', 'envFrom/secretRef/name'),
      { kind: 'Ingress', path: 'spec/tls/secretName' },
      { kind: 'Ingress', path: 'metadata/annotations/ingress.{labels}\\/auth-secret' },
      { kind: 'Ingress', path: 'metadata/annotations/nginx.ingress.{labels}\\/auth-secret' },
      { kind: 'Ingress', path: 'metadata/annotations/nginx.ingress.{labels}\\/auth-tls-secret' },
      { kind: 'ServiceAccount', path: 'imagePullSecrets/name' },
      { kind: 'StorageClass', path: 'parameters/secretName' },
      { kind: 'StorageClass', path: 'parameters/adminSecretName' },
      { kind: 'StorageClass', path: 'parameters/userSecretName' },
      { kind: 'StorageClass', path: 'parameters/secretRef' },
      ...resourceNames,
      { kind: 'PersistentVolume', path: 'spec/azureFile/secretName' },
      {
        group: 'serving.knative.dev',
        version: 'v1',
        kind: 'Service',
        path: 'spec/template/spec/containers/env/valueFrom/secretKeyRef/name',
      },
    ],
  },
  {
    version: 'v1',
    kind: 'Service',
    fieldSpecs: [
      { group: 'apps', kind: 'StatefulSet', path: 'spec/serviceName' },
      { kind: 'Ingress', path: 'spec/rules/http/paths/backend/serviceName' },
      { kind: 'Ingress', path: 'spec/backend/serviceName' },
      { kind: 'Ingress', path: 'spec/rules/http/paths/backend/service/name' },
      { kind: 'Ingress', path: 'spec/defaultBackend/service/name' },
      { group: 'apiregistration.{domain}', kind: 'APIService', path: 'spec/service/name' },
      { group: webhooks, kind: 'ValidatingWebhookConfiguration', path: 'webhooks/clientConfig/service' },
      { group: webhooks, kind: 'MutatingWebhookConfiguration', path: 'webhooks/clientConfig/service' },
    ],
  },
  {
    version: 'v1',
    group: 'scheduling.{domain}',
    kind: 'PriorityClass',
    fieldSpecs: inPods('priorityClassName'),
  },
  {
    version: 'v1',
    kind: 'PersistentVolume',
    fieldSpecs: [
      { kind: 'PersistentVolumeClaim', path: 'spec/volumeName' },
      { kind: 'ClusterRole', path: 'rules/resourceNames' },
    ],
  },
  { version: 'v1', kind: 'PersistentVolumeClaim', fieldSpecs: inPods('volumes/persistentVolumeClaim/claimName') },
  ...['Deployment', 'StatefulSet', 'ReplicaSet', 'ReplicationController'].map((kind) => ({
    kind,
    fieldSpecs: [{ kind: 'HorizontalPodAutoscaler', path: 'spec/scaleTargetRef/name' }],
  })),
  {
    version: 'v1',
    group: 'networking.{domain}',
    kind: 'IngressClass',
    fieldSpecs: [{ kind: 'Ingress', path: 'spec/ingressClassName' }],
  },
  {
    group: webhooks,
    kind: 'ValidatingAdmissionPolicy',
    fieldSpecs: [{ group: webhooks, kind: 'ValidatingAdmissionPolicyBinding', path: 'spec/policyName' }],
  },
];

/** The fields that transformers change without `configurations`. */
export const defaultFields: Required<Configuration> = expandNamesIn(
  {
    namePrefix: [{ path: 'metadata/name' }],
    nameSuffix: [{ path: 'metadata/name' }],
    namespace: [
      { version: 'v1', kind: 'Namespace', path: 'metadata/name', create: true },
      { group: 'apiregistration.{domain}', kind: 'APIService', path: 'spec/service/namespace', create: true },
      {
        group: 'apiextensions.{domain}',
        kind: 'CustomResourceDefinition',
        path: 'spec/conversion/webhook/clientConfig/service/namespace',
      },
    ],
    commonLabels: [...selectors, ...templateLabels],
    labels: [],
    templateLabels: [...templateLabels],
    commonAnnotations: templateMetadata('annotations'),
    nameReference: [...nameReference],
    varReference: [],
    images: [],
    replicas: created(
      ['Deployment', 'ReplicationController', 'ReplicaSet', 'StatefulSet'].map((kind) => ({
        kind,
        path: 'spec/replicas',
      })),
    ),
  },
  names,
);

/**
 * The fields of two configurations. Places that the first one has already are left out. A place of some kinds replaces the same
 * place of all kinds.
 * @throws CommandError when a place is created in one and not in the other
 */
export function mergeFields(first: Required<Configuration>, second: Configuration): Required<Configuration> {
  const { nameReference, ...lists } = first;
  const merged = Object.entries(lists).map(([name, specs]) => [
    name,
    mergeSpecs([], mergeSpecs(specs, second[name as keyof typeof lists] ?? []).toSorted(byGenerality)),
  ]);
  return { ...Object.fromEntries(merged), nameReference: mergeReferences(nameReference, second.nameReference ?? []) };
}

const byGenerality = (a: FieldSpec, b: FieldSpec): number => Number(isGeneral(a)) - Number(isGeneral(b));
const isGeneral = ({ group = '', version = '', kind = '' }: FieldSpec): boolean => group + version + kind === '';

/** @throws CommandError when a place is created in one and not in the other */
export function mergeSpecs(first: readonly FieldSpec[], second: readonly FieldSpec[]): FieldSpec[] {
  const merged = [...first];
  for (const spec of second) {
    const known = merged.find((one) => one.path === spec.path && isSelected(one, spec));
    if (known === undefined) merged.push(spec);
    else if ((known.create === true) !== (spec.create === true)) {
      throw new CommandError(`the field ${spec.path} is listed with 'create: true' and without`);
    }
  }
  return merged;
}

function mergeReferences(first: readonly NameReference[], second: readonly NameReference[]): NameReference[] {
  const merged = [...first];
  for (const reference of second) {
    const at = merged.findIndex(
      ({ group = '', version = '', kind = '' }) =>
        group === (reference.group ?? '') && version === (reference.version ?? '') && kind === (reference.kind ?? ''),
    );
    const known = merged[at];
    if (known === undefined) merged.push(reference);
    else merged[at] = { ...known, fieldSpecs: mergeSpecs(known.fieldSpecs ?? [], reference.fieldSpecs ?? []) };
  }
  return merged;
}
