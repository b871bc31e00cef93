import { flag } from './flag.ts';
import * as type from './flag-types.ts';

/** The flags of the token webhook. */
export const tokenWebhookFlags = {
  authenticationTokenWebhookConfigFile: flag(
    'Identity',
    type.file,
    undefined,
    'A kubeconfig whose current context leads to a webhook, which is asked about bearer tokens that the server does not know (TokenReview). Its server is a URL with https.',
  ),
  authenticationTokenWebhookVersion: flag(
    'Identity',
    type.anyText,
    'v1beta1',
    'The version of the reviews that the webhook is sent, `v1beta1` or `v1`. It must respond with the same.',
  ),
  authenticationTokenWebhookCacheTtl: flag(
    'Identity',
    type.lifetime,
    120_000,
    'How long the webhook is not asked again about a token that it has accepted, or refused without an error. 0: it is asked each time.',
  ),
};
