/** Where objects come from, and which transformers changed them: the annotations of `buildMetadata`. */
import { stringifyYaml } from '../../codec/index.ts';
import type { Kustomization } from './format.ts';
import { names, type Resource } from './resource.ts';

const originAnnotation = `config.${names.labels}/origin`;
const transformationsAnnotation = `alpha.config.${names.labels}/transformations`;

/** How many transformers each field of a kustomization configures, in their order. */
const transformers: { readonly [kind: string]: (kustomization: Kustomization) => number } = {
  PatchStrategicMergeTransformer: ({ patchesStrategicMerge = [] }) => Math.min(patchesStrategicMerge.length, 1),
  PatchTransformer: ({ patches = [] }) => patches.length,
  NamespaceTransformer: ({ namespace = '' }) => (namespace === '' ? 0 : 1),
  PrefixTransformer: ({ namePrefix = '' }) => (namePrefix === '' ? 0 : 1),
  SuffixTransformer: ({ nameSuffix = '' }) => (nameSuffix === '' ? 0 : 1),
  LabelTransformer: ({ labels = [], commonLabels = {} }) =>
    labels.length + Object.keys(commonLabels).length === 0 ? 0 : labels.length + 1,
  AnnotationsTransformer: ({ commonAnnotations = {} }) => Math.min(Object.keys(commonAnnotations).length, 1),
  PatchJson6902Transformer: ({ patchesJson6902 = [] }) => patchesJson6902.length,
  ReplicaCountTransformer: ({ replicas = [] }) => replicas.length,
  ImageTagTransformer: ({ images = [] }) => images.length,
  ReplacementTransformer: ({ replacements = [] }) => Math.min(replacements.length, 1),
};

/** The origin of an object of a file or URL. */
export const originOfFile = (path: string): string => stringifyYaml({ path });

/** The place of a generator or transformer in a kustomization file. */
const configured = (configuredIn: string, kind: string): string =>
  stringifyYaml({ configuredIn }) + stringifyYaml({ configuredBy: { apiVersion: 'builtin', kind } });

/** The origin of an object that a kustomization file generates. */
export const originOfGenerated = (file: string, kind: string): string => configured(file, `${kind}Generator`);

/** Records that the transformers of a kustomization file have run on objects. */
export function recordTransformations(
  resources: readonly Resource[],
  file: string,
  kustomization: Kustomization,
): void {
  const kinds = Object.entries(transformers).flatMap(([kind, count]) => Array<string>(count(kustomization)).fill(kind));
  for (const kind of kinds) for (const { transformations } of resources) transformations.push(configured(file, kind));
}

/** The annotations that `buildMetadata` asks for. */
export function metadataAnnotations(
  { origin, transformations }: Resource,
  buildMetadata: readonly string[],
): { [annotation: string]: string } {
  const items = transformations.map((text) => `- ${text.trimEnd().replaceAll('\n', '\n  ')}\n`).join('');
  return {
    ...(buildMetadata.includes('originAnnotations') && origin !== undefined ? { [originAnnotation]: origin } : {}),
    ...(buildMetadata.includes('transformerAnnotations') && items !== '' ? { [transformationsAnnotation]: items } : {}),
  };
}
