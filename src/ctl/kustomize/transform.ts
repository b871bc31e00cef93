/** The transformers of a kustomization that change fields of every resource, in their order. */
import { expandNames, isJsonObject, type Json, type JsonObject, setKey } from '../../meta/index.ts';
import { CommandError } from '../errors.ts';
import { jsonText } from '../output/json.ts';
import { editField, expectScalar } from './field-path.ts';
import { mergeSpecs } from './fields.ts';
import type { Configuration, FieldSpec, Image, Kustomization, Replicas } from './format.ts';
import { isClusterScoped, isSelected, names, type Resource } from './resource.ts';
import { regexOf } from './selector.ts';

/** The kinds whose names have no prefix and no suffix. */
const fixedNames = [
  { kind: 'CustomResourceDefinition' },
  { group: expandNames('apiregistration.{domain}', names), kind: 'APIService' },
  { kind: 'Namespace' },
];

/** The lists of containers, in the pods of all kinds. */
const containerLists = new Set(['containers', 'initContainers']);

type Fields = Required<Configuration>;
type Transformer = (resources: readonly Resource[], kustomization: Kustomization, fields: Fields) => void;

/** The transformers that run between `patches` and `patchesJson6902`. */
export const namesAndMetadata: readonly Transformer[] = [
  (resources, { namespace = '' }, fields) => {
    if (namespace !== '') setNamespace(resources, namespace, fields.namespace);
  },
  (resources, { namePrefix = '' }, fields) => {
    if (namePrefix !== '') affix(resources, fields.namePrefix, { prefix: namePrefix });
  },
  (resources, { nameSuffix = '' }, fields) => {
    if (nameSuffix !== '') affix(resources, fields.nameSuffix, { suffix: nameSuffix });
  },
  (resources, { labels = [], commonLabels = {} }, fields) => {
    for (const { pairs = {}, fields: own = [], includeSelectors = false, includeTemplates = false } of labels) {
      const listed = mergeSpecs(own, fields.labels);
      const metadata = [{ path: 'metadata/labels', create: true }];
      const specs = includeSelectors
        ? mergeSpecs(listed, fields.commonLabels)
        : mergeSpecs(includeTemplates ? mergeSpecs(listed, fields.templateLabels) : listed, metadata);
      setPairs(resources, specs, pairs);
    }
    setPairs(resources, fields.commonLabels, commonLabels);
  },
  (resources, { commonAnnotations = {} }, fields) => setPairs(resources, fields.commonAnnotations, commonAnnotations),
];

/** The transformers that run between `patchesJson6902` and `replacements`. */
export const countsAndImages: readonly Transformer[] = [
  (resources, { replicas = [] }, fields) => {
    for (const one of replicas) setReplicas(resources, one, fields.replicas);
  },
  (resources, { images = [] }, fields) => {
    for (const image of images) setImage(resources, image, fields.images);
  },
];

function setNamespace(resources: readonly Resource[], namespace: string, specs: readonly FieldSpec[]): void {
  const set = (value: Json) => {
    expectScalar(value);
    return namespace;
  };
  for (const resource of resources) {
    resource.remember();
    if (!isClusterScoped(resource.identity)) resource.setMetadata('namespace', namespace);
    setDefaultSubjects(resource.object, namespace);
    for (const spec of specs) {
      if (spec.path !== 'metadata/namespace') editField(resource, spec, { set, empty: '' });
    }
  }
}

/** The service account `default` of a binding is that of the namespace. */
function setDefaultSubjects({ kind = '', subjects = [] }: JsonObject, namespace: string): void {
  if (kind !== 'RoleBinding' && kind !== 'ClusterRoleBinding') return;
  for (const subject of Array.isArray(subjects) ? subjects : []) {
    if (isJsonObject(subject) && subject['name'] === 'default') subject['namespace'] = namespace;
  }
}

function affix(
  resources: readonly Resource[],
  specs: readonly FieldSpec[],
  { prefix = '', suffix = '' }: { readonly prefix?: string; readonly suffix?: string },
): void {
  for (const resource of resources) {
    const { original } = resource;
    if (fixedNames.some((gvk) => isSelected(original, gvk))) continue;
    for (const spec of specs) {
      if (!isSelected(original, spec)) continue;
      if (spec.path === 'metadata/name') {
        if (prefix !== '') resource.prefixes.push(prefix);
        if (suffix !== '') resource.suffixes.push(suffix);
        resource.remember();
      }
      editField(resource, spec, { set: (value) => `${prefix}${jsonText(expectScalar(value))}${suffix}`, empty: '' });
    }
  }
}

/** Sets labels or annotations in the maps at all places. */
export function setPairs(
  resources: readonly Resource[],
  specs: readonly FieldSpec[],
  pairs: { readonly [key: string]: string },
): void {
  const keys = Object.keys(pairs);
  if (keys.length === 0) return;
  const set = (value: Json) => {
    if (!isJsonObject(value)) throw new CommandError('an object is expected');
    for (const key of keys) setKey(value, key, pairs[key] ?? '');
    return value;
  };
  for (const resource of resources) for (const spec of specs) editField(resource, spec, { set, empty: {} });
}

function setReplicas(resources: readonly Resource[], replicas: Replicas, specs: readonly FieldSpec[]): void {
  const { name = '', count = 0 } = replicas;
  let found = false;
  for (const spec of specs) {
    for (const resource of resources) {
      if (!resource.identities.some((identity) => identity.name === name && isSelected(identity, spec))) continue;
      found = true;
      editField(resource, spec, { set: () => count, empty: 0 });
    }
  }
  if (found) return;
  const kinds = specs.map(({ kind = '' }) => kind).join(', ');
  throw new CommandError(`replicas: no resource of the kinds ${kinds} has the name ${JSON.stringify(name)}`);
}

/** Changes the images of all lists of containers, at any depth, and those at listed places. */
function setImage(resources: readonly Resource[], image: Image, specs: readonly FieldSpec[]): void {
  const { name = '' } = image;
  const pattern = regexOf(`^${name}(:[a-zA-Z0-9_.{}-]*)?(@sha256:[a-zA-Z0-9_.{}-]*)?$`, 'images.name');
  const set = (value: Json): Json => {
    const text = jsonText(expectScalar(value));
    return pattern.test(text) ? renamedImage(text, image) : value;
  };
  for (const resource of resources) {
    if (resource.kind === 'CustomResourceDefinition') continue;
    for (const container of containersIn(resource.object)) {
      if (container['image'] !== undefined) container['image'] = set(container['image']);
    }
    for (const spec of specs) editField(resource, spec, { set });
  }
}

function containersIn(value: Json): JsonObject[] {
  if (Array.isArray(value)) return value.flatMap(containersIn);
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, member]) => [
    ...(containerLists.has(key) && Array.isArray(member) ? member.filter(isJsonObject) : []),
    ...containersIn(member),
  ]);
}

function renamedImage(text: string, { newName = '', newTag = '', tagSuffix = '', digest = '' }: Image): string {
  // A colon before the first slash belongs to the port of a registry.
  const [, before = '', tag = '', hash = ''] = /^([^/]*\/[^:@]*|[^:@]*)(?::([^@]*))?(?:@(.*))?$/s.exec(text) ?? [];
  const name = newName === '' ? before : newName;
  if (newTag !== '' || digest !== '') return imageText(name, newTag, digest);
  return tagSuffix === '' ? imageText(name, tag, hash) : imageText(name, tag + tagSuffix, '');
}

const imageText = (name: string, tag: string, digest: string) =>
  `${name}${tag === '' ? '' : `:${tag}`}${digest === '' ? '' : `@${digest}`}`;
