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
  type ResourceDefinition,
  type ResourceVersion,
  type Subresource,
  type Verb,
} from '../../registry/index.ts';
import type { CustomResourceDefinition, CustomResourceDefinitionVersion } from '../../types/apiextensions-v1.ts';
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
}

const partVerbs: readonly Verb[] = ['get', 'patch', 'update'];

/**
 * The resource that a definition, which has been validated, defines in one of its versions. Objects are stored as they
 * are, with the `apiVersion` of the storage version. Schemas are read on first use.
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
  const type = compiled.find((one) => one.version === version)?.type as CustomType;
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
      fromStored: (object) => fromStored(object, `${group}/${version}`, type),
      toStored: (object) => {
        const apiVersion = `${group}/${storage.name}`;
        return object.apiVersion === apiVersion ? object : { ...object, apiVersion };
      },
      // As long as the definition has not changed, all objects were written in its form.
      normalizes: definition.metadata?.generation !== 1,
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

function structuralIn({ schema }: CustomResourceDefinitionVersion, names: Names): () => Structural {
  return once(() => structuralOf((schema?.openAPIV3Schema ?? {}) as JsonObject, names));
}

interface VersionOptions extends CustomResourceOptions {
  readonly group: string;
  readonly kind: string;
  /** All versions of the definition. */
  readonly versions: readonly CustomResourceDefinitionVersion[];
}

/** The warning about a deprecated version without one of its own; it names the best version that is better. */
function defaultWarning(deprecated: string, { group, kind, versions }: VersionOptions): string {
  const usable = versions.filter((one) => one.served === true && one.deprecated !== true);
  const [best] = usable.map(({ name = '' }) => name).sort(compareVersions);
  const advice = best === undefined || compareVersions(best, deprecated) >= 0 ? '' : `; use ${group}/${best} ${kind}`;
  return `${group}/${deprecated} ${kind} is deprecated${advice}`;
}

function versionOf(
  declared: CustomResourceDefinitionVersion,
  typeName: string,
  structural: () => Structural,
  options: VersionOptions,
): ResourceVersion & { readonly type: CustomType } {
  const { name = '', deprecated, deprecationWarning } = declared;
  const { names } = options;
  const schema = structSchemaOf(structural, typeName);
  return {
    version: name,
    schema,
    type: customType(structural, schema, names),
    openApi: (dialect) => openApiOf(structural(), dialect, names),
    ...(deprecated === true && { deprecated: { warning: deprecationWarning ?? defaultWarning(name, options) } }),
  };
}

function fromStored(object: ApiObject, apiVersion: string, type: CustomType): boolean {
  const converted = object.apiVersion !== apiVersion;
  object.apiVersion = apiVersion;
  return type.normalizeStored(object) || converted;
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
