import { runMutating, runValidating } from '../../admission/index.ts';
import {
  type ApiObject,
  atOnce,
  formatGroupResource,
  inTurns,
  isLarge,
  type ReviewHandler,
  Stage,
  StatusError,
  serverTurns,
  statusError,
} from '../../meta/index.ts';
import { dropGated } from '../../schema/index.ts';
import { type RegistryContext, turnsOf } from '../context.ts';
import type { CreateCall, CreateHandler } from '../resource/definition.ts';
import { requestKind } from '../resource/target.ts';
import { describeObject } from '../stored/describe.ts';
import type { Change, Target, WriteOptions, WriteResult } from '../types.ts';
import { admissionRequest } from './admit.ts';
import { decodeBody } from './body.ts';
import { defaultNamespace, storedMetadata } from './candidate/metadata.ts';
import { trackManagedFields } from './managed-fields.ts';
import { serverObjects } from './server-objects.ts';
import { type Candidate, readWriteRequest } from './write-request.ts';

/** The handler that carries out what is posted to the target; undefined where it is stored. */
export function createHandlerOf(target: Target): CreateHandler | undefined {
  if (target.subresource === '') return target.resource.definition.onCreate;
  const subresource = target.resource.subresources.get(target.subresource);
  return subresource?.type === 'create' ? subresource.onCreate : undefined;
}

/**
 * The review handler of a virtual resource or of a subresource that is only created; undefined where objects are stored.
 * @throws StatusError 501 when it has none
 */
export function reviewHandlerOf({ reviewHandlers }: RegistryContext, target: Target): ReviewHandler | undefined {
  const { resource, subresource } = target;
  const { virtual, plural } = resource.definition;
  if (subresource === '' ? virtual !== true : resource.subresources.get(subresource)?.type !== 'create')
    return undefined;
  const below = subresource === '' ? '' : `/${subresource}`;
  const handler = reviewHandlers.get(formatGroupResource(resource.id) + below);
  if (handler === undefined) throw new StatusError(501, '', `${plural}${below} is not served by this server`);
  return handler;
}

/** Creates on a target with a create handler: nothing is stored. */
export async function handleCreate(
  registry: RegistryContext,
  target: Target,
  handler: CreateHandler,
  change: Posting,
  options: WriteOptions,
): Promise<WriteResult> {
  const { object, call } = await readPosted(registry, target, change, options, checkName);
  await handler(object, call);
  return { created: true, object: undefined, deleted: undefined };
}

/** Creates on a virtual resource or a subresource: the object that its review handler returns is the result, and nothing is stored. */
export async function handleReview(
  registry: RegistryContext,
  target: Target,
  handler: ReviewHandler,
  change: Posting,
  options: WriteOptions,
): Promise<WriteResult> {
  const { kind, apiVersion } = requestKind(target);
  const stored = target.resource.format;
  const format = target.subresource === '' ? stored : { ...stored, kind, apiVersion, fields: [] };
  const { object, call } = await readPosted(registry, target, change, options);
  const answer = await handler(object, call);
  const describing = describeObject(format, '', answer, 0);
  const answered = isLarge(answer) ? await inTurns(describing, options.turns ?? serverTurns()) : atOnce(describing);
  return { created: true, object: answered, deleted: undefined };
}

type Posting = Change & { readonly verb: 'create' };

/** @throws StatusError 400 unless the posted object has the name of the object whose subresource it is */
function checkName(target: Target, posted: ApiObject): void {
  const subresource = target.resource.subresources.get(target.subresource);
  const nameOf = (subresource?.type === 'create' && subresource.nameOf) || (({ metadata }) => metadata.name ?? '');
  if (target.name === '' || nameOf(posted) === target.name) return;
  throw statusError.badRequest(`name in URL does not match name in ${requestKind(target).kind} object`);
}

interface Posted {
  readonly object: ApiObject;
  readonly call: CreateCall;
}

/** Decodes and admits the posted object. */
async function readPosted(
  registry: RegistryContext,
  target: Target,
  change: Posting,
  options: WriteOptions,
  check: (target: Target, object: ApiObject) => void = () => {},
): Promise<Posted> {
  const request = readWriteRequest(registry, target, change, options);
  const { dryRun, context } = request;
  const turns = turnsOf(options, request.size);
  const decoding = decodeBody(registry, target, change.object, options);
  const object = turns ? await inTurns(decoding, turns) : atOnce(decoding);
  const { metadata } = object;
  defaultNamespace(target, metadata);
  check(target, object);
  // A new object has no uid yet. What is posted to a subresource names the object that it is meant for.
  if (target.subresource === '') delete metadata.uid;
  object.metadata = storedMetadata(metadata);
  const candidate: Candidate = { object, remove: false, generated: false };
  if (target.subresource === '') {
    const tracking = trackManagedFields(request, candidate, undefined);
    if (turns) await inTurns(tracking, turns);
    else atOnce(tracking);
  }
  const attributes = admissionRequest(request, candidate, undefined, []);
  options.stages?.enter(Stage.mutatingAdmission);
  await runMutating(registry.admission, attributes);
  candidate.admitted = true;
  const { gated } = target.resource.writeRules;
  if (gated !== undefined && target.subresource === '') dropGated(object, undefined, gated);
  options.stages?.enter(Stage.validatingAdmission);
  await runValidating(registry.admission, attributes);
  options.stages?.enter(Stage.store);
  if (turns?.over) await turns.next();
  const objects = serverObjects(registry, { ...options, dryRun });
  const { namespace } = target;
  const call = {
    ...context,
    namespace,
    name: target.name === '' ? (metadata.name ?? '') : target.name,
    dryRun,
    objects,
  };
  return { object, call };
}
