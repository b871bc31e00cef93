export {
  type TokenReviewVersion,
  tokenReviewVersions,
  tokenWebhookAuthenticator,
} from './token-webhook.ts';
