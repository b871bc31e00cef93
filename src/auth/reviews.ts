import { formatTime, type Names, StatusError, statusError, type User } from '../meta/index.ts';
import { localAccessReview, selfAccessReview, selfRulesReview, subjectAccessReview } from './access-reviews.ts';
import { systemUnauthenticated } from './groups.ts';
import type { Authenticator, Authorizer, ReviewHandler } from './types.ts';
import { userInfoOf } from './user-info.ts';

export interface ReviewOptions {
  readonly authenticate: Authenticator;
  readonly authorize: Authorizer;
  readonly names: Names;
  /** How tokens name this server as the one they are meant for. */
  readonly audiences: readonly string[];
}

/** Answers to every kind of review, by resource, such as `tokenreviews.authentication.example.org`. */
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

/** Whose token is it, and is it meant for one of the audiences that are asked about (none: for this server)? */
function tokenReview({ authenticate, audiences }: ReviewOptions): ReviewHandler {
  return async (posted) => {
    const { token = '', audiences: asked = [] } = posted['spec'] as TokenReviewSpec;
    if (token === '') throw statusError.badRequest('token is required for TokenReview in authentication');
    const meant = asked.length === 0 ? audiences : audiences.filter((audience) => asked.includes(audience));
    const user = asked.length > 0 && meant.length === 0 ? undefined : await bearer(authenticate, token);
    if (user === undefined) return { ...posted, status: { user: {}, error: 'invalid bearer token' } };
    return {
      ...posted,
      status: {
        authenticated: true,
        user: userInfoOf(user),
        ...(meant.length === 0 ? {} : { audiences: [...meant] }),
      },
    };
  };
}

/** Who shows the token; undefined when it is wrong, or when its bearer would pass as anonymous. */
async function bearer(authenticate: Authenticator, token: string): Promise<User | undefined> {
  try {
    const user = await authenticate({ authorization: `Bearer ${token}`, certificate: undefined });
    return user?.groups.includes(systemUnauthenticated) === true ? undefined : user;
  } catch (error) {
    if (error instanceof StatusError && error.code === 401) return undefined;
    throw error;
  }
}
