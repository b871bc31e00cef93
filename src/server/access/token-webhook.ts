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
  | 'authenticationKubeconfig'
  | 'authenticationTokenWebhookConfigFile'
  | 'authenticationTokenWebhookVersion'
  | 'authenticationTokenWebhookCacheTtl'
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

/** How long answers of another API server are cached (ms). */
const delegatedMs = 10_000;

/** The webhook of the settings, or the API server in place of it. @throws StartError */
async function configOf(settings: TokenWebhookSettings, { domain }: Names) {
  const { authenticationKubeconfig: kubeconfig, authenticationTokenWebhookConfigFile: path } = settings;
  if (kubeconfig !== undefined) {
    if (path !== undefined) {
      throw new StartError(
        '--authentication-kubeconfig and --authentication-token-webhook-config-file exclude each other',
      );
    }
    const config = await readWebhookConfig('--authentication-kubeconfig', kubeconfig);
    const url = new URL(`/apis/authentication.${domain}/v1/tokenreviews`, config.url);
    return { config: { ...config, url }, version: 'v1', lifetime: delegatedMs } as const;
  }
  if (path === undefined) return undefined;
  const version = versionOf(settings);
  const config = await readWebhookConfig('--authentication-token-webhook-config-file', path);
  return { config, version, lifetime: settings.authenticationTokenWebhookCacheTtl };
}

/** Opens the token webhook of the settings; undefined without one. @throws StartError */
export async function openTokenWebhook(
  settings: TokenWebhookSettings,
  names: Names,
  audiences: readonly string[],
  { clock, random, log, tokenCounts, webhooks }: TokenWebhookDependencies,
): Promise<TokenAuthenticator | undefined> {
  const configured = await configOf(settings, names);
  if (configured === undefined) return undefined;
  const { config, version, lifetime } = configured;
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
