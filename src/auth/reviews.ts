import { formatTime, type Names, StatusError, statusError, type User } from '../meta/index.ts';
import { localAccessReview, selfAccessReview, selfRulesReview, subjectAccessReview } from './access-reviews.ts';
import { systemUnauthenticated } from './groups.ts';
import type { Authenticator, Authorizer, ReviewHandler } from './types.ts';
import { userInfoOf } from './user-info.ts';

export interface ReviewOptions {
  readonly authenticate: Authenticator;
  readonly authorize: Authorizer;
  readonly names: Names;
  /** The audiences of this API server. */
  readonly audiences: readonly string[];
}

/** The handlers of all reviews, by resource, such as `tokenreviews.authentication.example.org`. */
export function reviewHandlers(options: ReviewOptions): ReadonlyMap<string, ReviewHandler> {
  const { authorize, names } = options;
  const authentication = `authentication.${names.domain}`;
  const authorization = `authorization.${names.domain}`;
  return new Map([
    [`selfsubjectreviews.${authentication}`, selfSubjectReview],
    [`tokenreviews.${authentication}`, tokenReview(options)],
    [`subjectaccessreviews.${authorization}`, subjectAccessReview(authorize, authorization)],
    [`localsubjectaccessreviews.${authorization}`, localAccessReview(authorize, authorization)],
    [`selfsubjectaccessreviews.${authorization}`, selfAccessReview(authorize, authorization)],
    [`selfsubjectrulesreviews.${authorization}`, selfRulesReview(authorize)],
  ]);
}

const selfSubjectReview: ReviewHandler = (posted, { requester, now }) => ({
  ...posted,
  metadata: { creationTimestamp: formatTime(now) },
  status: { userInfo: userInfoOf(requester) },
});

interface TokenReviewSpec {
  readonly token?: string;
  readonly audiences?: readonly string[];
}

/** Authenticates the token for the audiences of the spec; without any, for those of this server. */
function tokenReview({ authenticate, audiences }: ReviewOptions): ReviewHandler {
  return async (posted) => {
    const { token = '', audiences: requestedAudiences = [] } = posted['spec'] as TokenReviewSpec;
    if (token === '') throw statusError.badRequest('token is required for TokenReview in authentication');
    const commonAudiences =
      requestedAudiences.length === 0
        ? audiences
        : audiences.filter((audience) => requestedAudiences.includes(audience));
    const user =
      requestedAudiences.length > 0 && commonAudiences.length === 0
        ? undefined
        : await authenticateToken(authenticate, token);
    if (user === undefined) return { ...posted, status: { user: {}, error: 'invalid bearer token' } };
    return {
      ...posted,
      status: {
        authenticated: true,
        user: userInfoOf(user),
        ...(commonAudiences.length === 0 ? {} : { audiences: [...commonAudiences] }),
      },
    };
  };
}

/** The user of a token; undefined when it is invalid or would only authenticate as anonymous. */
async function authenticateToken(authenticate: Authenticator, token: string): Promise<User | undefined> {
  try {
    const user = await authenticate({ authorization: `Bearer ${token}`, certificate: undefined });
    return user?.groups.includes(systemUnauthenticated) === true ? undefined : user;
  } catch (error) {
    if (error instanceof StatusError && error.code === 401) return undefined;
    throw error;
  }
}
