import { admit, review } from '../admission/index.ts';
import { type ApiObject, atOnce, formatGroupResource, StatusError, statusError } from '../meta/index.ts';
import { dropGated } from '../schema/index.ts';
import { decodeBody } from './body.ts';
import { describeText, storedText } from './bytes.ts';
import { spokenOf } from './convert.ts';
import type { Core } from './core.ts';
import type { Action, ActionCall, Answer } from './definition.ts';
import { placeNamespace } from './draft.ts';
import type { Draft } from './job.ts';
import { metadataOf } from './metadata.ts';
import { objectsOf } from './objects.ts';
import { trackOwners } from './ownership.ts';
import type { Change, Target, WriteOptions, WriteResult } from './types.ts';
import { admissionRequest, readJob } from './write.ts';

/** What is to be done with what is posted to the target; undefined: it is kept, as objects are. */
export function actionOf({ resource, subresource }: Target): Action | undefined {
  return subresource === '' ? resource.definition.act : resource.subresources.get(subresource)?.declared.act;
}

/** Says what is answered to what is posted to the target; undefined: it is no virtual resource. */
export function answerOf({ answers }: Core, { resource, subresource }: Target): Answer | undefined {
  const { definition, id } = resource;
  if (definition.virtual !== true || subresource !== '') return undefined;
  const answer = answers.get(formatGroupResource(id));
  if (answer === undefined) throw new StatusError(501, '', `${definition.plural} is not served by this server`);
  return answer;
}

/** Does what was posted instead of keeping it. */
export async function act(
  core: Core,
  target: Target,
  action: Action,
  change: Posting,
  options: WriteOptions,
): Promise<WriteResult> {
  const { object, call } = await readPosted(core, target, change, options);
  await action(object, call);
  return { created: true, object: undefined, deleted: undefined };
}

/** Answers what was posted instead of keeping it. */
export async function reply(
  core: Core,
  target: Target,
  answer: Answer,
  change: Posting,
  options: WriteOptions,
): Promise<WriteResult> {
  const { format } = target.resource;
  const { object, call } = await readPosted(core, target, change, options);
  const answered = describeText(format, '', storedText(format, await answer(object, call)), 0);
  return { created: true, object: answered, deleted: undefined };
}

type Posting = Change & { readonly verb: 'create' };

interface Posted {
  readonly object: ApiObject;
  readonly call: ActionCall;
}

/** What was posted, admitted and checked. */
async function readPosted(core: Core, target: Target, change: Posting, options: WriteOptions): Promise<Posted> {
  const job = readJob(core, target, change, options);
  const { dryRun, context } = job;
  const object = decodeBody(core, target, change.object, options);
  const { metadata } = object;
  if (target.name !== '' && (metadata.name ?? '') !== target.name) {
    throw statusError.badRequest(`name in URL does not match name in ${spokenOf(target).kind} object`);
  }
  placeNamespace(target, metadata);
  object.metadata = metadataOf(metadata);
  const draft: Draft = { object, remove: false, generated: false };
  if (target.subresource === '') atOnce(trackOwners(job, draft, undefined));
  const request = admissionRequest(job, draft, undefined, []);
  await admit(core.admission, request);
  const { gated } = target.resource;
  if (gated !== undefined && target.subresource === '') dropGated(object, undefined, gated);
  await review(core.admission, request);
  const objects = objectsOf(core, options, dryRun);
  const { namespace } = target;
  const call = { ...context, namespace, name: metadata.name ?? '', dryRun, objects };
  return { object, call };
}
