import {
  type ApiObject,
  type FieldError,
  fieldErrors,
  type ObjectMeta,
  pathSegmentName,
  type Steps,
  validateBareFinalizers,
  validateFreeFields,
  validateObjectMeta,
  validateObjectMetaUpdate,
} from '../meta/index.ts';
import { validate } from '../schema/index.ts';
import { partialWriteOf } from './convert.ts';
import type { MetadataChecks } from './definition.ts';
import type { Target } from './types.ts';
import type { WriteRequest } from './write-request.ts';

/** Finalizers that may stand without a domain, the product's own aside. */
const bareFinalizers = ['orphan', 'foregroundDeletion'];

/**
 * What is wrong with an object that is about to be written: with its metadata, by the declaration of its type, and by
 * the rules of its kind. In steps, for the sake of large objects.
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
  const ofMetadata = fieldErrors(() => findMetadataErrors(request, metadata, old));
  yield;
  const declared = fieldErrors(() => validate(object, storageVersion.type));
  yield;
  const partial = partialWriteOf(target);
  if (partial?.type === 'partialUpdate' && old !== undefined) {
    return [...ofMetadata, ...declared, ...fieldErrors(() => partial.partialUpdate.validate(object, old, context))];
  }
  // Kinds know a new object by its having no version: one that it claims to have is not for them to see.
  const claims = old === undefined && metadata.resourceVersion !== undefined;
  const judged = claims ? { ...object, metadata: { ...metadata, resourceVersion: '' } } : object;
  const own = fieldErrors(() => strategy.validate?.(judged, context) ?? []);
  if (old === undefined) return [...ofMetadata, ...declared, ...own];
  yield;
  const ofChange = fieldErrors(() => strategy.validateUpdate?.(object, old, context) ?? []);
  return [...ofMetadata, ...declared, ...own, ...ofChange];
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
  const free = validateFreeFields(metadata);
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
