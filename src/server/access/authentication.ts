import {
  type Authenticator,
  anonymousAuthenticator,
  bearerAuthenticator,
  certificateAuthenticator,
  type ExpiryObserver,
  identityHeaders,
  parseTokenFile,
  type RequestHeaderSettings,
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
import { followFront } from './front-authentication.ts';
import { type IdentityProviders, openProviders, type ProviderDependencies } from './identity-providers.ts';
import { openTokens, ownIssuers, type TokenDependencies, type TokenSettings, type Tokens } from './tokens.ts';

/** How requests and tokens are authenticated. */
export interface Authentication extends Tokens, Pick<IdentityProviders, 'providers'> {
  readonly authenticate: Authenticator;
  /** Whether a header says who the user is, and is thus not relayed. */
  readonly isIdentity: (name: string) => boolean;
  /** Aborts requests to identity providers, and to the server in front. */
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
    | 'clientCaFile'
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
    ProviderDependencies & {
      readonly trusted: TrustedAuthorities;
      readonly expiring: ExpiryObserver;
      readonly log: Log;
    },
): Promise<Authentication> {
  const entries = await readTokens(settings.tokenAuthFile, dependencies.log);
  const providers = await openProviders(settings, names, ownIssuers(settings, names), dependencies);
  const tokens = await openTokens(settings, names, entries, providers, dependencies);
  const features = resolveFeatures(settings);
  checkUidHeaders(settings, features);
  const { clock, log } = dependencies;
  const { authenticationKubeconfig: kubeconfig, requestheaderClientCaFile: proxyCaFile, clientCaFile } = settings;
  const proxySettings = createProxySettings(settings);
  const proxies = requestHeaderAuthenticator({ pool: trusted.proxies, clock, settings: () => proxySettings.current });
  const followsFront = kubeconfig !== undefined && proxyCaFile === undefined;
  const stopFollowing = followsFront
    ? await followFront({ kubeconfig, names, clock, log }, (front) => {
        const { uid, ...others } = front.proxies.names;
        const uids = features.RemoteRequestHeaderUID ? uid : [];
        proxySettings.current = { ...front.proxies, names: { ...others, uid: uids } };
        trusted.replaceFront({ ...front, clientCa: clientCaFile === undefined ? front.clientCa : '' });
      })
    : undefined;
  const methods = [
    ...(proxyCaFile === undefined && !followsFront ? [] : [proxies]),
    certificateAuthenticator(names, {
      pool: trusted.clients,
      clock,
      expiring,
      uids: features.AllowParsingUserUIDFromCertAuth,
    }),
    bearerAuthenticator(tokens.authenticateToken, tokens.audiences),
  ];
  const authenticate = unionAuthenticator(methods, anonymousOf(settings, providers.anonymous));
  const close = async () => {
    await stopFollowing?.();
    await providers.close();
  };
  const isIdentity = identityHeaders(() => proxySettings.current);
  return { ...tokens, authenticate, providers: providers.providers, isIdentity, close };
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

/** How authenticating proxies name the user, by the flags; a server in front may replace it. Headers are in lower case. */
function createProxySettings(settings: AuthenticationSettings): { current: RequestHeaderSettings } {
  const lower = (headers: readonly string[]) => headers.map((header) => header.toLowerCase());
  const names = {
    user: lower(settings.requestheaderUsernameHeaders),
    uid: lower(settings.requestheaderUidHeaders),
    group: lower(settings.requestheaderGroupHeaders),
    extraPrefix: lower(settings.requestheaderExtraHeadersPrefix),
  };
  return { current: { allowedNames: settings.requestheaderAllowedNames, names } };
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
