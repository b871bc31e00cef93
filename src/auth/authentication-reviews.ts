/** The handlers of the reviews of the group authentication: who a user is. */
import {
  aggregateMessages,
  formatTime,
  type ReviewHandler,
  StatusError,
  statusError,
  toUserInfo,
} from '../meta/index.ts';
import { annotateWith } from './tokens/bearer.ts';
import type { Authenticated, TokenAuthenticator } from './types.ts';

/** Handler of SelfSubjectReview: the requester. */
export const selfSubjectReview: ReviewHandler = (posted, { requester, now }) => ({
  ...posted,
  metadata: { creationTimestamp: formatTime(now) },
  status: { userInfo: toUserInfo(requester) },
});

interface TokenReviewSpec {
  readonly token?: string;
  readonly audiences?: readonly string[];
}

/** The error of a token that is not valid, before the reasons of the authenticators that refuse it. */
const invalid = 'invalid bearer token';

export interface TokenReviewOptions {
  readonly authenticateToken: TokenAuthenticator;
  /** The audiences of this API server. */
  readonly audiences: readonly string[];
}

/** Handler of TokenReview: authenticates the token for the audiences of the spec; without any, for those of this server. */
export function tokenReview({ authenticateToken, audiences: serverAudiences }: TokenReviewOptions): ReviewHandler {
  return async (posted, { annotate }) => {
    const { token = '', audiences = [] } = posted['spec'] as TokenReviewSpec;
    if (token === '') throw statusError.badRequest('token is required for TokenReview in authentication');
    let found: Authenticated | undefined;
    let error = invalid;
    try {
      found = await authenticateToken(token, audiences.length === 0 ? serverAudiences : audiences);
    } catch (problem) {
      if (!(problem instanceof StatusError && problem.code === 401)) throw problem;
      error = aggregateMessages([invalid, problem.message]);
    }
    if (found === undefined) return { ...posted, status: { user: {}, error } };
    annotateWith(found, annotate);
    return {
      ...posted,
      status: {
        authenticated: true,
        user: toUserInfo(found.user),
        ...(found.audiences.length === 0 ? {} : { audiences: [...found.audiences] }),
      },
    };
  };
}
