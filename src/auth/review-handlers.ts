import type { Names, ReviewHandler } from '../meta/index.ts';
import { selfSubjectReview, type TokenReviewOptions, tokenReview } from './authentication-reviews.ts';
import { localAccessReview, selfAccessReview, selfRulesReview, subjectAccessReview } from './authorization-reviews.ts';
import type { Authorizer } from './types.ts';

export interface ReviewOptions extends TokenReviewOptions {
  readonly authorize: Authorizer;
  readonly names: Names;
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
