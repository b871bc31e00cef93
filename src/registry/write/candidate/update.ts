import type { ApiObject, Steps } from '../../../meta/index.ts';
import { partialWriteOf, projectionOf } from '../../resource/target.ts';
import type { Change } from '../../types.ts';
import { decodeBody } from '../body.ts';
import type { Candidate, WriteRequest } from '../write-request.ts';
import { copyObject, restoreStatus, withPart } from './content.ts';
import { newCandidate } from './create.ts';
import { checkNamespaceAndName, checkUid, checkVersion, notFound, storedMetadata } from './metadata.ts';

/** The candidate of an update, which may create the object if its kind allows it. @throws StatusError */
export function* updateCandidate(
  request: WriteRequest,
  { object }: Change & { readonly verb: 'update' },
  old: ApiObject | undefined,
): Steps<Candidate> {
  const { registry, target, options } = request;
  const body = yield* decodeBody(registry, target, object, options);
  checkNamespaceAndName(target, body.metadata);
  if (old !== undefined) {
    if (projectionOf(target) === undefined) checkUid(target, body.metadata, old);
    return yield* replacedCandidate(request, body, old);
  }
  if (target.resource.definition.strategy.createOnUpdate !== true || target.subresource !== '') throw notFound(target);
  checkUid(target, body.metadata, undefined);
  body.metadata.resourceVersion = '';
  return newCandidate(request, body);
}

/** The stored object replaced by `sent`, as far as the request writes it. @throws StatusError 409, 422 */
export function* replacedCandidate(
  { target, context }: WriteRequest,
  sent: ApiObject,
  old: ApiObject,
): Steps<Candidate> {
  const remove = false;
  const generated = false;
  if (projectionOf(target) !== undefined) {
    return { object: yield* copyObject(old), projection: sent, remove, generated };
  }
  const { metadata } = sent;
  const stored = old.metadata;
  checkVersion(target, metadata, stored);
  const next = storedMetadata(metadata, {
    uid: metadata.uid || stored.uid,
    resourceVersion: stored.resourceVersion,
    generation: stored.generation,
    creationTimestamp: metadata.creationTimestamp ?? stored.creationTimestamp,
    // A deletion cannot be undone.
    deletionTimestamp: stored.deletionTimestamp ?? metadata.deletionTimestamp,
    deletionGracePeriodSeconds: metadata.deletionGracePeriodSeconds ?? stored.deletionGracePeriodSeconds,
  });
  const partial = partialWriteOf(target);
  if (partial !== undefined) {
    return { object: yield* withPart(partial, old, sent, next, context), remove, generated };
  }
  sent.metadata = next;
  yield* restoreStatus(target.resource, sent, old);
  return { object: sent, remove, generated };
}
