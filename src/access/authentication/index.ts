export { type AuthenticationRules, checkAuthentication } from './configuration.ts';
export {
  type AnonymousAuthConfig,
  type AuthenticationConfiguration,
  authenticationFormat,
} from './configuration-kind.ts';
export { type ConfiguredProvider, configuredProviders } from './configured-providers.ts';
export { DistributedClaims } from './distributed-claims.ts';
export { openIdAuthenticator } from './openid.ts';
export { type GetDocument, ProviderKeys } from './provider-keys.ts';
export { signingAlgorithms } from './signatures.ts';
export {
  type TokenReviewVersion,
  tokenReviewVersions,
  tokenWebhookAuthenticator,
} from './token-webhook.ts';
