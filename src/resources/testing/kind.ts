/** Runs the strategy and the validation of a kind on one object, without a server. */
import {
  type ApiObject,
  allErrors,
  atOnce,
  type FieldError,
  type Json,
  type JsonObject,
  jsonCopy,
  type Names,
  namesFor,
  withoutReplaced,
} from '../../meta/index.ts';
import { AgeCell, type ResourceDefinition, type WriteContext } from '../../registry/index.ts';
import { compile, validate } from '../../schema/index.ts';

const testNames: Names = namesFor('k8s.io');

export const testContext: WriteContext = {
  names: testNames,
  now: Date.parse('2024-01-02T03:04:05Z'),
  requester: { name: 'jane', uid: 'u1', groups: ['system:authenticated'], extra: { scopes: ['a'] } },
  warn: () => {},
};

const reasons = {
  FieldValueRequired: 'Required',
  FieldValueInvalid: 'Invalid',
  FieldValueDuplicate: 'Duplicate',
  FieldValueNotSupported: 'NotSupported',
  FieldValueForbidden: 'Forbidden',
  FieldValueTooLong: 'TooLong',
  FieldValueTooMany: 'TooMany',
  FieldValueNotFound: 'NotFound',
  FieldValueTypeInvalid: 'TypeInvalid',
  InternalError: 'Internal',
} as const;

/** Field, reason and full message of a field error. */
export type ReportedError = readonly [field: string, reason: (typeof reasons)[keyof typeof reasons], message: string];

/** An object without its kind; metadata may be incomplete. */
export interface Fragment extends JsonObject {
  metadata?: JsonObject;
}

/** A test case: title, object to create, expected errors. */
export type Row = [title: string, fragment: Fragment, ...expected: ReportedError[]];
/** A test case with its kind. */
export type KindRow = [title: string, kind: ResourceDefinition, fragment: Fragment, ...expected: ReportedError[]];

function decode({ versions, storage, kind, namespaced }: ResourceDefinition, fragment: JsonObject): ApiObject {
  const version = versions.find((one) => one.version === storage.version);
  if (version === undefined) throw new Error(`no storage version of ${kind}`);
  const { value } = compile(version.schema, testNames).decode({
    kind,
    ...fragment,
    metadata: { name: 'x', ...(namespaced ? { namespace: 'ns' } : {}), ...(fragment['metadata'] as JsonObject) },
  });
  return value as ApiObject;
}

function setDefaults({ strategy }: ResourceDefinition, object: ApiObject): void {
  const steps = strategy.defaults?.(object, testContext);
  if (steps) atOnce(steps);
}

/** The object as stored on create: decoded, defaulted and prepared; warnings are added to `warnings`. */
export function created(definition: ResourceDefinition, fragment: JsonObject, warnings = new Set<string>()): ApiObject {
  const object = decode(definition, fragment);
  setDefaults(definition, object);
  definition.strategy.prepareCreate?.(object, { ...testContext, warn: (text: string) => void warnings.add(text) });
  return object;
}

/** The object that an update of `old` by `fragment` stores; both are given as clients send them. */
export function replaced(
  definition: ResourceDefinition,
  old: ApiObject,
  fragment: JsonObject,
  subresource = '',
): ApiObject {
  const { strategy } = definition;
  const sent = decode(definition, fragment);
  const guarded = definition.subresources.some(({ name }) => name === 'status');
  const onlyStatus = subresource === 'status';
  const object = onlyStatus ? jsonCopy(old as JsonObject as ApiObject) : sent;
  if (onlyStatus || guarded) {
    const status = (onlyStatus ? sent : old)['status'];
    if (status === undefined) delete object['status'];
    else object['status'] = jsonCopy(status);
  }
  object.metadata = { ...sent.metadata, resourceVersion: '1' };
  setDefaults(definition, object);
  if (onlyStatus) strategy.prepareStatusUpdate?.(object, old, testContext);
  else strategy.prepareUpdate?.(object, old, testContext);
  return object;
}

/** The errors of an object, or of its update when `old` is given; sorted by field, then message. */
export const fieldErrors = (definition: ResourceDefinition, object: ApiObject, old?: ApiObject): ReportedError[] =>
  sorted(inOrder(definition, object, old));

/** The errors of an object, or of its update, in their order. */
export function inOrder(definition: ResourceDefinition, object: ApiObject, old?: ApiObject): ReportedError[] {
  const { versions, storage, strategy } = definition;
  const version = versions.find((one) => one.version === storage.version);
  if (version === undefined) return [];
  const all = (validation: () => readonly FieldError[]) => atOnce(allErrors(validation));
  const ofKind = all(() => strategy.validate?.(object, testContext) ?? []);
  const errors = [
    ...withoutReplaced(validate(object, compile(version.schema, testNames)), ofKind),
    ...ofKind,
    ...(old === undefined ? [] : all(() => strategy.validateUpdate?.(object, old, testContext) ?? [])),
  ];
  const steps = strategy.validateInSteps?.(object, old, testContext, { found: errors, part: 'whole' });
  if (steps !== undefined) errors.push(...atOnce(steps));
  return errors.map(({ field, reason, message }) => [field, reasons[reason], message]);
}

/** The errors of a create. */
export const onCreate = (definition: ResourceDefinition, fragment: JsonObject): ReportedError[] =>
  fieldErrors(definition, created(definition, fragment));

/** The errors of an update. */
export function onUpdate(
  definition: ResourceDefinition,
  before: JsonObject,
  after: JsonObject,
  subresource = '',
): ReportedError[] {
  const old = created(definition, before);
  old.metadata = { ...old.metadata, resourceVersion: '1' };
  return fieldErrors(definition, replaced(definition, old, after, subresource), old);
}

export const sorted = (errors: readonly ReportedError[]): ReportedError[] =>
  [...errors].sort((a, b) => (`${a[0]} ${a[2]}` < `${b[0]} ${b[2]}` ? -1 : 1));

/** The warnings of a create. */
export function warningsOf(definition: ResourceDefinition, fragment: JsonObject): string[] {
  const warnings = new Set<string>();
  const object = created(definition, fragment, warnings);
  return [...warnings, ...(definition.strategy.warnings?.(object, undefined, testContext) ?? [])];
}

/** The cells of an object by column; the time is that of {@link testContext}. */
export function cellsOf(definition: ResourceDefinition, fragment: Fragment): { [column: string]: Json } {
  const object = decode(definition, fragment);
  const displayed = (cell: Json | AgeCell) =>
    cell instanceof AgeCell ? cell.before + AgeCell.age(cell.time, testContext.now) + cell.after : cell;
  return Object.fromEntries(definition.columns.map(({ name, cell }) => [name, displayed(cell(object, testContext))]));
}
