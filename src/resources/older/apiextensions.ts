/** The beta version of custom resource definitions. */
import {
  type ApiObject,
  type FieldError,
  fieldError,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonEqual,
} from '../../meta/index.ts';
import type { Strategy } from '../../registry/index.ts';
import { bool, type Fields, field, list, string } from '../../schema/index.ts';
import * as v1 from '../../types/apiextensions-v1.ts';
import { definitionValidation } from '../apiextensions/custom-resource-definitions.ts';
import type { OlderKind } from './declare.ts';
import { typesIn } from './types.ts';

const { jsonPath, ...column } = v1.CustomResourceColumnDefinition.fields;
const { group, names, scope, conversion } = v1.CustomResourceDefinitionSpec.fields;
const { strategy } = v1.CustomResourceConversion.fields;
const columns: Fields = { ...column, JSONPath: jsonPath };

const v1beta1 = typesIn('apiextensions/v1beta1', {
  CustomResourceColumnDefinition: columns,
  CustomResourceConversion: {
    strategy,
    webhookClientConfig: field(2, v1.WebhookClientConfig, { nullable: true }),
    conversionReviewVersions: field(3, list(string), { listType: 'atomic' }),
  },
  CustomResourceDefinitionSpec: {
    group,
    version: field(2, string),
    names,
    scope,
    validation: field(5, v1.CustomResourceValidation, { nullable: true }),
    subresources: field(6, v1.CustomResourceSubresources, { nullable: true }),
    versions: field(7, list(v1.CustomResourceDefinitionVersion), { listType: 'atomic' }),
    additionalPrinterColumns: field(8, list(v1.CustomResourceColumnDefinition), { listType: 'atomic' }),
    conversion,
    preserveUnknownFields: field(10, bool, { nullable: true }),
  },
});

/** Fields of each version that the definition has where they are the same in all versions, with their names there. */
const shared = {
  schema: 'validation',
  subresources: 'subresources',
  additionalPrinterColumns: 'additionalPrinterColumns',
} as const;
const sharedFields = Object.entries(shared);

const listOf = (value: Json | undefined): JsonObject[] => (Array.isArray(value) ? value.filter(isJsonObject) : []);

function toStored(spec: Json): Json {
  if (!isJsonObject(spec)) return spec;
  const { version: _, validation: __, subresources: ___, additionalPrinterColumns: ____, ...rest } = spec;
  const stored: JsonObject = rest;
  if (Array.isArray(spec['versions'])) {
    stored['versions'] = listOf(spec['versions']).map((version) => {
      const own = { ...version };
      for (const [field, top] of sharedFields) if (spec[top] !== undefined) own[field] = spec[top];
      return renameColumns(own, 'JSONPath', 'jsonPath');
    });
  }
  if (isJsonObject(spec['conversion'])) stored['conversion'] = conversionToStored(spec['conversion']);
  return stored;
}

function toOlder(spec: Json): Json {
  if (!isJsonObject(spec)) return spec;
  const versions = listOf(spec['versions']);
  const [first] = versions;
  const alike = sharedFields.filter(([field]) => versions.every((one) => jsonEqual(one[field], first?.[field])));
  const older: JsonObject = { ...spec, preserveUnknownFields: spec['preserveUnknownFields'] ?? false };
  if (first !== undefined) {
    older['version'] = first['name'] ?? '';
    for (const [field, top] of alike) if (first[field] !== undefined) older[top] = first[field];
    older['versions'] = versions.map((version) => {
      const own = { ...version };
      for (const [field] of alike) delete own[field];
      return renameColumns(own, 'jsonPath', 'JSONPath');
    });
  }
  if (isJsonObject(spec['conversion'])) older['conversion'] = conversionToOlder(spec['conversion']);
  return renameColumns(older, 'jsonPath', 'JSONPath');
}

function renameColumns(holder: JsonObject, from: string, to: string): JsonObject {
  if (!Array.isArray(holder['additionalPrinterColumns'])) return holder;
  const renamed = listOf(holder['additionalPrinterColumns']).map(({ [from]: path, ...rest }) =>
    path === undefined ? rest : { ...rest, [to]: path },
  );
  return { ...holder, additionalPrinterColumns: renamed };
}

function conversionToStored({ webhookClientConfig, conversionReviewVersions, ...rest }: JsonObject): JsonObject {
  if (webhookClientConfig === undefined && conversionReviewVersions === undefined) return rest;
  return {
    ...rest,
    webhook: {
      ...(webhookClientConfig === undefined ? {} : { clientConfig: webhookClientConfig }),
      ...(conversionReviewVersions === undefined ? {} : { conversionReviewVersions }),
    },
  };
}

function conversionToOlder({ webhook, ...rest }: JsonObject): JsonObject {
  const { clientConfig, conversionReviewVersions } = isJsonObject(webhook) ? webhook : {};
  return {
    ...rest,
    ...(clientConfig === undefined ? {} : { webhookClientConfig: clientConfig }),
    ...(conversionReviewVersions === undefined ? {} : { conversionReviewVersions }),
  };
}

function setDefaults({ spec }: ApiObject): void {
  if (!isJsonObject(spec)) return;
  spec['scope'] ||= 'Namespaced';
  spec['preserveUnknownFields'] ??= true;
  if (listOf(spec['versions']).length === 0 && spec['version']) {
    spec['versions'] = [{ name: spec['version'], served: true, storage: true }];
  }
  const name = listOf(spec['versions'])[0]?.['name'];
  if (name) spec['version'] ||= name;
  const conversion = spec['conversion'];
  if (isJsonObject(conversion) && conversion['strategy'] === 'Webhook') {
    conversion['conversionReviewVersions'] ??= ['v1beta1'];
  }
}

/** A definition has each of the fields of versions either at the top or in versions that differ. */
function check({ spec }: ApiObject): FieldError[] {
  const { version, versions: sent, ...top } = isJsonObject(spec) ? spec : {};
  const versions = listOf(sent);
  const errors: FieldError[] = [];
  const [first] = versions;
  if (first !== undefined && (version ?? '') !== (first['name'] ?? '')) {
    errors.push(fieldError.invalid('spec.version', version ?? '', 'must match the first version in spec.versions'));
  }
  for (const [field, topField] of sharedFields) {
    if (top[topField] !== undefined && versions.some((one) => one[field] !== undefined)) {
      errors.push(fieldError.forbidden(`spec.${topField}`, 'top-level and per-version values are mutually exclusive'));
    } else if (first?.[field] !== undefined && versions.every((one) => jsonEqual(one[field], first[field]))) {
      const why = `per-version values of ${field} may not all be identical; use spec.${topField} instead`;
      errors.push(fieldError.forbidden('spec.versions', why));
    }
  }
  return errors;
}

const validation = definitionValidation({
  missingSchemas: true,
  nonStructural: true,
  preserveUnknownFields: true,
  noDefault: 'in v1beta1',
});

export const apiextensions: readonly OlderKind[] = [
  {
    group: 'apiextensions.{domain}',
    plural: 'customresourcedefinitions',
    versions: [
      {
        version: 'v1beta1',
        schema: v1beta1(v1.CustomResourceDefinition),
        lifecycle: { introduced: '1.7', deprecated: '1.16', removed: '1.22' },
        changes: [{ older: 'spec', toStored, toOlder }],
        defaults: setDefaults,
        check,
        strategy: (ofKind) => ({
          ...ofKind,
          validateInSteps: validation as unknown as Strategy['validateInSteps'] & object,
        }),
      },
    ],
  },
];
