import {
  type Authenticator,
  anonymousAuthenticator,
  bearerAuthenticator,
  certificateAuthenticator,
  type ExpiryObserver,
  parseTokenFile,
  type RequestHeaderNames,
  requestHeaderAuthenticator,
  type TokenUser,
  unionAuthenticator,
} from '../../auth/index.ts';
import type { Features, Names } from '../../meta/index.ts';
import type { TrustedAuthorities } from '../certificates/trusted-authorities.ts';
import type { Log } from '../dependencies.ts';
import { permissionProblem } from '../private-files.ts';
import { allowsAnonymous } from '../settings/authorization-modes.ts';
import { resolveFeatures } from '../settings/feature-gates.ts';
import type { Settings } from '../settings/flags.ts';
import { othersPermissions, readSettingFile } from '../settings/read-file.ts';
import { StartError, systemReason } from '../start-error.ts';
import type { ProviderSettings } from './authentication-configuration.ts';
import { type IdentityProviders, openProviders, type ProviderDependencies } from './identity-providers.ts';
import { openTokens, ownIssuers, type TokenDependencies, type TokenSettings, type Tokens } from './tokens.ts';

/** How requests and tokens are authenticated. */
export interface Authentication extends Tokens {
  readonly authenticate: Authenticator;
  /** Aborts requests to identity providers. */
  readonly close: () => Promise<void>;
}

export type AuthenticationSettings = TokenSettings &
  ProviderSettings &
  Pick<
    Settings,
    | 'tokenAuthFile'
    | 'authorizationMode'
    | 'requestheaderAllowedNames'
    | 'requestheaderUsernameHeaders'
    | 'requestheaderUidHeaders'
    | 'requestheaderGroupHeaders'
    | 'requestheaderClientCaFile'
    | 'requestheaderExtraHeadersPrefix'
  >;

/**
 * Authenticates by the headers of authenticating proxies, client certificates and bearer tokens, and serves anonymous
 * requests when they are allowed.
 * @throws StartError
 */
export async function openAuthentication(
  settings: AuthenticationSettings,
  names: Names,
  {
    trusted,
    expiring,
    ...dependencies
  }: TokenDependencies &
    ProviderDependencies & { readonly trusted: TrustedAuthorities; readonly expiring: ExpiryObserver },
): Promise<Authentication> {
  const entries = await readTokens(settings.tokenAuthFile, dependencies.log);
  const providers = await openProviders(settings, names, ownIssuers(settings, names), dependencies);
  const tokens = await openTokens(settings, names, entries, providers, dependencies);
  const features = resolveFeatures(settings.featureGates);
  checkUidHeaders(settings, features);
  const { clock } = dependencies;
  const proxies = requestHeaderAuthenticator({
    pool: trusted.proxies,
    clock,
    allowedNames: settings.requestheaderAllowedNames,
    names: requestHeaderNames(settings),
  });
  const methods = [
    ...(settings.requestheaderClientCaFile === undefined ? [] : [proxies]),
    certificateAuthenticator(names, {
      pool: trusted.clients,
      clock,
      expiring,
      uids: features.AllowParsingUserUIDFromCertAuth,
    }),
    bearerAuthenticator(tokens.authenticateToken, tokens.audiences),
  ];
  const authenticate = unionAuthenticator(methods, anonymousOf(settings, providers.anonymous));
  return { ...tokens, authenticate, close: providers.close };
}

/** The authenticator of requests without credentials, by the flag or the file; undefined when they are rejected. */
function anonymousOf(
  settings: AuthenticationSettings,
  configured: IdentityProviders['anonymous'],
): Authenticator | undefined {
  if (!allowsAnonymous(settings)) return undefined;
  if (configured === undefined) return anonymousAuthenticator();
  if (configured.enabled !== true) return undefined;
  return anonymousAuthenticator(configured.conditions?.map(({ path = '' }) => path));
}

/** The headers of authenticating proxies, in lower case. */
export function requestHeaderNames(settings: AuthenticationSettings): RequestHeaderNames {
  const lower = (headers: readonly string[]) => headers.map((header) => header.toLowerCase());
  return {
    user: lower(settings.requestheaderUsernameHeaders),
    uid: lower(settings.requestheaderUidHeaders),
    group: lower(settings.requestheaderGroupHeaders),
    extraPrefix: lower(settings.requestheaderExtraHeadersPrefix),
  };
}

function checkUidHeaders({ requestheaderUidHeaders: headers }: AuthenticationSettings, features: Features): void {
  if (headers.length === 0) return;
  if (!features.RemoteRequestHeaderUID) {
    throw new StartError('--requestheader-uid-headers needs --feature-gates=RemoteRequestHeaderUID=true');
  }
  if (!headers.some((header) => header.toLowerCase() === 'x-remote-uid')) {
    throw new StartError('--requestheader-uid-headers must have X-Remote-Uid among its headers');
  }
}

/** Reads the static token file. Logs a warning when others may read it. @throws StartError */
async function readTokens(path: string | undefined, log: Pick<Log, 'warn'>): Promise<TokenUser[]> {
  if (path === undefined) return [];
  const text = await readSettingFile('token-auth-file', path);
  const flag = `--token-auth-file=${JSON.stringify(path)}`;
  const problem = await permissionProblem(path, othersPermissions);
  if (problem !== undefined) log.warn(`${flag} ${problem}`, {});
  try {
    return parseTokenFile(text);
  } catch (error) {
    throw new StartError(`${flag}: ${systemReason(error)}`, error);
  }
}
