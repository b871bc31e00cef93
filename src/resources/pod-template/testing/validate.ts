import {
  type ApiObject,
  errorsNow,
  type FieldError,
  type Json,
  type JsonObject,
  jsonCopy,
  type Names,
  namesFor,
  withoutReplaced,
} from '../../../meta/index.ts';
import type { ResourceDefinition } from '../../../registry/index.ts';
import { compile, validate } from '../../../schema/index.ts';

/** The domain with which the expected messages were recorded. */
export const names: Names = namesFor('k8s.io');
const context = { names, now: Date.UTC(2024, 0, 1) };

/** Reason without `FieldValue`, field and message of a field error. */
export type ReportedError = readonly [reason: string, field: string, message: string];

const schemaOf = ({ versions }: ResourceDefinition) =>
  compile((versions[0] as (typeof versions)[number]).schema, names);

function decode(definition: ResourceDefinition, object: JsonObject): ApiObject {
  const decoded = schemaOf(definition).decode(jsonCopy(object)).value as ApiObject;
  definition.strategy.defaults?.(decoded, context);
  return decoded;
}

/** The object as stored on create, with a UID and defaults; warnings are added to `warnings`. */
export function created(definition: ResourceDefinition, object: JsonObject, warnings = new Set<string>()): ApiObject {
  const { metadata } = object as { metadata?: JsonObject };
  const decoded = decode(definition, { ...object, metadata: { name: 'a', namespace: 'n', uid: 'u', ...metadata } });
  const requester = { name: 'jane', groups: [] };
  definition.strategy.prepareCreate?.(decoded, {
    ...context,
    requester,
    warn: (text: string) => void warnings.add(text),
  });
  return decoded;
}

function fieldErrors(definition: ResourceDefinition, object: ApiObject): readonly FieldError[] {
  const ofKind = errorsNow(definition.strategy.validate?.(object, context) ?? []);
  return [...withoutReplaced(validate(object, schemaOf(definition)), ofKind), ...ofKind];
}

const shown = (errors: readonly FieldError[]): ReportedError[] =>
  errorsNow(errors).map(({ reason, field, message }) => [reason.replace('FieldValue', ''), field, message]);

/** The errors of a create. */
export const validateOnCreate = (definition: ResourceDefinition, object: JsonObject): ReportedError[] =>
  shown(fieldErrors(definition, created(definition, object)));

/** The errors of an update, its status included. */
export function validateOnUpdate(
  definition: ResourceDefinition,
  before: JsonObject,
  after: (object: ApiObject) => void,
): ReportedError[] {
  const old = stored(definition, before);
  const object = decode(definition, changed(old, after));
  definition.strategy.prepareUpdate?.(object, old, context);
  return shown([
    ...fieldErrors(definition, object),
    ...(definition.strategy.validateUpdate?.(object, old, context) ?? []),
  ]);
}

/** An object as stored: it has a resourceVersion. */
function stored(definition: ResourceDefinition, object: JsonObject): ApiObject {
  const old = created(definition, object);
  old.metadata.resourceVersion = '1';
  return old;
}

function changed(old: ApiObject, change: (object: ApiObject) => void): ApiObject {
  const copy = jsonCopy(old as Json) as ApiObject;
  change(copy);
  return copy;
}

/** The warnings of a create. */
export function warningsOnCreate(definition: ResourceDefinition, object: JsonObject): string[] {
  const warnings = new Set<string>();
  const decoded = created(definition, object, warnings);
  return [...warnings, ...(definition.strategy.warnings?.(decoded, undefined, context) ?? [])];
}

/** Messages of the name rules. */
export const wording = {
  label:
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
  subdomain:
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
  qualified:
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
  labelValue:
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
  ip: 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
} as const;
