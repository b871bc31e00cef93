export { type OpenIdProvider, openIdAuthenticator, signingAlgorithms } from './openid.ts';
export { type GetDocument, ProviderKeys } from './provider-keys.ts';
export {
  type TokenReviewVersion,
  tokenReviewVersions,
  tokenWebhookAuthenticator,
} from './token-webhook.ts';
