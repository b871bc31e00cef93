import { tokenReviewVersions, tokenWebhookAuthenticator } from '../../access/index.ts';
import { cachedAuthenticator, type TokenAuthenticator, type TokenCounts } from '../../auth/index.ts';
import type { Names } from '../../meta/index.ts';
import type { Dependencies, Log } from '../dependencies.ts';
import type { ServerSettings } from '../settings/flags.ts';
import { StartError } from '../start-error.ts';
import type { RegisteredWebhooks } from '../webhooks/registered-webhooks.ts';
import { throttleWarnings } from '../webhooks/throttled-warnings.ts';
import { readWebhookConfig } from '../webhooks/webhook-kubeconfig.ts';
import { withRetries } from '../webhooks/webhook-retries.ts';

export type TokenWebhookSettings = Pick<
  ServerSettings,
  'authenticationTokenWebhookConfigFile' | 'authenticationTokenWebhookVersion' | 'authenticationTokenWebhookCacheTtl'
>;

export interface TokenWebhookDependencies extends Pick<Dependencies, 'clock' | 'random'> {
  readonly log: Pick<Log, 'warn'>;
  readonly tokenCounts: Pick<TokenCounts, 'cache'>;
  readonly webhooks: Pick<RegisteredWebhooks, 'open'>;
}

/** Maximum number of concurrent reviews, and of tokens that wait for a response. */
const maxReviews = 100;
const maxWaiting = 1_000;
/** Delay before the first retry (ms). */
const backoffMs = 500;

/** Opens the token webhook of the settings; undefined without one. @throws StartError */
export async function openTokenWebhook(
  settings: TokenWebhookSettings,
  names: Names,
  audiences: readonly string[],
  { clock, random, log, tokenCounts, webhooks }: TokenWebhookDependencies,
): Promise<TokenAuthenticator | undefined> {
  const { authenticationTokenWebhookConfigFile: path, authenticationTokenWebhookCacheTtl: lifetime } = settings;
  if (path === undefined) return undefined;
  const version = versionOf(settings);
  const config = await readWebhookConfig('--authentication-token-webhook-config-file', path);
  const post = withRetries({ call: webhooks.open(config, maxReviews), backoffMs, clock, random });
  const warn = throttleWarnings(log, clock);
  let waiting = 0;
  const authenticate = tokenWebhookAuthenticator({
    names,
    version,
    audiences,
    post: async (review) => {
      if (waiting === maxWaiting) throw new Error(`${maxWaiting} tokens wait for the webhook already`);
      waiting++;
      try {
        return await post(review);
      } finally {
        waiting--;
      }
    },
    failed: (why) => warn('the token webhook has failed: its tokens are refused', { why }),
  });
  return cachedAuthenticator(authenticate, clock, tokenCounts.cache, { valid: lifetime, unknown: lifetime });
}

function versionOf({ authenticationTokenWebhookVersion: requestedVersion }: TokenWebhookSettings) {
  const version = tokenReviewVersions.find((one) => one === requestedVersion);
  if (version !== undefined) return version;
  const supported = tokenReviewVersions.map((one) => JSON.stringify(one)).join(', ');
  throw new StartError(
    `--authentication-token-webhook-version: unsupported authentication webhook version ${JSON.stringify(requestedVersion)}, supported versions are ${supported}`,
  );
}
