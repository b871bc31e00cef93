import {
  dns1123Subdomain,
  inTurns,
  type JsonObject,
  type Names,
  once,
  qualifiedName,
  quote,
  type Random,
  type RequestTrace,
  type Span,
  StatusError,
  serverTurns,
  statusError,
} from '../../meta/index.ts';
import { RequestValues } from '../expressions/activation.ts';
import { matchesConditions } from '../expressions/match-conditions.ts';
import { matchRequest } from '../matching.ts';
import { isOverdue, overdue, requestMs } from '../request.ts';
import {
  type AdmissionClock,
  type AdmissionRequest,
  type PluginInitializer,
  type ServedKind,
  WebhookFailure,
} from '../types.ts';
import type { Hook } from './configurations.ts';
import { type Answer, BadReview, denial, readAnswerInSteps, writeRequest, writeReview } from './review.ts';

/** The parts of the server that calls of webhooks use. */
export interface Calling
  extends Pick<PluginInitializer, 'names' | 'random' | 'clock' | 'objects' | 'authorizeAccess' | 'webhookFailed'> {
  readonly observer: PluginInitializer['webhookObserver'];
}

/** A webhook has not been called, or has not answered: `failurePolicy` decides. */
class CallFailure extends Error {
  readonly code: number;

  constructor(webhook: string, why: string, code: number) {
    super(`failed calling webhook ${quote(webhook)}: ${why}`);
    this.code = code;
  }
}

class Denied extends Error {
  readonly status: StatusError;

  constructor(status: StatusError) {
    super(status.message);
    this.status = status;
  }
}

/** A request in the version in which a webhook gets it. */
export interface Reviewed {
  readonly as: ServedKind;
  readonly object: JsonObject | undefined;
  readonly oldObject: JsonObject | undefined;
  /** The text of the request. */
  readonly text: () => string;
  /** Its variables in match conditions. */
  readonly values: () => RequestValues;
}

/** Reads the request in a version. @throws StatusError 500 when it cannot be converted */
export async function review(request: AdmissionRequest, as: ServedKind, calling: Calling): Promise<Reviewed> {
  const { versions } = request;
  try {
    const object = await versions.read('object', as);
    const oldObject = await versions.read('oldObject', as);
    const text = once(() => writeRequest(request, as, object, oldObject));
    const authorize = calling.authorizeAccess;
    const values = once(() => new RequestValues({ request, matched: as, object, oldObject, authorize }));
    return { as, object, oldObject, text, values };
  } catch (error) {
    throw statusError.internal(error instanceof Error ? error.message : 'the object cannot be converted', error);
  }
}

/**
 * Matches a request against a webhook: its rules, selectors and conditions. Returns the request as the webhook gets it, or
 * undefined when it does not match. `read` reads the request in a version.
 * @throws StatusError 403 when a match condition fails, 404 when the namespace does not exist
 */
export async function matchHook(
  hook: Hook,
  request: AdmissionRequest,
  read: (as: ServedKind) => Promise<Reviewed>,
  { objects, observer, clock }: Calling,
): Promise<Reviewed | undefined> {
  const as = await matchRequest(hook.match, request, objects);
  if (as === undefined) return undefined;
  const reviewed = await read(as);
  if (hook.conditions === undefined) return reviewed;
  const began = clock.monotonic();
  const outcome = await matchesConditions(await hook.conditions(), reviewed.values());
  const { operation } = request;
  const seconds = (clock.monotonic() - began) / 1_000;
  observer.conditions(
    { name: hook.name, type: hook.type === 'admit' ? 'admit' : 'validate', operation },
    outcome.result,
    seconds,
  );
  if (outcome.result === 'match') return reviewed;
  if (outcome.result === 'no match' || hook.ignoresFailures) return undefined;
  throw statusError.forbidden(request.resource, request.name, outcome.message);
}

/**
 * Calls a webhook, and returns what `use` makes of its answer; undefined when the call fails and failures are ignored. Adds
 * the warnings and audit annotations of the answer.
 * @throws StatusError when it denies the request, or fails
 */
export async function callWebhook<T>(
  hook: Hook,
  request: AdmissionRequest,
  reviewed: Reviewed,
  calling: Calling,
  use: (answer: Answer) => Promise<T>,
): Promise<T | undefined> {
  const { clock, observer, webhookFailed } = calling;
  const { name, type, configuration, ignoresFailures } = hook;
  const { operation } = request;
  const began = clock.monotonic();
  const observe = (code: number, rejected: boolean) =>
    observer.called({ name, type, operation, code, rejected }, (clock.monotonic() - began) / 1_000);
  const refuse = (code: number, cause: 'no_error' | 'calling_webhook_error' | 'apiserver_internal_error') => {
    observer.rejected({ name, type, operation, code, cause });
    observe(code, true);
  };
  const failed = ({ message: why }: Error, ignored: boolean) =>
    webhookFailed({ configuration, webhook: name, why, ignored });
  try {
    const answer = await post(hook, request, reviewed, calling);
    applyWarnings(answer, hook, request);
    if (!answer.allowed) throw new Denied(denial(name, answer.status));
    const used = await use(answer);
    observe(200, false);
    return used;
  } catch (error) {
    if (error instanceof Denied) {
      refuse(error.status.code, 'no_error');
      throw error.status;
    }
    if (!(error instanceof CallFailure)) {
      refuse(0, 'apiserver_internal_error');
      if (error instanceof StatusError && error.code >= 500) failed(error, false);
      throw error;
    }
    if (isOverdue(request, clock)) {
      refuse(error.code, 'calling_webhook_error');
      failed(error, false);
      throw overdue();
    }
    failed(error, ignoresFailures);
    if (!ignoresFailures) {
      refuse(error.code, 'calling_webhook_error');
      throw statusError.internal(error.message);
    }
    observe(error.code, false);
    observer.failedOpen({ name, type });
    return undefined;
  }
}

const dryRunEffects: readonly (string | undefined)[] = ['None', 'NoneOnDryRun'];

/** Posts the review, and reads the answer. @throws CallFailure */
async function post(
  { name, type, call, configuration, sideEffects, reviewVersion: version, timeoutMs }: Hook,
  request: AdmissionRequest,
  { text }: Reviewed,
  { names, random, clock }: { readonly names: Names; readonly random: Random; readonly clock: AdmissionClock },
): Promise<Answer> {
  if (request.dryRun) {
    if (sideEffects === undefined) throw new CallFailure(name, 'Webhook SideEffects is nil', 400);
    if (!dryRunEffects.includes(sideEffects)) {
      throw statusError.badRequest(`admission webhook ${quote(name)} does not support dry run`);
    }
  }
  if (version === undefined) {
    const why = 'webhook does not accept known AdmissionReview versions (v1, v1beta1)';
    throw new CallFailure(name, `could not create admission objects: ${why}`, 400);
  }
  const uid = random.uuid();
  const remainingMs = Math.max(1, request.began + requestMs - clock.now());
  const trace = request.stages?.trace;
  const span = trace && beginSpan(trace, request, { name, type, configuration, uid });
  try {
    const review = writeReview(version, uid, text(), names);
    const body = await call(review, Math.min(timeoutMs, remainingMs), span?.traceparent);
    const steps = readAnswerInSteps({ version, uid, type }, body, names);
    const answer = await inTurns(steps, request.turns ?? serverTurns());
    span?.end();
    return answer;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    span?.end(error.message);
    const verified = error instanceof BadReview && error.verified;
    const what = verified ? 'received invalid webhook response' : 'failed to call webhook';
    const code = error instanceof WebhookFailure ? error.status : 503;
    throw new CallFailure(name, `${what}: ${error.message}`, code);
  }
}

/** The span of a call, named and described as in the reference server. */
function beginSpan(
  trace: RequestTrace,
  { resource, subresource, operation }: AdmissionRequest,
  { name, type, configuration, uid }: Pick<Hook, 'name' | 'type' | 'configuration'> & { readonly uid: string },
): Span {
  return trace.begin(type === 'admit' ? 'Call mutating webhook' : 'Call validating webhook', {
    configuration,
    webhook: name,
    subresource,
    operation,
    UID: uid,
    resource: `${resource.group}/${resource.version}, Resource=${resource.resource}`,
  });
}

/** How many audit annotations of one answer are kept. */
const maxAnnotations = 100;

/** Adds the warnings and audit annotations of an answer to those of the request. */
function applyWarnings(
  { warnings, auditAnnotations }: Answer,
  { name }: Hook,
  { warn, annotate }: AdmissionRequest,
): void {
  for (const warning of warnings) warn(warning);
  if (annotate === undefined) return;
  for (const [key, value] of Object.entries(auditAnnotations).slice(0, maxAnnotations)) {
    if (isAnnotationKey(`${name}/${key}`)) annotate(`${name}/${key}`, value);
  }
}

/** A domain, a slash and a name. */
function isAnnotationKey(key: string): boolean {
  const slash = key.indexOf('/');
  return (
    dns1123Subdomain(key.slice(0, slash)).length === 0 &&
    qualifiedName(key.slice(slash + 1)).length === 0 &&
    !key.includes('/', slash + 1)
  );
}

/** A webhook's answer that cannot be used, as if it had not answered. */
export const unusable = ({ name }: Hook, why: string): Error => new CallFailure(name, why, 503);
