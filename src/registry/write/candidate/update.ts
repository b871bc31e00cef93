import type { ApiObject, Steps } from '../../../meta/index.ts';
import { projectionOf } from '../../resource/target.ts';
import type { Change } from '../../types.ts';
import { decodeBody } from '../body.ts';
import type { Candidate, WriteRequest } from '../write-request.ts';
import { replacedCandidate } from './content.ts';
import { newCandidate } from './create.ts';
import { checkNamespaceAndName, checkUid, notFound } from './metadata.ts';

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
    if (projectionOf(target) === undefined) checkUid(request, body.metadata, old);
    return yield* replacedCandidate(request, body, old);
  }
  if (target.resource.definition.strategy.createOnUpdate !== true || target.subresource !== '') throw notFound(target);
  checkUid(request, body.metadata, undefined);
  body.metadata.resourceVersion = '';
  return newCandidate(request, body);
}
