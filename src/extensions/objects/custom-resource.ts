import {
  type ApiObject,
  compareVersions,
  type Features,
  type JsonObject,
  type Names,
  type ObjectMeta,
} from '../../meta/index.ts';
import {
  allVerbs,
  type CustomStorage,
  type ResourceDefinition,
  type ResourceVersion,
  type Subresource,
  type Verb,
} from '../../registry/index.ts';
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionVersion,
  WebhookClientConfig,
} from '../../types/apiextensions-v1.ts';
import { type PostReview, type WebhookConverterOptions, webhookConverter } from '../conversion/webhook-converter.ts';
import { type Structural, structuralOf } from '../structural.ts';
import { columnsOf, selectableFieldsOf } from './columns.ts';
import { type CustomType, customType } from './decode.ts';
import { openApiOf } from './open-api.ts';
import { scaleOf } from './scale.ts';
import { strategyOf } from './strategy.ts';
import { structSchemaOf } from './struct-schema.ts';

export interface CustomResourceOptions {
  readonly names: Names;
  readonly features: Pick<Features, 'CRDValidationRatcheting' | 'CustomResourceFieldSelectors'>;
  /** Calls conversion webhooks. Absent: versions differ in their name only, whatever the definition says. */
  readonly conversion?: ConversionOptions;
}

export interface ConversionOptions extends Pick<WebhookConverterOptions, 'random' | 'clock'> {
  /** `definition`: its name. */
  readonly observe: (definition: string, ...conversion: Parameters<WebhookConverterOptions['observe']>) => void;
  readonly postTo: (config: WebhookClientConfig) => PostReview;
}

const partVerbs: readonly Verb[] = ['get', 'patch', 'update'];

/**
 * The resource that a definition, which has been validated, defines in one of its versions. Objects are stored in the
 * form of the storage version: pruned, and with its defaults. Read objects are in the form of the version in which they
 * are stored, pruned by that of the request. Schemas are read on first use.
 */
export function customResource(
  definition: Pick<CustomResourceDefinition, 'spec'> & { readonly metadata?: Pick<ObjectMeta, 'generation'> },
  version: string,
  options: CustomResourceOptions,
): ResourceDefinition {
  const { group = '', names = {}, scope, versions = [] } = definition.spec ?? {};
  const { plural = '', kind = '' } = names;
  const own = versions.find(({ name }) => name === version);
  const storage = versions.find((declared) => declared.storage === true);
  if (own === undefined || storage === undefined) throw new Error(`${plural}.${group} has no version ${version}`);
  const structuralOfVersion = new Map(
    versions.map((declared) => [declared.name, structuralIn(declared, options.names)]),
  );
  const structural = structuralOfVersion.get(version) as () => Structural;
  const compiled = versions.map((declared) =>
    versionOf(
      declared,
      `${group}/${declared.name}.${kind}`,
      structuralOfVersion.get(declared.name) as () => Structural,
      {
        ...options,
        group,
        kind,
        versions,
      },
    ),
  );
  const types = new Map(compiled.map((one) => [`${group}/${one.version}`, one.type]));
  const typeOf: TypeOf = (apiVersion) => types.get(apiVersion);
  const { subresources = {} } = own;
  const { CRDValidationRatcheting: ratcheting, CustomResourceFieldSelectors: selects } = options.features;
  return {
    group,
    plural,
    kind,
    singular: names.singular ?? kind.toLowerCase(),
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    namespaced: scope === 'Namespaced',
    verbs: allVerbs,
    versions: compiled,
    custom: {
      version: storage.name ?? '',
      fromStored: (object) => fromStored(object, `${group}/${version}`, typeOf),
      toStored: (object) => toStored(object, `${group}/${storage.name}`, typeOf),
      // As long as the definition has not changed, all objects were written in its form.
      normalizes: definition.metadata?.generation !== 1,
      ...webhookOf(definition, types, options),
    },
    storage: { group, resource: plural, version },
    subresources: subresourcesOf(kind, subresources),
    columns: columnsOf(own.additionalPrinterColumns),
    selectableFields: selects ? selectableFieldsOf(own.selectableFields) : [],
    strategy: strategyOf({
      names: options.names,
      structural,
      subresources,
      ratcheting,
    }),
  };
}

/** The webhook of a definition that has one. */
function webhookOf(
  { spec }: Pick<CustomResourceDefinition, 'spec'>,
  types: ReadonlyMap<string, CustomType>,
  { names, conversion }: CustomResourceOptions,
): Pick<CustomStorage, 'webhook'> {
  const { strategy, webhook } = spec?.conversion ?? {};
  if (strategy !== 'Webhook' || conversion === undefined) return {};
  const { clientConfig, conversionReviewVersions: reviewVersions = [] } = webhook ?? {};
  const { postTo, observe: observeOf, ...given } = conversion;
  const observe: WebhookConverterOptions['observe'] = (...seen) =>
    observeOf(`${spec?.names?.plural}.${spec?.group}`, ...seen);
  const post = postTo(clientConfig ?? {});
  const normalize = (object: ApiObject) => void types.get(object.apiVersion)?.normalizeStored(object);
  return { webhook: webhookConverter({ ...given, names, observe, reviewVersions, post, normalize }) };
}

function structuralIn({ schema }: CustomResourceDefinitionVersion, names: Names): () => Structural {
  return once(() => structuralOf((schema?.openAPIV3Schema ?? {}) as JsonObject, names));
}

interface VersionOptions extends CustomResourceOptions {
  readonly group: string;
  readonly kind: string;
  /** All versions of the definition. */
  readonly versions: readonly CustomResourceDefinitionVersion[];
}

/** The advice to use the best version that is better than a deprecated one, for its warning. */
function advice(deprecated: string, { group, kind, versions }: VersionOptions): string {
  const usable = versions.filter((one) => one.served === true && one.deprecated !== true);
  const [best] = usable.map(({ name = '' }) => name).sort(compareVersions);
  return best === undefined || compareVersions(best, deprecated) >= 0 ? '' : `; use ${group}/${best} ${kind}`;
}

function versionOf(
  declared: CustomResourceDefinitionVersion,
  typeName: string,
  structural: () => Structural,
  options: VersionOptions,
): ResourceVersion & { readonly type: CustomType } {
  const { name = '', deprecated, deprecationWarning } = declared;
  const { names, group, kind } = options;
  const schema = structSchemaOf(structural, typeName);
  const warning = deprecationWarning ?? `${group}/${name} ${kind} is deprecated${advice(name, options)}`;
  return {
    version: name,
    schema,
    type: customType(structural, schema, names),
    openApi: (dialect) => openApiOf(structural(), dialect, names),
    ...(deprecated === true && { deprecated: { warning } }),
  };
}

type TypeOf = (apiVersion: string) => CustomType | undefined;

function fromStored(object: ApiObject, apiVersion: string, typeOf: TypeOf): boolean {
  const changed = typeOf(object.apiVersion)?.normalizeStored(object) === true;
  if (object.apiVersion === apiVersion) return changed;
  object.apiVersion = apiVersion;
  typeOf(apiVersion)?.prune(object);
  return true;
}

function toStored(object: ApiObject, apiVersion: string, typeOf: TypeOf): ApiObject {
  if (object.apiVersion === apiVersion) return object;
  const stored = { ...object, apiVersion };
  typeOf(apiVersion)?.normalizeStored(stored);
  return stored;
}

function subresourcesOf(
  kind: string,
  { status, scale }: NonNullable<CustomResourceDefinitionVersion['subresources']>,
): Subresource[] {
  const found: Subresource[] = [];
  if (status !== undefined) {
    found.push({ name: 'status', type: 'status', verbs: partVerbs, kind, resetFields: [['metadata'], ['spec']] });
  }
  if (scale !== undefined) found.push({ ...scaleOf(scale), verbs: partVerbs });
  return found;
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
