import {
  type Authenticator,
  type Authorizer,
  alwaysAllowAuthorizer,
  alwaysDenyAuthorizer,
  anonymous,
  bearerAuthenticator,
  certificateAuthenticator,
  mastersAuthorizer,
  nodeAuthorizer,
  parseTokenFile,
  type RbacIndex,
  rbacAuthorizer,
  unionAuthenticator,
  unionAuthorizer,
} from '../auth/index.ts';
import type { Names } from '../meta/index.ts';
import { type AuthorizationMode, modeWarnings } from './authorization-modes.ts';
import type { Log } from './dependencies.ts';
import type { Settings } from './flags.ts';
import { readSettingFile } from './read-file.ts';
import { StartError, systemReason } from './start-error.ts';
import { type TokenDependencies, type TokenSettings, type Tokens, tokensOf } from './tokens.ts';

/** How requests and tokens are authenticated. */
export interface Authentication extends Tokens {
  readonly authenticate: Authenticator;
}

/** Client certificates, bearer tokens, and anonymous requests when they are allowed. @throws StartError */
export async function authenticationOf(
  settings: TokenSettings & Pick<Settings, 'tokenAuthFile' | 'anonymousAuth'>,
  names: Names,
  dependencies: TokenDependencies,
): Promise<Authentication> {
  const path = settings.tokenAuthFile;
  const entries = path === undefined ? [] : parseTokens(path, await readSettingFile('token-auth-file', path));
  const tokens = await tokensOf(settings, names, entries, dependencies);
  const methods = [certificateAuthenticator(names), bearerAuthenticator(tokens.authenticateToken, tokens.audiences)];
  return { ...tokens, authenticate: unionAuthenticator(methods, settings.anonymousAuth ? anonymous : undefined) };
}

/** `system:masters`, then the authorizers of the modes in their order. */
export function authorizerOf(
  { authorizationMode: modes }: Pick<Settings, 'authorizationMode'>,
  index: RbacIndex,
  names: Names,
  log: Pick<Log, 'warn'>,
): Authorizer {
  for (const warning of modeWarnings(modes)) log.warn(warning, {});
  const authorizers: { readonly [mode in AuthorizationMode]: readonly Authorizer[] } = {
    AlwaysAllow: [alwaysAllowAuthorizer],
    AlwaysDeny: [alwaysDenyAuthorizer],
    RBAC: [rbacAuthorizer(index, names)],
    Node: [nodeAuthorizer],
  };
  return unionAuthorizer([mastersAuthorizer, ...modes.flatMap((mode) => authorizers[mode])]);
}

function parseTokens(path: string, text: string) {
  try {
    return parseTokenFile(text);
  } catch (error) {
    throw new StartError(`--token-auth-file=${JSON.stringify(path)}: ${systemReason(error)}`, error);
  }
}
