import {
  type ApiObject,
  boundedFindings,
  type FieldError,
  type ObjectMeta,
  pathSegmentName,
  type Steps,
  validateBareFinalizers,
  validateObjectMeta,
  validateObjectMetaUpdate,
} from '../meta/index.ts';
import { validate } from '../schema/index.ts';
import type { Job } from './job.ts';
import type { Target } from './types.ts';

/** Finalizers that may stand without a domain, the product's own aside. */
const bareFinalizers = ['orphan', 'foregroundDeletion'];

/**
 * What is wrong with an object that is about to be written: with its metadata, by the declaration of its type, and by
 * the rules of its kind. In steps, for the sake of large objects.
 */
export function* findErrors(job: Job, object: ApiObject, old: ApiObject | undefined): Steps<readonly FieldError[]> {
  const { target, context } = job;
  const { definition, storageVersion } = target.resource;
  const { strategy } = definition;
  const { metadata } = object;
  const ofMetadata = boundedFindings(() => findMetadataErrors(job, metadata, old));
  yield;
  const declared = boundedFindings(() => validate(object, storageVersion.type));
  yield;
  const part = partOf(target);
  if (part?.validate !== undefined && old !== undefined) {
    return [...ofMetadata, ...declared, ...boundedFindings(() => part.validate?.(object, old, context) ?? [])];
  }
  // Kinds know a new object by its having no version: one that it claims to have is not for them to see.
  const claims = old === undefined && metadata.resourceVersion !== undefined;
  const judged = claims ? { ...object, metadata: { ...metadata, resourceVersion: '' } } : object;
  const own = boundedFindings(() => strategy.validate?.(judged, context) ?? []);
  if (old === undefined) return [...ofMetadata, ...declared, ...own];
  yield;
  const ofChange = boundedFindings(() => strategy.validateUpdate?.(object, old, context) ?? []);
  return [...ofMetadata, ...declared, ...own, ...ofChange];
}

function findMetadataErrors({ core, target }: Job, metadata: ObjectMeta, old: ApiObject | undefined): FieldError[] {
  const { strategy, namespaced } = target.resource.definition;
  const { nameRule } = strategy;
  const standard = strategy.bareFinalizers ? {} : { finalizerNames: [...bareFinalizers, core.names.product] };
  if (old === undefined)
    return validateObjectMeta(metadata, { namespaced, ...standard, ...(nameRule && { nameRule }) });
  const ofChange = validateObjectMetaUpdate(metadata, old.metadata);
  return [
    ...validateObjectMeta(metadata, { namespaced, nameRule: pathSegmentName }),
    // Told twice over: once about any object, once about this kind.
    ...ofChange,
    ...ofChange,
    ...validateBareFinalizers(metadata.finalizers ?? [], standard.finalizerNames),
  ];
}

const partOf = ({ resource, subresource }: Target) =>
  subresource === '' ? undefined : resource.subresources.get(subresource)?.declared.part;
