/** Authenticators, authorizers, and the handlers of authentication and authorization reviews. */
export { abacAuthorizer } from './abac/abac-authorizer.ts';
export { parsePolicyFile } from './abac/policy-file.ts';
export { anonymousAuthenticator, unionAuthenticator } from './authenticate.ts';
export {
  alwaysAllowAuthorizer,
  alwaysDenyAuthorizer,
  mastersAuthorizer,
  observedAuthorizer,
  unionAuthorizer,
} from './authorize.ts';
export type { PolicyObject } from './bootstrap-policy/objects.ts';
export { bootstrapPolicy } from './bootstrap-policy/policy.ts';
export { type PolicyStep, reconcilePolicy } from './bootstrap-policy/reconcile.ts';
export { certificateAuthenticator, type ExpiryObserver } from './client-certificates.ts';
export { systemAnonymous, systemAuthenticated, systemMasters, systemUnauthenticated } from './groups.ts';
export { nodeAuthorizer } from './node/node-authorizer.ts';
export { NodeGraph } from './node/node-graph.ts';
export { podReferences, volumeReferences } from './node/references.ts';
export { escalationChecks } from './rbac/escalation.ts';
export { rbacAuthorizer } from './rbac/rbac-authorizer.ts';
export { RbacIndex } from './rbac/rbac-index.ts';
export {
  addExtra,
  headerValues,
  identityHeaders,
  type RequestHeaderNames,
  type RequestHeaderSettings,
  requestHeaderAuthenticator,
} from './request-headers.ts';
export { reviewHandlers } from './review-handlers.ts';
export { selectorAttributes } from './selector-attributes.ts';
export { parseTokenFile, type TokenUser } from './token-file.ts';
export { bearerAuthenticator, forServer, staticTokenAuthenticator, unionTokenAuthenticator } from './tokens/bearer.ts';
export { bootstrapAuthenticator } from './tokens/bootstrap.ts';
export { cachedAuthenticator, type TokenLifetimes } from './tokens/cache.ts';
export { emptyTokenCounts, type TokenCounts } from './tokens/counts.ts';
export { type ParsedToken, parseToken } from './tokens/jws.ts';
export {
  type KeySet,
  keySet,
  type SigningKey,
  signingKey,
  verificationKeys,
} from './tokens/keys.ts';
export { type OpenIdDocument, openIdDocuments, openIdKeysPath } from './tokens/openid.ts';
export { signSecretToken } from './tokens/secret-tokens.ts';
export { serviceAccountAuthenticator } from './tokens/service-accounts.ts';
export { tokenRequestHandler } from './tokens/token-request.ts';
export { invalidToken, type TokenObjects } from './tokens/types.ts';
export type {
  Attributes,
  Authenticated,
  Authenticator,
  AuthorizationObserver,
  Authorizer,
  AuthorizerObserver,
  CallResult,
  ClientCertificate,
  Decision,
  SentHeaders,
  TokenAuthenticator,
} from './types.ts';
export { noOpinion } from './types.ts';
