/** Who makes a request, and what they may do: authenticators and authorizers. */
export { anonymous, authenticateInOrder, certificateAuthenticator, tokenAuthenticator } from './authenticate.ts';
export { allowFirst, discoveryAuthorizer, mastersAuthorizer, selfReviewAuthorizer } from './authorize.ts';
export { systemAuthenticated, systemMasters, systemUnauthenticated } from './groups.ts';
export { reviewAnswers } from './reviews.ts';
export { parseTokenFile } from './token-file.ts';
export type { Attributes, Authenticator, Authorizer } from './types.ts';
