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
import type { Registry } from '../../registry/index.ts';
import type { Store } from '../../store/index.ts';
import type { ServerSettings } from '../settings/flags.ts';
import { StartError } from '../start-error.ts';
import type { IdentityProviders } from './identity-providers.ts';
import { serviceAccountKeysOf } from './service-account-keys.ts';
import { openTokenWebhook, type TokenWebhookDependencies, type TokenWebhookSettings } from './token-webhook.ts';

/** What a server does with bearer tokens. */
export interface Tokens {
  readonly authenticateToken: TokenAuthenticator;
  /** The audiences of this server. */
  readonly audiences: readonly string[];
  /** Answers requests for tokens of service accounts. */
  readonly requestToken: ReviewHandler;
  /** Signs the token of a service account that is kept in a secret. */
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
  /** Store, registry and `host:port` of the listener: called no earlier than in a request. */
  readonly store: () => Store;
  readonly registry: () => Registry;
  readonly address: () => string;
}

/** The issuers of service account tokens, and the audiences of this server, by the settings. */
export function ownIssuers(settings: Pick<TokenSettings, 'apiAudiences' | 'serviceAccountIssuer'>, names: Names) {
  const { apiAudiences, serviceAccountIssuer: given } = settings;
  const issuers = given.length > 0 ? given : [`https://${names.product}.default.svc.cluster.local`];
  return { issuers, audiences: apiAudiences.length > 0 ? apiAudiences : issuers };
}

/**
 * Static, service account and bootstrap tokens, those of identity providers, and those that a webhook knows, by the
 * settings. @throws StartError
 */
export async function tokensOf(
  settings: TokenSettings,
  names: Names,
  staticTokens: readonly TokenUser[],
  providers: Pick<IdentityProviders, 'within'>,
  dependencies: TokenDependencies,
): Promise<Tokens> {
  const { clock, random, store, address, tokenCounts } = dependencies;
  const { issuers, audiences } = ownIssuers(settings, names);
  const [issuer = ''] = issuers;
  const keys = await serviceAccountKeysOf(settings, store);
  const objects = tokenObjects(dependencies);
  const shared = { names, clock, random, objects, keys, audiences };
  const webhook = await openTokenWebhook(settings, names, audiences, dependencies);
  const serviceAccounts = serviceAccountAuthenticator({
    ...{ ...shared, issuers },
    lookup: settings.serviceAccountLookup,
    counts: tokenCounts.serviceAccount,
  });
  const bootstrap = settings.enableBootstrapTokenAuth ? [bootstrapAuthenticator(shared)] : [];
  const after = webhook === undefined ? [] : [webhook];
  // Static tokens need no lookup that would have to be cached.
  const known = staticTokenAuthenticator(staticTokens, audiences);
  const others = providers.within((authenticators) => {
    const all = unionTokenAuthenticator([serviceAccounts, ...bootstrap, ...authenticators, ...after]);
    return cachedAuthenticator(all, clock, tokenCounts.cache);
  });
  const keysUri = () =>
    settings.serviceAccountJwksUri ?? `https://${address() || new URL(issuer).host}${openIdKeysPath}`;
  return {
    authenticateToken: (token, wanted) => known(token, wanted) ?? others(token, wanted),
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
const mostMs = 2 ** 32 * 1000;

/** In seconds; 0: without limit. @throws StartError */
function maxExpirationOf(ms: number): number {
  if (ms === 0 || (ms >= hourMs && ms <= mostMs)) return Math.floor(ms / 1000);
  throw new StartError('--service-account-max-token-expiration must be 0, or from 1h to 2^32 seconds');
}

/** The objects of the registry that tokens are about. */
function tokenObjects({ log, registry }: TokenDependencies): TokenObjects {
  return {
    get: (resource, namespace, name) => registry().objects.get(resource, namespace, name),
    read: (resource, namespace, name) => registry().objects.read(resource, namespace, name),
    labelSecret: (namespace, name, label, value) => {
      const change = registry().objects.guaranteedUpdate('secrets', namespace, name, ({ metadata }) => {
        metadata.labels = { ...metadata.labels, [label]: value };
      });
      change.catch((error: unknown) => {
        log.warn('the label for the last use of a token cannot be written', { namespace, name, error });
      });
    },
  };
}
