/** Authorizers by configuration: the configuration file, webhooks and their match conditions. */
export { type Condition, compileCondition } from './conditions.ts';
export {
  type AuthorizationConfiguration,
  authorizationFormat,
  defaultTtls,
  misnamed,
  type WebhookConfiguration,
} from './configuration.ts';
export { type ReviewVersion, reviewVersions } from './review.ts';
export {
  type AuthorizationWebhook,
  CallFailure,
  type WebhookAuthorizerOptions,
  webhookAuthorizer,
} from './webhook-authorizer.ts';
