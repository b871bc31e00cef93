import {
  bootstrapAuthenticator,
  cachedAuthenticator,
  type OpenIdDocument,
  openIdDocuments,
  openIdKeysPath,
  serviceAccountAuthenticator,
  signSecretToken,
  staticTokenAuthenticator,
  type TokenAuthenticator,
  type TokenCounts,
  type TokenObjects,
  type TokenUser,
  tokenRequestHandler,
  unionTokenAuthenticator,
} from '../../auth/index.ts';
import type { SecretToken } from '../../controllers/index.ts';
import type { Names, ReviewHandler } from '../../meta/index.ts';
import type { Backend } from '../backend.ts';
import type { ServerSettings } from '../settings/flags.ts';
import { StartError } from '../start-error.ts';
import type { IdentityProviders } from './identity-providers.ts';
import { openServiceAccountKeys } from './service-account-keys.ts';
import { openTokenWebhook, type TokenWebhookDependencies, type TokenWebhookSettings } from './token-webhook.ts';

/** Authenticates, issues and describes bearer tokens. */
export interface Tokens {
  readonly authenticateToken: TokenAuthenticator;
  /** The audiences of this server. */
  readonly audiences: readonly string[];
  /** Answers requests for tokens of service accounts. */
  readonly requestToken: ReviewHandler;
  /** Signs a service account token for a secret. */
  readonly signSecretToken: (token: SecretToken) => Promise<string>;
  /** Documents about the issuer, by path. */
  readonly openId: ReadonlyMap<string, OpenIdDocument>;
}

export type TokenSettings = TokenWebhookSettings &
  Pick<
    ServerSettings,
    | 'apiAudiences'
    | 'enableBootstrapTokenAuth'
    | 'serviceAccountExtendTokenExpiration'
    | 'serviceAccountIssuer'
    | 'serviceAccountJwksUri'
    | 'serviceAccountKeyFile'
    | 'serviceAccountLookup'
    | 'serviceAccountMaxTokenExpiration'
    | 'serviceAccountSigningKeyFile'
    | 'tlsPrivateKeyFile'
  >;

export interface TokenDependencies extends TokenWebhookDependencies {
  readonly tokenCounts: TokenCounts;
  readonly backend: Pick<Backend, 'store' | 'registry'>;
  /** `host:port` of the listener; empty while the server does not listen. */
  readonly address: () => string;
}

/** The configured issuers of service account tokens, and the audiences of this server. */
export function ownIssuers(settings: Pick<TokenSettings, 'apiAudiences' | 'serviceAccountIssuer'>, names: Names) {
  const { apiAudiences, serviceAccountIssuer: configuredIssuers } = settings;
  const issuers =
    configuredIssuers.length > 0 ? configuredIssuers : [`https://${names.product}.default.svc.cluster.local`];
  return { issuers, audiences: apiAudiences.length > 0 ? apiAudiences : issuers };
}

/**
 * Authenticates static, service account and bootstrap tokens, tokens of identity providers, and tokens that a webhook
 * accepts. @throws StartError
 */
export async function openTokens(
  settings: TokenSettings,
  names: Names,
  staticTokens: readonly TokenUser[],
  providers: Pick<IdentityProviders, 'within'>,
  dependencies: TokenDependencies,
): Promise<Tokens> {
  const { clock, random, backend, address, tokenCounts } = dependencies;
  const { issuers, audiences } = ownIssuers(settings, names);
  const [issuer = ''] = issuers;
  const keys = await openServiceAccountKeys(settings, backend);
  const objects = tokenObjects(dependencies);
  const shared = { names, clock, random, objects, keys, audiences };
  const webhook = await openTokenWebhook(settings, names, audiences, dependencies);
  const serviceAccounts = serviceAccountAuthenticator({
    ...shared,
    issuers,
    lookup: settings.serviceAccountLookup,
    counts: tokenCounts.serviceAccount,
  });
  const bootstrap = settings.enableBootstrapTokenAuth ? [bootstrapAuthenticator(shared)] : [];
  const after = webhook === undefined ? [] : [webhook];
  // Static tokens need no cache.
  const authenticateStatic = staticTokenAuthenticator(staticTokens, audiences);
  const authenticateOther = providers.within((ofProviders) => {
    const all = unionTokenAuthenticator([serviceAccounts, ...bootstrap, ofProviders, ...after]);
    return cachedAuthenticator(all, clock, tokenCounts.cache);
  });
  const keysUri = () =>
    settings.serviceAccountJwksUri ?? `https://${address() || new URL(issuer).host}${openIdKeysPath}`;
  return {
    authenticateToken: (token, requestedAudiences, owner) =>
      authenticateStatic(token, requestedAudiences) ?? authenticateOther(token, requestedAudiences, owner),
    audiences,
    requestToken: tokenRequestHandler({
      ...shared,
      issuer,
      maxExpiration: maxExpirationOf(settings.serviceAccountMaxTokenExpiration),
      extendExpiration: settings.serviceAccountExtendTokenExpiration,
    }),
    signSecretToken: async (token) => signSecretToken((await keys()).signing, token, names),
    openId: openIdDocuments({ issuer, keys, keysUri }),
  };
}

const hourMs = 3_600_000;
const maxExpirationMs = 2 ** 32 * 1000;

/** In seconds; 0 means no limit. @throws StartError */
function maxExpirationOf(ms: number): number {
  if (ms === 0 || (ms >= hourMs && ms <= maxExpirationMs)) return Math.floor(ms / 1000);
  throw new StartError('--service-account-max-token-expiration must be 0, or from 1h to 2^32 seconds');
}

/** The registry objects that tokens refer to. */
function tokenObjects({ log, backend }: TokenDependencies): TokenObjects {
  return {
    get: (resource, namespace, name) => backend.registry.objects.get(resource, namespace, name),
    read: (resource, namespace, name) => backend.registry.objects.read(resource, namespace, name),
    labelSecret: (namespace, name, label, value) => {
      const change = backend.registry.objects.guaranteedUpdate('secrets', namespace, name, ({ metadata }) => {
        metadata.labels = { ...metadata.labels, [label]: value };
      });
      change.catch((error: unknown) => {
        log.warn('failed to write the label for the last use of a token', { namespace, name, error });
      });
    },
  };
}
