import {
  aggregateMessages,
  formatTime,
  type Names,
  type ReviewHandler,
  StatusError,
  statusError,
  toUserInfo,
} from '../meta/index.ts';
import { localAccessReview, selfAccessReview, selfRulesReview, subjectAccessReview } from './access-reviews.ts';
import { annotateWith } from './tokens/bearer.ts';
import type { Authenticated, Authorizer, TokenAuthenticator } from './types.ts';

export interface ReviewOptions {
  readonly authenticateToken: TokenAuthenticator;
  readonly authorize: Authorizer;
  readonly names: Names;
  /** The audiences of this API server. */
  readonly audiences: readonly string[];
  /** Answers requests for tokens of service accounts. Absent: none are issued. */
  readonly requestToken?: ReviewHandler;
}

/** The handlers of all reviews and of token requests, by resource, such as `tokenreviews.authentication.example.org`. */
export function reviewHandlers(options: ReviewOptions): ReadonlyMap<string, ReviewHandler> {
  const { authorize, names, requestToken } = options;
  const authentication = `authentication.${names.domain}`;
  const authorization = `authorization.${names.domain}`;
  return new Map<string, ReviewHandler>([
    [`selfsubjectreviews.${authentication}`, selfSubjectReview],
    [`tokenreviews.${authentication}`, tokenReview(options)],
    [`subjectaccessreviews.${authorization}`, subjectAccessReview(authorize, authorization)],
    [`localsubjectaccessreviews.${authorization}`, localAccessReview(authorize, authorization)],
    [`selfsubjectaccessreviews.${authorization}`, selfAccessReview(authorize, authorization)],
    [`selfsubjectrulesreviews.${authorization}`, selfRulesReview(authorize)],
    ...(requestToken === undefined ? [] : [['serviceaccounts/token', requestToken] as const]),
  ]);
}

const selfSubjectReview: ReviewHandler = (posted, { requester, now }) => ({
  ...posted,
  metadata: { creationTimestamp: formatTime(now) },
  status: { userInfo: toUserInfo(requester) },
});

interface TokenReviewSpec {
  readonly token?: string;
  readonly audiences?: readonly string[];
}

/** What an invalid token is told to be, before the reasons for which authenticators refuse it. */
const invalid = 'invalid bearer token';

/** Authenticates the token for the audiences of the spec; without any, for those of this server. */
function tokenReview({ authenticateToken, audiences: serverAudiences }: ReviewOptions): ReviewHandler {
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
