/** Authenticators, authorizers, and the handlers of authentication and authorization reviews. */
export { anonymous, certificateAuthenticator, tokenAuthenticator, unionAuthenticator } from './authenticate.ts';
export {
  alwaysAllowAuthorizer,
  alwaysDenyAuthorizer,
  discoveryAuthorizer,
  mastersAuthorizer,
  selfReviewAuthorizer,
  unionAuthorizer,
} from './authorize.ts';
export { bootstrapPolicy, type PolicyObject } from './bootstrap-policy/policy.ts';
export { type PolicyStep, reconcilePolicy } from './bootstrap-policy/reconcile.ts';
export { systemAuthenticated, systemMasters, systemUnauthenticated } from './groups.ts';
export { escalationChecks } from './rbac/escalation.ts';
export { rbacAuthorizer } from './rbac/rbac-authorizer.ts';
export { RbacIndex } from './rbac/rbac-index.ts';
export { reviewHandlers } from './reviews.ts';
export { parseTokenFile } from './token-file.ts';
export type { Attributes, Authenticator, Authorizer, WriteCheck } from './types.ts';
