import { flag } from './flag.ts';
import * as type from './flag-types.ts';

/** The flags of the token webhook. */
export const tokenWebhookFlags = {
  authenticationTokenWebhookConfigFile: flag(
    'Identity',
    type.file,
    undefined,
    'Kubeconfig whose current context is a webhook that authenticates bearer tokens unknown to the server (TokenReview). Its server must be an https URL.',
  ),
  authenticationKubeconfig: flag(
    'Identity',
    type.file,
    undefined,
    'Kubeconfig of an API server that authenticates the bearer tokens unknown to this one (TokenReview), for an extension API server ([aggregation.md](aggregation.md)). In place of a webhook. Without `--requestheader-client-ca-file`, the settings of authenticating proxies are those of this API server.',
  ),
  authenticationTokenWebhookVersion: flag(
    'Identity',
    type.anyText,
    'v1beta1',
    'Version of the TokenReview that the webhook receives and returns: `v1beta1` or `v1`.',
  ),
  authenticationTokenWebhookCacheTtl: flag(
    'Identity',
    type.lifetime,
    120_000,
    'How long responses of the webhook are cached, except for errors. 0 disables the cache.',
  ),
};
