/** The objects that an object refers to other than by owner references. */
import { at, isJsonObject, type Json, type JsonObject, textOf } from '../../meta/index.ts';

/** A reference to one object. */
export interface Reference {
  /** Where the reference is, such as `spec.nodeName`. */
  readonly field: string;
  /** Of the target; without the version. */
  readonly group: string;
  readonly kind: string;
  readonly name: string;
  /** Of the target, if it is in one. */
  readonly namespace: string;
}

/** A reference to all objects with certain labels. */
export interface Selection {
  readonly field: string;
  readonly group: string;
  readonly kind: string;
  readonly labelSelector: string;
}

interface ReferenceRule {
  /** The kind that has the field. Absent: every kind. */
  readonly of?: string;
  /** `[]` stands for each item of a list. */
  readonly path: string;
  /** The kind of the target: `Kind` or `Kind.group`, where the API domain is left out. Absent: the reference names it. */
  readonly to?: string;
}

/** References of pod specifications, which pods, workloads and templates have. */
const podReferences: readonly ReferenceRule[] = [
  { path: 'nodeName', to: 'Node' },
  { path: 'serviceAccountName', to: 'ServiceAccount' },
  { path: 'priorityClassName', to: 'PriorityClass.scheduling' },
  { path: 'runtimeClassName', to: 'RuntimeClass.node' },
  { path: 'imagePullSecrets[].name', to: 'Secret' },
  { path: 'volumes[].configMap.name', to: 'ConfigMap' },
  { path: 'volumes[].secret.secretName', to: 'Secret' },
  { path: 'volumes[].persistentVolumeClaim.claimName', to: 'PersistentVolumeClaim' },
  { path: 'volumes[].projected.sources[].configMap.name', to: 'ConfigMap' },
  { path: 'volumes[].projected.sources[].secret.name', to: 'Secret' },
  ...['containers[]', 'initContainers[]'].flatMap((containers) => [
    { path: `${containers}.envFrom[].configMapRef.name`, to: 'ConfigMap' },
    { path: `${containers}.envFrom[].secretRef.name`, to: 'Secret' },
    { path: `${containers}.env[].valueFrom.configMapKeyRef.name`, to: 'ConfigMap' },
    { path: `${containers}.env[].valueFrom.secretKeyRef.name`, to: 'Secret' },
  ]),
];

/** Where objects have pod specifications. */
const podSpecs = ['spec', 'spec.template.spec', 'spec.jobTemplate.spec.template.spec', 'template.spec'];

const references: readonly ReferenceRule[] = [
  { of: 'Event', path: 'involvedObject' },
  { of: 'Event', path: 'regarding' },
  { of: 'Event', path: 'related' },
  { of: 'PersistentVolumeClaim', path: 'spec.volumeName', to: 'PersistentVolume' },
  { of: 'PersistentVolumeClaim', path: 'spec.storageClassName', to: 'StorageClass.storage' },
  { of: 'PersistentVolume', path: 'spec.claimRef' },
  { of: 'PersistentVolume', path: 'spec.storageClassName', to: 'StorageClass.storage' },
  { of: 'StatefulSet', path: 'spec.serviceName', to: 'Service' },
  { of: 'HorizontalPodAutoscaler', path: 'spec.scaleTargetRef' },
  { of: 'Ingress', path: 'spec.ingressClassName', to: 'IngressClass.networking' },
  { of: 'Ingress', path: 'spec.defaultBackend.service.name', to: 'Service' },
  { of: 'Ingress', path: 'spec.rules[].http.paths[].backend.service.name', to: 'Service' },
  { of: 'Ingress', path: 'spec.tls[].secretName', to: 'Secret' },
  { of: 'ServiceAccount', path: 'secrets[].name', to: 'Secret' },
  { of: 'ServiceAccount', path: 'imagePullSecrets[].name', to: 'Secret' },
  { of: 'RoleBinding', path: 'roleRef' },
  { of: 'RoleBinding', path: 'subjects[]' },
  { of: 'ClusterRoleBinding', path: 'roleRef' },
  { of: 'ClusterRoleBinding', path: 'subjects[]' },
];

/** Selections by a label selector, by a map of labels, or by one label with the name of the object. */
const selections: readonly {
  readonly of: string;
  readonly path: string;
  readonly to: string;
  readonly label?: string;
  /** Whether the field has `matchLabels` and `matchExpressions`. */
  readonly isSelector?: boolean;
}[] = [
  { of: 'Service', path: 'spec.selector', to: 'Pod' },
  { of: 'Service', path: 'metadata.name', to: 'EndpointSlice.discovery', label: 'service-name' },
  { of: 'PodDisruptionBudget', path: 'spec.selector', to: 'Pod', isSelector: true },
  { of: 'NetworkPolicy', path: 'spec.podSelector', to: 'Pod', isSelector: true },
];

/** An object has at most this many references. */
const maxReferences = 100;

/** The names of groups and labels of the server. */
export interface ReferenceNames {
  readonly domain: string;
  readonly labels: string;
}

/** The references of an object, each target once. */
export function referencesOf(object: JsonObject, { domain }: ReferenceNames): Reference[] {
  const pods = podSpecs.flatMap((spec) => podReferences.map((rule) => ({ ...rule, path: `${spec}.${rule.path}` })));
  const rules = [...references.filter(({ of }) => of === object['kind']), ...pods];
  const found = new Map<string, Reference>();
  for (const { path, to } of rules) {
    for (const { field, value } of valuesAt(object, path.split('.'), '')) {
      const reference = to === undefined ? namedBy(value) : nameIn(value, to, domain);
      if (reference === undefined) continue;
      const { namespace = namespaceOf(object) } = reference;
      const { group, kind, name } = reference;
      const key = [group, kind, namespace, name].join('/');
      if (!found.has(key) && found.size < maxReferences) found.set(key, { field, group, kind, name, namespace });
    }
  }
  return [...found.values()];
}

/** The selections of an object. */
export function selectionsOf(object: JsonObject, { domain, labels }: ReferenceNames): Selection[] {
  return selections
    .filter(({ of }) => of === object['kind'])
    .flatMap(({ path, to, label, isSelector = false }) =>
      [...valuesAt(object, path.split('.'), '')].flatMap(({ field, value }): Selection[] => {
        const selected = isSelector ? selectorText(value) : labelsText(value);
        const labelSelector = label === undefined ? selected : `${labels}/${label}=${textOf(value)}`;
        return labelSelector === '' ? [] : [{ field, ...kindOf(to, domain), labelSelector }];
      }),
    );
}

const labelsText = (value: Json | undefined): string =>
  isJsonObject(value)
    ? Object.entries(value)
        .map(([label, text]) => `${label}=${textOf(text)}`)
        .join(',')
    : '';

/** A label selector as the parameter `labelSelector`. */
function selectorText(selector: Json): string {
  const expressions = at(selector, 'matchExpressions');
  const texts = (Array.isArray(expressions) ? expressions : []).map((expression) => {
    const [key, operator] = [textOf(at(expression, 'key')), textOf(at(expression, 'operator'))];
    const values = at(expression, 'values');
    if (operator === 'Exists') return key;
    if (operator === 'DoesNotExist') return `!${key}`;
    return `${key} ${operator.toLowerCase()} (${Array.isArray(values) ? values.map(textOf).join(',') : ''})`;
  });
  return [labelsText(at(selector, 'matchLabels')), ...texts].filter((text) => text !== '').join(',');
}

/** `Kind.group` with the domain of the server. */
function kindOf(to: string, domain: string): { readonly group: string; readonly kind: string } {
  const [kind = '', group] = to.split('.');
  return { kind, group: group === undefined ? '' : `${group}.${domain}` };
}

type Target = Omit<Reference, 'field' | 'namespace'> & { readonly namespace?: string };

const nameIn = (value: Json, to: string, domain: string): Target | undefined =>
  typeof value === 'string' && value !== '' ? { ...kindOf(to, domain), name: value } : undefined;

/** The target of a reference with `kind` and `name`, and `apiVersion` or `apiGroup`. */
function namedBy(value: Json): Target | undefined {
  if (!isJsonObject(value)) return undefined;
  const { kind, name, namespace, apiVersion, apiGroup } = value;
  if (typeof kind !== 'string' || typeof name !== 'string') return undefined;
  const group = typeof apiVersion === 'string' && apiVersion.includes('/') ? apiVersion.split('/')[0] : apiGroup;
  return {
    kind,
    name,
    group: typeof group === 'string' ? group : '',
    ...(typeof namespace === 'string' ? { namespace } : {}),
  };
}

function namespaceOf({ metadata }: JsonObject): string {
  const namespace = isJsonObject(metadata) ? metadata['namespace'] : undefined;
  return typeof namespace === 'string' ? namespace : '';
}

/** The values at a path, with the position of each item. */
function* valuesAt(
  value: Json | undefined,
  [part, ...rest]: readonly string[],
  field: string,
): Generator<{ readonly field: string; readonly value: Json }> {
  if (value === undefined) return;
  if (part === undefined) {
    yield { field, value };
    return;
  }
  const name = part.replace('[]', '');
  if (!isJsonObject(value) || !Object.hasOwn(value, name)) return;
  const inner = field === '' ? name : `${field}.${name}`;
  const member = value[name];
  if (!part.endsWith('[]')) yield* valuesAt(member, rest, inner);
  else if (Array.isArray(member)) {
    for (const [index, item] of member.entries()) yield* valuesAt(item, rest, `${inner}[${index}]`);
  }
}
