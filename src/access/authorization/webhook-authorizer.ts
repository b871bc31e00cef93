import {
  type Attributes,
  type Authorizer,
  type AuthorizerObserver,
  type CallResult,
  type Decision,
  noOpinion,
} from '../../auth/index.ts';
import {
  type ByteString,
  type Clock,
  inTurns,
  type JsonObject,
  Lanes,
  type Names,
  peerTurns,
  scheduler,
} from '../../meta/index.ts';
import { type Condition, type Match, matches } from './conditions.ts';
import { type ReviewVersion, reviewBody, reviewSpec, type Verdict, verdictOf } from './review.ts';
import { keyOf, VerdictCache } from './verdict-cache.ts';

/** A call of a webhook that brought no answer. */
export class CallFailure extends Error {
  readonly timedOut: boolean;
  /** The webhook may answer later. */
  readonly mayRecover: boolean;

  constructor(message: string, { timedOut = false, mayRecover = false } = {}) {
    super(message);
    this.timedOut = timedOut;
    this.mayRecover = mayRecover;
  }
}

/** A webhook that decides about requests. */
export interface AuthorizationWebhook {
  readonly version: ReviewVersion;
  /** How long answers that allow, and those that do not, are cached (ms). */
  readonly authorizedMs: number;
  readonly unauthorizedMs: number;
  /** What happens when the webhook fails: the request is denied, or later authorizers decide. */
  readonly failurePolicy: 'NoOpinion' | 'Deny';
  readonly conditions: readonly Condition[];
  /** One attempt: the body of the response. Rejects with a CallFailure, within a time. */
  readonly call: (review: ByteString) => Promise<string>;
}

export interface WebhookAuthorizerOptions {
  readonly names: Names;
  readonly clock: Clock;
  readonly observer: AuthorizerObserver;
  readonly warn: (text: string, fields: { readonly [name: string]: unknown }) => void;
  /** The pauses between attempts (ms): one for each further attempt. */
  readonly pauses: () => readonly number[];
}

/** How many calls there are at a time, and how many questions wait for one. */
const maxCalls = 64;
const maxWaiting = 1_024;
/** Maximum time that a question waits before its call (ms). */
const maxWaitMs = 30_000;
/** A question whose attributes are longer is not kept (characters). */
const maxKeptQuestion = 10_000;

const bothAnswers = 'webhook subject access review returned both allow and deny response';

/**
 * The authorizer of a webhook. Answers are cached until they expire, and equal questions at the same time share one call.
 */
export function webhookAuthorizer(webhook: AuthorizationWebhook, options: WebhookAuthorizerOptions): Authorizer {
  const { clock, observer } = options;
  const denies = webhook.failurePolicy === 'Deny';
  const failed = (error: string): Decision => ({
    allowed: false,
    ...(denies ? { denied: true } : {}),
    reason: '',
    error,
  });
  const cache = new VerdictCache(clock);
  const ask = asking(webhook, options, cache);

  const decide = (attributes: Attributes, spec: JsonObject): Decision | Promise<Decision> => {
    const text = JSON.stringify(spec);
    const key = keyOf(text);
    const known = cache.get(key);
    if (known !== undefined) return decisionOf(known);
    return ask(key, attributes, spec).then(decisionOf, (error: unknown) => {
      if (error instanceof CallFailure) return failed(error.message);
      throw error;
    });
  };
  const concluded = (attributes: Attributes, spec: JsonObject, started: number, match: Match) => {
    observer.matched(match.outcome, (clock.monotonic() - started) / 1_000);
    if (match.outcome === 'error') return failed(match.message);
    return match.outcome === 'match' ? decide(attributes, spec) : noOpinion;
  };
  const authorize = (attributes: Attributes): Decision | Promise<Decision> => {
    const spec = reviewSpec(attributes);
    if (webhook.conditions.length === 0) return decide(attributes, spec);
    const started = clock.monotonic();
    const match = matches(webhook.conditions, spec, () => scheduler.turns(attributes.user.name));
    return match instanceof Promise
      ? match.then((found) => concluded(attributes, spec, started, found))
      : concluded(attributes, spec, started, match);
  };
  return Object.assign(authorize, { rulesFor: () => rules });
}

const rules = {
  resourceRules: [],
  nonResourceRules: [],
  incomplete: true,
  evaluationError: 'webhook authorizer does not support user rule resolution',
};

function decisionOf({ allowed, denied, reason }: Verdict): Decision {
  if (denied) return { allowed: false, denied, reason, ...(allowed ? { error: bothAnswers } : {}) };
  return { allowed, reason };
}

type Ask = (key: string, attributes: Attributes, spec: JsonObject) => Promise<Verdict>;

/** Asks the webhook. Rejects with a CallFailure. */
function asking(webhook: AuthorizationWebhook, options: WebhookAuthorizerOptions, cache: VerdictCache): Ask {
  const { names, clock, warn } = options;
  const { version, authorizedMs, unauthorizedMs } = webhook;
  const pending = new Map<string, Promise<Verdict>>();
  const lanes = new Lanes(maxCalls);
  const askNow: Ask = async (key, attributes, spec) => {
    const body = reviewBody(spec, version, names);
    const verdict = await attempts(webhook, options, body);
    if (lengthOf(attributes) < maxKeptQuestion)
      cache.add(key, verdict, verdict.allowed ? authorizedMs : unauthorizedMs);
    return verdict;
  };
  return (key, attributes, spec) => {
    const pendingAnswer = pending.get(key);
    if (pendingAnswer !== undefined) return pendingAnswer;
    if (pending.size >= maxCalls + maxWaiting) {
      return Promise.reject(new CallFailure('too many reviews wait for the webhook: try again later'));
    }
    const queued = clock.monotonic();
    const asking = lanes
      .run(attributes.user.name, async () => {
        if (clock.monotonic() - queued <= maxWaitMs) return askNow(key, attributes, spec);
        throw new CallFailure('the webhook is too slow: the review has waited for too long', { timedOut: true });
      })
      .catch((error: unknown) => {
        warn('an authorization webhook has failed', { error: error instanceof Error ? error.message : error });
        throw error;
      })
      .finally(() => pending.delete(key));
    pending.set(key, asking);
    return asking;
  };
}

/** The verdict of the first attempt that brings an answer. */
async function attempts(
  { call, version, failurePolicy }: AuthorizationWebhook,
  { names, clock, observer, pauses }: WebhookAuthorizerOptions,
  body: ByteString,
): Promise<Verdict> {
  const waits = pauses();
  for (let attempt = 0; ; attempt++) {
    const started = clock.monotonic();
    const observeCall = (result: CallResult) => observer.called(result, (clock.monotonic() - started) / 1_000);
    try {
      const answer = await call(body);
      const verdict = await inTurns(verdictOf(answer, version, names), peerTurns('authorization webhooks'));
      if (typeof verdict === 'string') throw new CallFailure(verdict);
      observeCall('success');
      return verdict;
    } catch (error) {
      const failure = error instanceof CallFailure ? error : new CallFailure(String(error));
      const result = failure.timedOut ? 'timeout' : 'error';
      observeCall(result);
      const wait = waits[attempt];
      if (!failure.mayRecover || wait === undefined) {
        if (failurePolicy === 'NoOpinion') observer.failedOpen(result);
        throw failure;
      }
      await new Promise<void>((resolve) => {
        clock.after(wait, resolve);
      });
    }
  }
}

/** The length of what the requester chooses of a question, as the reference server counts it. */
function lengthOf({ verb, resource, path }: Attributes): number {
  const {
    namespace = '',
    group = '',
    version = '',
    resource: plural = '',
    subresource = '',
    name = '',
  } = resource ?? {};
  return [verb, path, namespace, group, version, plural, subresource, name].reduce((sum, text) => sum + text.length, 0);
}
