import { type ApiObject, formatTime, type Random, type Steps, statusError } from '../../../meta/index.ts';
import type { Change } from '../../types.ts';
import { decodeBody } from '../body.ts';
import type { Candidate, WriteRequest } from '../write-request.ts';
import { resetStatus } from './content.ts';
import { defaultNamespace, storedMetadata } from './metadata.ts';

/** The candidate of a create: the object of the body as a new object. @throws StatusError */
export function* createCandidate(
  request: WriteRequest,
  { object }: Change & { readonly verb: 'create' },
): Steps<Candidate> {
  const { registry, target, options } = request;
  return newCandidate(request, yield* decodeBody(registry, target, object, options));
}

/** A new object with the metadata that the server sets. @throws StatusError */
export function newCandidate({ registry, target, context }: WriteRequest, object: ApiObject): Candidate {
  const { resource } = target;
  const { strategy, terminating } = resource.definition;
  const { metadata } = object;
  defaultNamespace(target, metadata);
  if (terminating === true) {
    const why = 'create not allowed while custom resource definition is terminating';
    throw statusError.forbidden(resource.id, metadata.name ?? '', why);
  }
  const generated = (metadata.name ?? '') === '' && (metadata.generateName ?? '') !== '';
  object.metadata = storedMetadata(metadata, {
    name: generated ? generateName(registry.random, metadata.generateName ?? '') : metadata.name,
    generation: strategy.generation === true ? 1 : metadata.generation,
    uid: registry.random.uuid(),
    creationTimestamp: formatTime(context.now),
    deletionTimestamp: undefined,
    deletionGracePeriodSeconds: undefined,
  });
  resetStatus(resource, object);
  return { object, remove: false, generated };
}

const nameLetters = 'bcdfghjklmnpqrstvwxz2456789';

function generateName(random: Random, base: string): string {
  let name = base.slice(0, 58);
  for (let i = 0; i < 5; i++) name += nameLetters[random.integer(nameLetters.length)];
  return name;
}
