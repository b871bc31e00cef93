/** The format of kustomization files. */
import {
  anyObject,
  bool,
  type ConfigurationFormat,
  field,
  type Infer,
  int32,
  int64,
  list,
  map,
  string,
  struct,
} from '../../schema/index.ts';

const texts = list(string);
const pairs = map(string);

const gvk = { group: field(1, string), version: field(2, string), kind: field(3, string) };

const FieldSpec = struct('FieldSpec', { ...gvk, path: field(4, string), create: field(5, bool) });
/** The place of a field in the objects of some kinds. */
export type FieldSpec = Infer<typeof FieldSpec>;

const identity = { ...gvk, name: field(4, string), namespace: field(5, string) };

const Selector = struct('Selector', {
  ...identity,
  labelSelector: field(6, string),
  annotationSelector: field(7, string),
});
/** A selector of resources: the first five fields are regular expressions in patches, texts in replacements. */
export type Selector = Infer<typeof Selector>;

const Patch = struct('Patch', {
  path: field(1, string),
  patch: field(2, string),
  target: field(3, Selector, { nullable: true }),
  options: field(4, map(bool)),
});
export type Patch = Infer<typeof Patch>;

const GeneratorOptions = struct('GeneratorOptions', {
  labels: field(1, pairs),
  annotations: field(2, pairs),
  disableNameSuffixHash: field(3, bool),
  immutable: field(4, bool),
});
export type GeneratorOptions = Infer<typeof GeneratorOptions>;

const generator = {
  name: field(1, string),
  namespace: field(2, string),
  behavior: field(3, string, { known: ['unspecified', 'create', 'replace', 'merge'] }),
  literals: field(4, texts),
  files: field(5, texts),
  envs: field(6, texts),
  env: field(7, string),
  options: field(8, GeneratorOptions),
};
const ConfigMapGenerator = struct('ConfigMapGenerator', generator);
const SecretGenerator = struct('SecretGenerator', { ...generator, type: field(9, string) });
export type SecretGenerator = Infer<typeof SecretGenerator>;

const Labels = struct('Labels', {
  pairs: field(1, pairs),
  includeSelectors: field(2, bool),
  includeTemplates: field(3, bool),
  fields: field(4, list(FieldSpec)),
});

const Image = struct('Image', {
  name: field(1, string),
  newName: field(2, string),
  newTag: field(3, string),
  tagSuffix: field(4, string),
  digest: field(5, string),
});
export type Image = Infer<typeof Image>;

const Replicas = struct('Replicas', { name: field(1, string), count: field(2, int64, { always: true }) });
export type Replicas = Infer<typeof Replicas>;

const FieldOptions = struct('FieldOptions', {
  delimiter: field(1, string),
  index: field(2, int32),
  encoding: field(3, string),
  create: field(4, bool),
});
export type FieldOptions = Infer<typeof FieldOptions>;

const replacement = {
  source: field(1, struct('Source', { ...identity, fieldPath: field(6, string), options: field(7, FieldOptions) }), {
    nullable: true,
  }),
  targets: field(
    2,
    list(
      struct('Target', {
        select: field(1, Selector, { nullable: true }),
        reject: field(2, list(Selector)),
        fieldPaths: field(3, texts),
        options: field(4, FieldOptions),
      }),
    ),
  ),
};
const Replacement = struct('Replacement', { ...replacement, path: field(3, string) });
export type Replacement = Infer<typeof Replacement>;

/** The format of the files that `path` of a replacement names. */
export const replacementsFormat = formatOf(struct('Replacements', { replacements: field(1, list(Replacement)) }));

const SortOptions = struct('SortOptions', {
  order: field(1, string, { known: ['legacy', 'fifo'] }),
  legacySortOptions: field(
    2,
    struct('LegacySortOptions', { orderFirst: field(1, texts), orderLast: field(2, texts) }),
    { nullable: true },
  ),
});
export type SortOptions = Infer<typeof SortOptions>;

const specs = list(FieldSpec);
const NameReference = struct('NameReference', { ...gvk, fieldSpecs: field(4, specs) });
/** The fields that hold names of the objects of a kind. */
export type NameReference = Infer<typeof NameReference>;

const Configuration = struct('Configuration', {
  namePrefix: field(1, specs),
  nameSuffix: field(2, specs),
  namespace: field(3, specs),
  commonLabels: field(4, specs),
  labels: field(5, specs),
  templateLabels: field(6, specs),
  commonAnnotations: field(7, specs),
  nameReference: field(8, list(NameReference)),
  varReference: field(9, specs),
  images: field(10, specs),
  replicas: field(11, specs),
});
/** The fields that each transformer changes. */
export type Configuration = Infer<typeof Configuration>;

/** The format of the files of `configurations`. */
export const configurationFormat = formatOf(Configuration);

/** The fields that are known but not supported, with what replaces them. */
export const unsupported: { readonly [field: string]: string } = {
  crds: "list the fields of custom types with 'configurations'",
  generators: "use 'configMapGenerator', 'secretGenerator', or run the generator and list its output in 'resources'",
  helmChartInflationGenerator: "run 'helm template', and list its output in 'resources'",
  helmCharts: "run 'helm template', and list its output in 'resources'",
  helmGlobals: "run 'helm template', and list its output in 'resources'",
  openapi: 'lists of custom types are replaced as a whole: patch them with JSON patches',
  transformers: "use the fields of the kustomization, such as 'labels', 'patches' and 'replacements'",
  validators: 'validate the output with --dry-run=server',
  vars: "use 'replacements'",
};

const Kustomization = struct('Kustomization', {
  apiVersion: field(1, string),
  kind: field(2, string),
  metadata: field(3, anyObject),
  resources: field(4, texts),
  bases: field(5, texts),
  components: field(6, texts),
  namespace: field(7, string),
  namePrefix: field(8, string),
  nameSuffix: field(9, string),
  labels: field(10, list(Labels)),
  commonLabels: field(11, pairs),
  commonAnnotations: field(12, pairs),
  images: field(13, list(Image)),
  imageTags: field(14, list(Image)),
  replicas: field(15, list(Replicas)),
  configMapGenerator: field(16, list(ConfigMapGenerator)),
  secretGenerator: field(17, list(SecretGenerator)),
  generatorOptions: field(18, GeneratorOptions, { nullable: true }),
  patches: field(19, list(Patch)),
  patchesStrategicMerge: field(20, texts),
  patchesJson6902: field(21, list(Patch)),
  replacements: field(22, list(Replacement)),
  sortOptions: field(23, SortOptions, { nullable: true }),
  buildMetadata: field(24, texts),
  configurations: field(25, texts),
});
export type Kustomization = Infer<typeof Kustomization>;

export const kustomizationFormat = formatOf(Kustomization);

function formatOf<S extends ConfigurationFormat['schema']>(schema: S): ConfigurationFormat<Infer<S>> {
  return { kinds: [], schema };
}
