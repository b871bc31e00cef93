import {
  dns1035Label,
  errorsNow,
  type FieldError,
  fieldError,
  isJsonObject,
  type Json,
  type JsonObject,
  type ObjectMeta as Metadata,
  type Names,
  Pace,
  parseGroupVersion,
  pathSegmentName,
  type Steps,
  validateObjectMeta,
} from '../../meta/index.ts';
import { compile } from '../../schema/index.ts';
import { ObjectMeta } from '../../types/meta-v1.ts';
import type { Structural } from '../structural.ts';

/** How many visits the check of the metadata of an embedded resource counts as. */
const metadataVisits = 50;

/** Validates `apiVersion`, `kind` and `metadata` of the embedded resources of a value. */
export function* validateEmbedded(schema: Structural, value: Json, names: Names, path = ''): Steps<FieldError[]> {
  const findings: Found = { names, errors: [], pace: new Pace() };
  yield* check(schema, value, path, findings);
  return findings.errors;
}

interface Found {
  readonly names: Names;
  readonly errors: FieldError[];
  readonly pace: Pace;
}

function* check(schema: Structural, value: Json, path: string, findings: Found): Steps<void> {
  if (!schema.has.embedded) return;
  if (findings.pace.over()) yield;
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items === undefined) return;
    for (let i = 0; i < value.length; i++) yield* check(items, value[i] as Json, `${path}[${i}]`, findings);
  } else if (isJsonObject(value)) {
    const { properties, additionalProperties: additional } = schema;
    if (schema.embeddedResource) {
      // The check of metadata takes as long as that of many other values.
      if (findings.pace.over(metadataVisits)) yield;
      checkEmbedded(value, path === '' ? '' : `${path}.`, findings);
    }
    for (const key in value) {
      const item = value[key] as Json;
      const property = properties.get(key);
      if (property !== undefined) yield* check(property, item, path === '' ? key : `${path}.${key}`, findings);
      else if (typeof additional === 'object') yield* check(additional, item, `${path}[${key}]`, findings);
    }
  }
}

function checkEmbedded(object: JsonObject, prefix: string, { names, errors }: Found): void {
  const { apiVersion, kind, metadata } = object;
  const invalid = (field: string, value: Json, why: string) =>
    errors.push(fieldError.invalid(`${prefix}${field}`, value, why));
  if (apiVersion === undefined) errors.push(fieldError.required(`${prefix}apiVersion`));
  else if (typeof apiVersion !== 'string') invalid('apiVersion', apiVersion, 'must be a string');
  else if (apiVersion === '') invalid('apiVersion', '', 'must not be empty');
  else if (parseGroupVersion(apiVersion) === undefined) {
    invalid('apiVersion', apiVersion, `unexpected GroupVersion string: ${apiVersion}`);
  }
  if (kind === undefined) errors.push(fieldError.required(`${prefix}kind`));
  else if (typeof kind !== 'string') invalid('kind', kind, 'must be a string');
  else if (kind === '') invalid('kind', '', 'must not be empty');
  else {
    const why = dns1035Label(kind.toLowerCase());
    if (why.length > 0) invalid('kind', kind, `may have mixed case, but should otherwise match: ${why.join(',')}`);
  }
  if (metadata !== undefined) checkMetadata(metadata, `${prefix}metadata`, names, errors);
}

/** A name is not required. */
function checkMetadata(metadata: Json, path: string, names: Names, errors: FieldError[]): void {
  let decoded: Metadata;
  try {
    decoded = compile(ObjectMeta, names).decode(metadata ?? {}).value as Metadata;
  } catch (error) {
    errors.push(fieldError.invalid(path, metadata, error instanceof Error ? error.message : String(error)));
    return;
  }
  const { name = '', namespace = '' } = decoded;
  const namedMetadata = name === '' ? { ...decoded, name: 'fakename' } : decoded;
  const rules = { namespaced: namespace !== '', nameRule: pathSegmentName };
  for (const error of errorsNow(validateObjectMeta(namedMetadata, rules, path))) errors.push(error);
}
