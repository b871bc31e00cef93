/** Validation of custom resource definitions, except for their schemas. */
import {
  caBundleProblem,
  maxVersions,
  structuralInSteps,
  validateApproval,
  validateDefaults,
  validatePatterns,
} from '../../extensions/index.ts';
import {
  dns1035Label,
  dns1123Subdomain,
  type FieldError,
  fieldError,
  fieldErrorsInSteps,
  type JsonObject,
  type Names,
  type Steps,
} from '../../meta/index.ts';
import type { Infer, ObjectOf } from '../../schema/index.ts';
import {
  type CustomResourceConversion,
  type CustomResourceDefinition,
  type CustomResourceDefinitionNames,
  type CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
} from '../../types/apiextensions-v1.ts';
import { byRuleAsOne, eachOf, same, unchanged, validateNamed, validateReviewVersions } from '../shared/field-rules.ts';
import { internalForm } from '../shared/internal-go-form.ts';
import { validateClient } from '../shared/webhook-client.ts';
import { validateColumns, validateScale, validateSelectable } from './custom-resource-versions.validation.ts';
import { validateSchema } from './json-schema.validation.ts';
import { isNonStructural, usesExtensions, validateStructural } from './structural-schema.validation.ts';

type Definition = ObjectOf<typeof CustomResourceDefinition>;
type Spec = CustomResourceDefinitionSpec;
type Version = CustomResourceDefinitionVersion;

/**
 * Errors that validation tolerates in definitions of v1beta1, and in an update where the stored definition has them already.
 */
export interface Tolerance {
  readonly missingSchemas?: boolean;
  /** Where no unknown fields are pruned. */
  readonly nonStructural?: boolean;
  readonly preserveUnknownFields?: boolean;
  /** The reason why no default is accepted, if the stored definition has none. */
  readonly noDefault?: string;
}

/** The errors of a stored definition that an update may keep. */
export function* toleranceOf({ spec = {} }: Definition, names: Names): Steps<Tolerance> {
  const schemas = (spec.versions ?? []).map(({ schema }) => schema?.openAPIV3Schema);
  let nonStructural = false;
  for (const schema of schemas) {
    if (schema === undefined || nonStructural) continue;
    nonStructural = (yield* fieldErrorsInSteps(validateStructural(schema, 'spec', names))).length > 0;
  }
  return {
    missingSchemas: schemas.includes(undefined),
    nonStructural,
    preserveUnknownFields: spec.preserveUnknownFields === true,
  };
}

export function* validateDefinition(
  definition: Definition,
  productNames: Names,
  tolerance: Tolerance,
): Steps<FieldError[]> {
  const { spec = {}, status } = definition;
  const { group = '', names = {} } = spec;
  const errors = group === '' ? [] : byRuleAsOne('spec.group', group, dns1123Subdomain);
  if (group !== '' && errors.length === 0 && !group.includes('.')) {
    errors.push(fieldError.invalid('spec.group', group, 'should be a domain with at least one dot'));
  }
  for (const field of ['plural', 'singular', 'kind', 'listKind'] as const) {
    if (!names[field]) errors.push(fieldError.required(`spec.names.${field}`));
  }
  return [
    ...errors,
    ...(yield* validateVersions(spec, productNames, tolerance)),
    ...validateNames(names, 'spec.names'),
    ...validateConversion(spec),
    ...validateStatus(definition),
    ...validateStored(status?.storedVersions ?? [], spec.versions ?? []),
  ];
}

/** Validates the status, which does not depend on whether the definition was valid when it was stored. */
export const validateStatus = ({ status }: Definition): FieldError[] =>
  validateNames(status?.acceptedNames ?? {}, 'status.acceptedNames');

/** Fields that are reported at the top level when all versions agree, with their names there. */
const shared = {
  schema: 'validation',
  subresources: 'subresources',
  additionalPrinterColumns: 'additionalPrinterColumns',
  selectableFields: 'selectableFields',
} as const;
type Shared = keyof typeof shared;

const isShared = (versions: readonly Version[], field: Shared): boolean =>
  versions.every((version) => same(version[field], versions[0]?.[field]));

/** The versions whose field is validated, and its path in errors. */
export function placesOf(versions: readonly Version[], field: Shared): (readonly [version: Version, path: string])[] {
  return isShared(versions, field)
    ? versions.slice(0, 1).map((version) => [version, `spec.${shared[field]}`])
    : versions.map((version, i) => [version, `spec.versions[${i}].${field}`]);
}

function* validateVersions(spec: Spec, names: Names, tolerance: Tolerance): Steps<FieldError[]> {
  const versions = spec.versions ?? [];
  const path = 'spec.versions';
  if (versions.length > maxVersions) return [fieldError.tooMany(path, versions.length, maxVersions)];
  const errors = [
    ...eachOf(versions, path, ({ schema }, at) =>
      schema?.openAPIV3Schema === undefined && !tolerance.missingSchemas
        ? [fieldError.required(`${at}.schema.openAPIV3Schema`)]
        : [],
    ),
    ...eachOf(versions, path, ({ name = '', deprecated, deprecationWarning: warning }, at) => [
      ...byRuleAsOne(`${at}.name`, name, dns1035Label),
      ...validateWarning(deprecated === true, warning, `${at}.deprecationWarning`),
    ]),
  ];
  const refuse = (why: string) => errors.push(fieldError.invalid(path, spec.versions && shownVersions(versions), why));
  if (new Set(versions.map(({ name }) => name)).size < versions.length) refuse('must contain unique version names');
  if (versions.filter(({ storage }) => storage === true).length !== 1) {
    refuse('must have exactly one version marked as storage version');
  }
  const first = versions[0]?.name ?? '';
  if (first !== '') errors.push(...byRuleAsOne('spec.version', first, dns1035Label));
  const places = (field: Shared) => placesOf(versions, field);
  return [
    ...errors,
    ...(yield* validateSchemas(spec, names, tolerance)),
    ...places('subresources').flatMap(([version, at]) => validateScale(version.subresources?.scale, `${at}.scale`)),
    ...places('additionalPrinterColumns').flatMap(([version, at]) =>
      validateColumns(version.additionalPrinterColumns, at),
    ),
    ...places('selectableFields').flatMap(([version, at]) =>
      validateSelectable(version.selectableFields ?? [], version.schema?.openAPIV3Schema, at),
    ),
  ];
}

/** Schemas, and their defaults where they are valid. */
function* validateSchemas(
  { versions: declared, preserveUnknownFields = false }: Spec,
  names: Names,
  tolerance: Tolerance,
): Steps<FieldError[]> {
  const versions = declared ?? [];
  const errors: FieldError[][] = [];
  const mayBeNonStructural = tolerance.nonStructural === true && preserveUnknownFields;
  const noDefault =
    tolerance.noDefault ?? (preserveUnknownFields ? 'unless preserveUnknownFields is false' : undefined);
  for (const [version, at] of placesOf(versions, 'schema')) {
    const schema = version.schema?.openAPIV3Schema;
    const sharing = isShared(versions, 'schema') ? versions : [version];
    const hasStatus = sharing.some(({ subresources }) => subresources?.status !== undefined);
    if (schema === undefined) continue;
    const path = `${at}.openAPIV3Schema`;
    const ownErrors = [
      ...((yield* isNonStructural(schema)) ? [] : yield* validatePatterns(schema as JsonObject, path)),
      ...(yield* validateSchema(schema, path, names, {
        hasStatus,
        structural: !mayBeNonStructural || (yield* usesExtensions(schema, names)),
        noDefault,
      })),
    ];
    yield;
    if (ownErrors.length > 0) errors.push(ownErrors);
    else if (!mayBeNonStructural && (yield* isNonStructural(schema)))
      // Of the fields that are not structural, the validation above accepts this one alone.
      errors.push([fieldError.invalid(path, '', "OpenAPIV3Schema 'schema' is not supported")]);
    else errors.push(yield* validateDefaults(yield* structuralInSteps(schema as JsonObject, names), path, names));
    yield;
  }
  return errors.flat();
}

/** Versions as errors print them: without the fields that all versions share. */
function shownVersions(versions: readonly Version[]) {
  const alike = (Object.keys(shared) as Shared[]).filter((field) => isShared(versions, field));
  return versions.map((version) => {
    const rest = { ...version };
    for (const field of alike) delete rest[field];
    return internalForm(rest, CustomResourceDefinitionVersion);
  });
}

const MAX_WARNING = 256;

function validateWarning(deprecated: boolean, warning: string | undefined, path: string): FieldError[] {
  if (warning === undefined) return [];
  if (!deprecated) return [fieldError.invalid(path, warning, 'can only be set for deprecated versions')];
  const problems: string[] = [];
  if (Buffer.byteLength(warning) > MAX_WARNING) problems.push(`must be <= ${MAX_WARNING} characters long`);
  if (warning === '') problems.push('must not be an empty string');
  const odd = warning.search(/[\p{C}\p{Zl}\p{Zp}]/u);
  if (odd >= 0) {
    const at = Buffer.byteLength(warning.slice(0, odd));
    problems.push(`must only contain printable UTF-8 characters; non-printable character found at index ${at}`);
  }
  return problems.map((why) => fieldError.invalid(path, warning, why));
}

function validateNames(names: Infer<typeof CustomResourceDefinitionNames>, path: string): FieldError[] {
  const { kind = '', listKind = '' } = names;
  const errors: FieldError[] = [];
  for (const field of ['plural', 'singular'] as const) {
    if (names[field]) errors.push(...byRuleAsOne(`${path}.${field}`, names[field], dns1035Label));
  }
  for (const [field, value] of Object.entries({ kind, listKind })) {
    const problems = value === '' ? [] : dns1035Label(value.toLowerCase());
    if (problems.length === 0) continue;
    const why = `may have mixed case, but should otherwise match: ${problems.join(',')}`;
    errors.push(fieldError.invalid(`${path}.${field}`, value, why));
  }
  if (kind !== '' && kind === listKind) {
    errors.push(fieldError.invalid(`${path}.listKind`, listKind, 'kind and listKind may not be the same'));
  }
  const word = (value: string, at: string) => byRuleAsOne(at, value, dns1035Label);
  return [
    ...errors,
    ...eachOf(names.shortNames, `${path}.shortNames`, word),
    ...eachOf(names.categories, `${path}.categories`, word),
  ];
}

const reviewVersions = ['v1', 'v1beta1'];

function validateConversion({ conversion, preserveUnknownFields }: Spec): FieldError[] {
  if (conversion === undefined) return [];
  const { strategy = '' } = conversion;
  const why = 'must be None if spec.preserveUnknownFields is true';
  return [
    ...(preserveUnknownFields === true && strategy !== 'None'
      ? [fieldError.invalid('spec.conversion.strategy', strategy, why)]
      : []),
    ...validateWebhookConversion(conversion),
  ];
}

function validateWebhookConversion({ strategy, webhook }: Infer<typeof CustomResourceConversion>): FieldError[] {
  const client = 'spec.conversion.webhookClientConfig';
  const path = 'spec.conversion.conversionReviewVersions';
  const versions = webhook?.conversionReviewVersions ?? [];
  if (strategy !== 'Webhook') {
    const why = 'should not be set when strategy is not set to Webhook';
    return [
      ...(webhook?.clientConfig === undefined ? [] : [fieldError.forbidden(client, why)]),
      ...(versions.length === 0 ? [] : [fieldError.forbidden(path, why)]),
    ];
  }
  const errors =
    webhook?.clientConfig === undefined
      ? [fieldError.required(client, 'required when strategy is set to Webhook')]
      : validateClient(webhook.clientConfig, client);
  if (versions.length === 0) return [...errors, fieldError.required(path)];
  errors.push(...validateReviewVersions(versions, path));
  if (versions.some((version) => reviewVersions.includes(version))) return errors;
  return [...errors, fieldError.invalid(path, versions, `must include at least one of ${reviewVersions.join(', ')}`)];
}

/** A bundle may remain invalid, but not become so. */
function validateCaBundle(spec: Spec, old: Spec): FieldError[] {
  const problem = caBundleProblem(spec);
  if (problem === undefined || caBundleProblem(old) !== undefined) return [];
  const path = 'spec.conversion.webhookClientConfig.caBundle';
  const bundle = spec.conversion?.webhook?.clientConfig?.caBundle ?? '';
  return [fieldError.invalid(path, bundle, `unable to load root certificates: ${problem}`)];
}

function validateStored(stored: readonly string[], versions: readonly Version[]): FieldError[] {
  const path = 'status.storedVersions';
  if (stored.length === 0) return [fieldError.invalid(path, null, 'must have at least one stored version')];
  const storedVersions = new Set(stored);
  const errors = versions
    .filter(({ storage, name = '' }) => storage === true && !storedVersions.has(name))
    .map(({ name = '' }) => fieldError.invalid(path, [...stored], `must have the storage version ${name}`));
  const versionNames = new Set(versions.map(({ name }) => name));
  const missing = eachOf(stored, path, (version, at) => {
    if (versionNames.has(version)) return [];
    const why = `missing from spec.versions; ${version} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${version} and removes ${version} from status.storedVersions`;
    return [fieldError.invalid(at, version, why)];
  });
  return [...errors, ...missing];
}

/** Validates what applies on create only. */
export function validateNew({ metadata, spec = {} }: Definition, names: Names, tolerance: Tolerance): FieldError[] {
  const { group = '', names: { plural = '' } = {} } = spec;
  return [
    ...validateNamed(metadata, `${plural}.${group}`, 'must be spec.names.plural+"."+spec.group'),
    ...(tolerance.preserveUnknownFields ? [] : validatePreserveUnknownFields(spec, names)),
    ...validateApproval(group, metadata, undefined, names),
  ];
}

/** Rejects `preserveUnknownFields: true`. */
function validatePreserveUnknownFields(spec: Spec, { extension }: Names): FieldError[] {
  if (spec.preserveUnknownFields !== true) return [];
  const why = `cannot set to true, set ${extension}preserve-unknown-fields to true in spec.versions[*].schema instead`;
  return [fieldError.invalid('spec.preserveUnknownFields', true, why)];
}

/** Validates an update: group and plural name are immutable, scope and kind too once the definition is established. */
export function validateChange(
  { metadata, spec = {} }: Definition,
  { metadata: oldMetadata, spec: old, status }: Definition,
  names: Names,
  tolerance: Tolerance,
): FieldError[] {
  const conditions = status?.conditions ?? [];
  const established = conditions.some((one) => one.type === 'Established' && one.status === 'True');
  return [
    ...(established ? unchanged('spec.scope', spec.scope, old?.scope) : []),
    ...(established ? unchanged('spec.names.kind', spec.names?.kind, old?.names?.kind) : []),
    ...unchanged('spec.group', spec.group, old?.group),
    ...unchanged('spec.names.plural', spec.names?.plural, old?.names?.plural),
    ...validateCaBundle(spec, old ?? {}),
    ...(tolerance.preserveUnknownFields ? [] : validatePreserveUnknownFields(spec, names)),
    ...validateApproval(spec.group ?? '', metadata, oldMetadata, names),
  ];
}
