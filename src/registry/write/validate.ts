import {
  type ApiObject,
  allErrors,
  type CheckedWrite,
  type FieldError,
  fieldError,
  inTurns,
  type ObjectMeta,
  pathSegmentName,
  type Steps,
  serverTurns,
  statusError,
  validateBareFinalizers,
  validateMutableFields,
  validateObjectMeta,
  validateObjectMetaUpdate,
  warningsOf,
  withoutReplaced,
} from '../../meta/index.ts';
import { type DeclarativeRules, validateInSteps } from '../../schema/index.ts';
import type { MetadataChecks } from '../resource/definition.ts';
import { partialWriteOf, strategyOf } from '../resource/target.ts';
import type { Target, ValidationMismatch } from '../types.ts';
import { type Attempt, nameOf, type WriteRequest } from './write-request.ts';

/** Runs the check of the resource's creates and updates. @throws StatusError of the check */
export function runWriteCheck(attempt: Attempt): Promise<void> | undefined {
  const { registry, target } = attempt.request;
  const check = target.subresource === '' ? registry.writeChecks.get(target.resource) : undefined;
  return check?.(checkedWrite(attempt)) ?? undefined;
}

/** The write as checks see it: without a generated name. */
function checkedWrite({ request, candidate: { object, generated }, old }: Attempt): CheckedWrite {
  const { target, options } = request;
  return {
    requester: options.requester,
    namespace: target.namespace,
    requestName: target.name,
    object: generated ? { ...object, metadata: { ...object.metadata, name: '' } } : object,
    oldObject: old,
  };
}

/** Finds the field errors of the candidate. */
export function* findErrors(attempt: Attempt): Steps<void> {
  const { request, candidate, old } = attempt;
  attempt.errors = yield* fieldErrorsOf(request, candidate.object, old);
}

/** Adds the errors of a validation that takes long, which always runs in turns. */
export function findLengthyErrors(attempt: Attempt): Promise<void> | undefined {
  const { request, candidate, old, errors, turns } = attempt;
  const { target, context, options } = request;
  const part = partialWriteOf(target)?.type === 'status' ? 'status' : 'whole';
  const steps = strategyOf(target).validateInSteps?.(candidate.object, old, context, { found: errors, part });
  if (steps === undefined) return undefined;
  return inTurns(steps, turns ?? options.turns ?? serverTurns()).then((lengthy) => {
    attempt.errors = [...errors, ...lengthy];
  });
}

/** @throws StatusError 422 when the candidate has field errors */
export function rejectInvalid(attempt: Attempt): undefined {
  const { request, candidate, errors } = attempt;
  rejectErrors(attempt, reconcileValidation(request, candidate.object, errors));
}

/** Checks the references of a valid object. @throws StatusError 422 */
export function checkReferences(attempt: Attempt): Promise<void> | undefined {
  const { registry, target } = attempt.request;
  const { resource, subresource } = target;
  const check = subresource === '' || subresource === 'status' ? registry.referenceChecks.get(resource) : undefined;
  return check?.(checkedWrite(attempt)).then((errors) => rejectErrors(attempt, errors));
}

function rejectErrors({ request, candidate }: Attempt, errors: readonly FieldError[]): void {
  if (errors.length === 0) return;
  // Field errors are about the storage version, and so is the kind in the message.
  const { storage, kind } = request.target.resource.definition;
  throw statusError.invalid({ group: storage.group, kind }, nameOf(candidate), errors);
}

/** Adds the warnings of the kind to the response. */
export function addWarnings({ request, candidate: { object }, old }: Attempt): undefined {
  const { target, context, options } = request;
  const strategy = strategyOf(target);
  const partial = partialWriteOf(target);
  const warnings = warningsOf(() =>
    partial === undefined
      ? strategy.warnings?.(object, old, context)
      : partial.type === 'status'
        ? strategy.statusWarnings?.(object, context)
        : undefined,
  );
  for (const text of warnings ?? []) options.warn(text);
}

/** Finalizers that need no domain, in addition to that of the product. */
const bareFinalizers = ['orphan', 'foregroundDeletion'];

/** The field errors of an object: of its metadata, by its schema, and by the validation of its kind. */
function* fieldErrorsOf(
  request: WriteRequest,
  object: ApiObject,
  old: ApiObject | undefined,
): Steps<readonly FieldError[]> {
  const { target, context } = request;
  const { storageVersion } = target.resource;
  const strategy = strategyOf(target);
  const { metadata } = object;
  const ofMetadata = yield* allErrors(() => findMetadataErrors(request, metadata, old));
  const bySchema = yield* validateInSteps(object, storageVersion.type);
  const before = [...ofMetadata, ...bySchema];
  yield;
  const partial = partialWriteOf(target);
  if (partial?.type === 'partialUpdate' && old !== undefined) {
    return [...before, ...(yield* allErrors(() => partial.partialUpdate.validate(object, old, context)))];
  }
  const { validateStatusUpdate } = strategy;
  if (partial?.type === 'status' && old !== undefined && validateStatusUpdate !== undefined) {
    return [...before, ...(yield* allErrors(() => validateStatusUpdate(object, old, context)))];
  }
  // Validation tells a new object by its empty resourceVersion: one that a create has set is hidden from it.
  const preset = old === undefined && metadata.resourceVersion !== undefined;
  const validated = preset ? { ...object, metadata: { ...metadata, resourceVersion: '' } } : object;
  const objectErrors = yield* allErrors(() => strategy.validate?.(validated, context) ?? []);
  const ofKind = [...withoutReplaced(bySchema, objectErrors), ...objectErrors];
  // Where the kind does not validate the metadata, a create reports it once all else is valid.
  const metadataLast = old === undefined && ofKind.length > 0 && metadataChecksOf(target).every((count) => count === 0);
  const all = metadataLast ? ofKind : [...ofMetadata, ...ofKind];
  if (old === undefined) return all;
  yield;
  const updateErrors = yield* allErrors(() => strategy.validateUpdate?.(object, old, context) ?? []);
  return [...all, ...updateErrors];
}

function findMetadataErrors(
  { registry, target }: WriteRequest,
  metadata: ObjectMeta,
  old: ApiObject | undefined,
): FieldError[] {
  const { strategy, namespaced } = target.resource.definition;
  const { nameRule } = strategy;
  const standard = strategy.bareFinalizers ? {} : { finalizerNames: [...bareFinalizers, registry.names.product] };
  if (old === undefined)
    return validateObjectMeta(metadata, { namespaced, ...standard, ...(nameRule && { nameRule }) });
  const free = validateMutableFields(metadata);
  const ofObject = validateObjectMeta(metadata, { namespaced, nameRule: pathSegmentName }, 'metadata', free);
  // The name is not checked by the rule of the kind again: it cannot change.
  const byKind =
    (metadata.generateName ?? '') === ''
      ? ofObject
      : validateObjectMeta(metadata, { namespaced, ...(nameRule && { nameRule }) }, 'metadata', free);
  const ofChange = validateObjectMetaUpdate(metadata, old.metadata, free);
  const [objectChecks, changeChecks] = metadataChecksOf(target);
  return [
    ...ofObject,
    ...ofChange,
    ...repeated(byKind, objectChecks),
    ...repeated(ofChange, changeChecks),
    ...repeated(
      validateBareFinalizers(metadata.finalizers ?? [], standard.finalizerNames),
      objectChecks + changeChecks,
    ),
  ];
}

const repeated = (errors: readonly FieldError[], times: number): readonly FieldError[] =>
  errors.length === 0 ? errors : Array.from({ length: times }, () => errors).flat();

function metadataChecksOf(target: Target): MetadataChecks {
  const partial = partialWriteOf(target);
  if (partial === undefined) return target.resource.definition.strategy.metadataChecks ?? [1, 1];
  return partial.metadataChecks ?? [0, 1];
}

/**
 * The field errors that count for an object. For a kind with declarative rules, both validations are compared; for the
 * fields of those rules the handwritten errors count, or the declarative ones with `DeclarativeValidationTakeover`.
 * Subresources have no declarative validation.
 */
function reconcileValidation(
  { registry: { features, observer }, target: { resource, subresource } }: WriteRequest,
  object: ApiObject,
  handwritten: readonly FieldError[],
): readonly FieldError[] {
  const { writeRules, definition } = resource;
  const { declarative: rules } = writeRules;
  if (rules === undefined || subresource !== '') return handwritten;
  const { group, kind } = definition;
  const takesOver = features.DeclarativeValidationTakeover;
  let declarative: readonly FieldError[];
  try {
    declarative = rules.validate(object);
  } catch (error) {
    observer.ruleFailure(kind, error);
    if (!takesOver) return handwritten;
    declarative = [fieldError.internal('', 'a declarative rule failed')];
  }
  for (const mismatch of mismatches(rules, handwritten, declarative)) observer.mismatch({ group, kind, ...mismatch });
  return takesOver ? [...handwritten.filter(({ field }) => !rules.cover(field)), ...declarative] : handwritten;
}

/** Fields whose errors differ in their reasons; number and messages do not matter. */
function mismatches(
  { cover }: DeclarativeRules,
  handwritten: readonly FieldError[],
  declarative: readonly FieldError[],
): Omit<ValidationMismatch, 'group' | 'kind'>[] {
  if (handwritten.length + declarative.length === 0) return [];
  const [handwrittenReasons, declarativeReasons] = [reasonsByField(handwritten), reasonsByField(declarative)];
  return [...new Set([...handwrittenReasons.keys(), ...declarativeReasons.keys()])]
    .filter(cover)
    .map((field) => ({
      field,
      handwritten: [...(handwrittenReasons.get(field) ?? [])].sort(),
      declarative: [...(declarativeReasons.get(field) ?? [])].sort(),
    }))
    .filter((both) => both.handwritten.join() !== both.declarative.join());
}

function reasonsByField(errors: readonly FieldError[]): Map<string, Set<FieldError['reason']>> {
  const found = new Map<string, Set<FieldError['reason']>>();
  for (const { field, reason } of errors) {
    const known = found.get(field) ?? new Set();
    found.set(field, known.add(reason));
  }
  return found;
}
