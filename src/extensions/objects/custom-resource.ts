import {
  type ApiObject,
  atOnce,
  compareVersions,
  type Features,
  type JsonObject,
  type Names,
  type ObjectMeta,
  type Steps,
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
import { structuralInSteps } from '../structural.ts';
import { columnsOf, selectableFieldsOf } from './columns.ts';
import { type CustomType, customType } from './decode.ts';
import { openApiOf } from './open-api.ts';
import { type ReadSchema, readSchema } from './read-schema.ts';
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
 * The resources that a definition, which has been validated, defines: one for each version that is served or stored.
 * Objects are stored as they are, with the `apiVersion` of the storage version. Schemas are read on first use.
 */
export function customResources(
  definition: Pick<CustomResourceDefinition, 'spec'> & { readonly metadata?: Pick<ObjectMeta, 'generation'> },
  options: CustomResourceOptions,
): ReadonlyMap<string, ResourceDefinition> {
  const {
    group = '',
    names = {},
    scope,
    versions = [],
    preserveUnknownFields: preserves = false,
  } = definition.spec ?? {};
  const { plural = '', kind = '' } = names;
  const stored = versions.find(({ storage }) => storage === true)?.name ?? '';
  const best = bestOf(versions);
  const schemas = new Map(
    versions.map((declared) => [declared, readSchema(schemaIn(declared), options.names, preserves)]),
  );
  const schemaOf = (declared: CustomResourceDefinitionVersion) => schemas.get(declared) as ReadSchema;
  const compiled = versions.map((declared) =>
    versionOf(declared, schemaOf(declared), { ...options, group, kind, best, preserves }),
  );
  const types = new Map(compiled.map((one) => [`${group}/${one.version}`, one.type]));
  const typeOf: TypeOf = (apiVersion) => types.get(apiVersion);
  const webhook = webhookOf(definition, types, options);
  const { CRDValidationRatcheting: ratcheting, CustomResourceFieldSelectors: selects } = options.features;
  const resourceOf = (declared: CustomResourceDefinitionVersion): ResourceDefinition => {
    const { name: version = '', subresources = {} } = declared;
    return {
      group,
      plural,
      kind,
      ...(names.listKind && { listKind: names.listKind }),
      singular: names.singular ?? kind.toLowerCase(),
      shortNames: names.shortNames ?? [],
      categories: names.categories ?? [],
      namespaced: scope === 'Namespaced',
      verbs: allVerbs,
      versions: compiled,
      custom: {
        version: stored,
        fromStored: (object) => fromStored(object, `${group}/${version}`, typeOf),
        toStored: (object) => toStored(object, `${group}/${stored}`, typeOf),
        // As long as the definition has not changed, all objects were written in its form.
        normalizes: definition.metadata?.generation !== 1,
        ...webhook,
      },
      storage: { group, resource: plural, version },
      subresources: subresourcesOf(kind, subresources),
      prepare: schemaOf(declared).readInSteps,
      defaultsLargely: () => schemaOf(declared).form().defaultsLargely,
      columns: columnsOf(declared.additionalPrinterColumns),
      selectableFields: selects ? selectableFieldsOf(declared.selectableFields) : [],
      strategy: strategyOf({ ...schemaOf(declared), names: options.names, subresources, ratcheting }),
    };
  };
  const used = versions.filter(({ served, storage }) => served === true || storage === true);
  return new Map(used.map((declared) => [declared.name ?? '', resourceOf(declared)]));
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
  const normalize = (object: ApiObject) => {
    const type = types.get(object.apiVersion);
    if (type !== undefined) atOnce(type.normalizeStored(object));
  };
  return { webhook: webhookConverter({ ...given, names, observe, reviewVersions, post, normalize }) };
}

const schemaIn = ({ schema }: CustomResourceDefinitionVersion) => (schema?.openAPIV3Schema ?? {}) as JsonObject;

interface VersionOptions extends CustomResourceOptions {
  readonly group: string;
  readonly kind: string;
  /** The version that deprecated ones advise to use. */
  readonly best: string | undefined;
  /** Unknown fields are kept everywhere. */
  readonly preserves: boolean;
}

/** The best version that is served and not deprecated. */
const bestOf = (versions: readonly CustomResourceDefinitionVersion[]): string | undefined =>
  versions
    .filter(({ served, deprecated }) => served === true && deprecated !== true)
    .map(({ name = '' }) => name)
    .sort(compareVersions)[0];

function versionOf(
  declared: CustomResourceDefinitionVersion,
  { structural, form }: ReadSchema,
  { names, group, kind, best, preserves }: VersionOptions,
): ResourceVersion & { readonly type: CustomType } {
  const { name = '', deprecated, deprecationWarning } = declared;
  const schema = structSchemaOf(structural, `${group}/${name}.${kind}`);
  const advice = best === undefined || compareVersions(best, name) >= 0 ? '' : `; use ${group}/${best} ${kind}`;
  const warning = deprecationWarning ?? `${group}/${name} ${kind} is deprecated${advice}`;
  return {
    version: name,
    schema,
    type: customType(form, schema, names),
    // Documents are made once: what they are made from is not kept for them.
    *openApi(dialect) {
      const structural = yield* structuralInSteps(schemaIn(declared), names, preserves);
      return yield* openApiOf(structural, dialect, names);
    },
    ...(deprecated === true && { deprecationWarning: warning }),
  };
}

type TypeOf = (apiVersion: string) => CustomType | undefined;

function* fromStored(object: ApiObject, apiVersion: string, typeOf: TypeOf): Steps<boolean> {
  const type = typeOf(object.apiVersion);
  const changed = type !== undefined && (yield* type.normalizeStored(object));
  if (object.apiVersion === apiVersion) return changed;
  object.apiVersion = apiVersion;
  const customType = typeOf(apiVersion);
  if (customType !== undefined) yield* customType.prune(object);
  return true;
}

function* toStored(object: ApiObject, apiVersion: string, typeOf: TypeOf): Steps<ApiObject> {
  if (object.apiVersion === apiVersion) return object;
  const stored = { ...object, apiVersion };
  const type = typeOf(apiVersion);
  if (type !== undefined) yield* type.normalizeStored(stored);
  return stored;
}

function subresourcesOf(
  kind: string,
  { status, scale }: NonNullable<CustomResourceDefinitionVersion['subresources']>,
): Subresource[] {
  const subresources: Subresource[] = [];
  if (status !== undefined) {
    subresources.push({
      name: 'status',
      type: 'status',
      verbs: partVerbs,
      kind,
      resetFields: [['metadata'], ['spec']],
    });
  }
  if (scale !== undefined) subresources.push({ ...scaleOf(scale), verbs: partVerbs });
  return subresources;
}
