import {
  type ApiObject,
  allErrors,
  type FieldError,
  type ObjectMeta,
  pathSegmentName,
  type Steps,
  validateBareFinalizers,
  validateMutableFields,
  validateObjectMeta,
  validateObjectMetaUpdate,
} from '../../meta/index.ts';
import { validateInSteps } from '../../schema/index.ts';
import { partialWriteOf } from '../resource/convert.ts';
import type { MetadataChecks } from '../resource/definition.ts';
import type { Target } from '../types.ts';
import type { WriteRequest } from './write-request.ts';

/** Finalizers that need no domain, in addition to that of the product. */
const bareFinalizers = ['orphan', 'foregroundDeletion'];

/**
 * The field errors of an object that is about to be written: of its metadata, by its schema, and by the validation of
 * its kind. In steps, for large objects.
 */
export function* findErrors(
  request: WriteRequest,
  object: ApiObject,
  old: ApiObject | undefined,
): Steps<readonly FieldError[]> {
  const { target, context } = request;
  const { definition, storageVersion } = target.resource;
  const { strategy } = definition;
  const { metadata } = object;
  const before = [
    ...(yield* allErrors(() => findMetadataErrors(request, metadata, old))),
    ...(yield* validateInSteps(object, storageVersion.type)),
  ];
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
  if (old === undefined) return [...before, ...objectErrors];
  yield;
  const updateErrors = yield* allErrors(() => strategy.validateUpdate?.(object, old, context) ?? []);
  return [...before, ...objectErrors, ...updateErrors];
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
  const ofChange = validateObjectMetaUpdate(metadata, old.metadata, free);
  const [objectChecks, changeChecks] = metadataChecksOf(target);
  return [
    ...ofObject,
    ...ofChange,
    ...repeated(ofObject, objectChecks),
    ...repeated(ofChange, changeChecks),
    ...validateBareFinalizers(metadata.finalizers ?? [], standard.finalizerNames),
  ];
}

const repeated = (errors: readonly FieldError[], times: number): FieldError[] =>
  Array.from({ length: times }, () => errors).flat();

function metadataChecksOf(target: Target): MetadataChecks {
  const partial = partialWriteOf(target);
  if (partial === undefined) return target.resource.definition.strategy.metadataChecks ?? [1, 1];
  return partial.metadataChecks ?? [0, 1];
}
