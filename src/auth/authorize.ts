import { aggregateMessages, type User } from '../meta/index.ts';
import { systemMasters } from './groups.ts';
import { type Attributes, type Authorizer, type Decision, noOpinion, type Rules } from './types.ts';

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

/** The authorization mode `Node`, which has no opinion yet. It cannot list the rights of a node, as in the reference server. */
export const nodeAuthorizer: Authorizer = Object.assign(() => noOpinion, {
  rulesFor: () => ({
    ...incompleteRules,
    evaluationError: 'node authorizer does not support user rule resolution',
  }),
});

/**
 * The first authorizer in order that allows or denies decides; without one there is no opinion, and the reasons are
 * joined. Rules are concatenated.
 */
export function unionAuthorizer(authorizers: readonly Authorizer[]): Authorizer {
  // Synchronous unless an authorizer returns a promise.
  const authorizeFrom = (
    attributes: Attributes,
    index = 0,
    earlier: readonly string[] = [],
  ): ReturnType<Authorizer> => {
    let reasons = earlier;
    for (let i = index; i < authorizers.length; i++) {
      const decision = authorizers[i]?.(attributes) ?? noOpinion;
      if (decision instanceof Promise) return continueWith(decision, i + 1, attributes, reasons);
      if (decision.allowed || decision.denied === true) return decision;
      if (decision.reason !== '') reasons = [...reasons, decision.reason];
    }
    return reasons.length === 0 ? noOpinion : { allowed: false, reason: reasons.join('\n') };
  };
  const continueWith = async (
    pending: Promise<Decision>,
    index: number,
    attributes: Attributes,
    reasons: readonly string[],
  ): Promise<Decision> => {
    const decision = await pending;
    if (decision.allowed || decision.denied === true) return decision;
    return authorizeFrom(attributes, index, decision.reason === '' ? reasons : [...reasons, decision.reason]);
  };
  return Object.assign(authorizeFrom, {
    rulesFor: (user: User, namespace: string) => unionRules(authorizers, user, namespace),
  });
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
