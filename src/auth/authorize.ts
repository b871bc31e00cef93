import { aggregateMessages, inTurnAfter, scheduler, type User } from '../meta/index.ts';
import { systemMasters } from './groups.ts';
import {
  type Attributes,
  type Authorizer,
  type AuthorizerObserver,
  type Decision,
  noOpinion,
  type Rules,
} from './types.ts';

const allowed: Decision = { allowed: true, reason: '' };

const emptyRules: Rules = { resourceRules: [], nonResourceRules: [], incomplete: false };
const incompleteRules: Rules = { ...emptyRules, incomplete: true };
const allRulesGranted: Rules = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
  incomplete: false,
};

/** The group `system:masters` may do everything. The role `cluster-admin`, which is bound to it, lists its rules. */
export const mastersAuthorizer: Authorizer = Object.assign(
  ({ user: { groups } }: Attributes) => (groups.includes(systemMasters) ? allowed : noOpinion),
  { rulesFor: () => emptyRules },
);

/** The authorization mode `AlwaysAllow`. */
export const alwaysAllowAuthorizer: Authorizer = Object.assign(() => allowed, { rulesFor: () => allRulesGranted });

/** The authorization mode `AlwaysDeny`. It does not prevent another authorizer from allowing, as in the reference server. */
export const alwaysDenyAuthorizer: Authorizer = Object.assign(
  (): Decision => ({ allowed: false, reason: 'Everything is forbidden.' }),
  { rulesFor: () => emptyRules },
);

/** The answers of the authorizers without an opinion so far. */
interface Said {
  readonly reasons: readonly string[];
  readonly errors: readonly string[];
}

const nothingSaid: Said = { reasons: [], errors: [] };

const added = ({ reasons, errors }: Said, { reason, error }: Decision): Said => ({
  reasons: reason === '' ? reasons : [...reasons, reason],
  errors: error === undefined ? errors : [...errors, error],
});

function undecided({ reasons, errors }: Said): Decision {
  const decision: Decision = { allowed: false, reason: reasons.join('\n') };
  return errors.length === 0 ? decision : { ...decision, error: aggregateMessages(errors) };
}

/**
 * The first authorizer in order that allows or denies decides, whatever others before it have failed to do. Without one
 * there is no opinion, and reasons and errors are joined. Rules are concatenated.
 */
export function unionAuthorizer(authorizers: readonly Authorizer[]): Authorizer {
  // Synchronous unless an authorizer returns a promise.
  const authorizeFrom = (attributes: Attributes, index = 0, earlier = nothingSaid): ReturnType<Authorizer> => {
    let said = earlier;
    for (let i = index; i < authorizers.length; i++) {
      const decision = authorizers[i]?.(attributes) ?? noOpinion;
      if (decision instanceof Promise) return continueWith(decision, i + 1, attributes, said);
      if (decision.allowed || decision.denied) return decision;
      if (decision.reason !== '' || decision.error !== undefined) said = added(said, decision);
    }
    return said === nothingSaid ? noOpinion : undecided(said);
  };
  const continueWith = async (pending: Promise<Decision>, index: number, attributes: Attributes, said: Said) => {
    const decision = await inTurnAfter(pending, () => scheduler.turns(attributes.user.name));
    return decision.allowed || decision.denied ? decision : authorizeFrom(attributes, index, added(said, decision));
  };
  return Object.assign(authorizeFrom, {
    rulesFor: (user: User, namespace: string) => unionRules(authorizers, user, namespace),
  });
}

/** Wraps an authorizer to report its decisions to the observer. */
export function observedAuthorizer(authorizer: Authorizer, observer: Pick<AuthorizerObserver, 'decided'>): Authorizer {
  const observe = (decision: Decision): Decision => {
    if (decision.allowed || decision.denied) observer.decided(decision.allowed ? 'allowed' : 'denied');
    return decision;
  };
  const authorize = (attributes: Attributes) => {
    const decision = authorizer(attributes);
    return decision instanceof Promise ? decision.then(observe) : observe(decision);
  };
  return authorizer.rulesFor === undefined ? authorize : Object.assign(authorize, { rulesFor: authorizer.rulesFor });
}

async function unionRules(authorizers: readonly Authorizer[], user: User, namespace: string): Promise<Rules> {
  const all = await Promise.all(
    authorizers.map(async ({ rulesFor }) => rulesFor?.(user, namespace) ?? incompleteRules),
  );
  const errors = all.flatMap(({ evaluationError = '' }) => (evaluationError === '' ? [] : [evaluationError]));
  return {
    resourceRules: all.flatMap(({ resourceRules }) => resourceRules),
    nonResourceRules: all.flatMap(({ nonResourceRules }) => nonResourceRules),
    incomplete: all.some(({ incomplete }) => incomplete),
    ...(errors.length === 0 ? {} : { evaluationError: aggregateMessages(errors) }),
  };
}
