import {
  type Authenticator,
  type Authorizer,
  alwaysAllowAuthorizer,
  alwaysDenyAuthorizer,
  anonymous,
  certificateAuthenticator,
  discoveryAuthorizer,
  mastersAuthorizer,
  parseTokenFile,
  type RbacIndex,
  rbacAuthorizer,
  selfReviewAuthorizer,
  tokenAuthenticator,
  unionAuthenticator,
  unionAuthorizer,
} from '../auth/index.ts';
import type { Names } from '../meta/index.ts';
import { type AuthorizationMode, modeWarnings } from './authorization-modes.ts';
import type { Log } from './dependencies.ts';
import type { Settings } from './flags.ts';
import { readSettingFile } from './read-file.ts';
import { StartError, systemReason } from './start-error.ts';

/** Client certificates, static tokens, and anonymous requests when they are allowed. */
export async function authenticatorOf(
  settings: Pick<Settings, 'tokenAuthFile' | 'anonymousAuth'>,
  names: Names,
): Promise<Authenticator> {
  const path = settings.tokenAuthFile;
  const tokens = path === undefined ? [] : parseTokens(path, await readSettingFile('token-auth-file', path));
  const methods = [certificateAuthenticator(names), tokenAuthenticator(tokens)];
  return unionAuthenticator(methods, settings.anonymousAuth ? anonymous : undefined);
}

/** `system:masters`, then the authorizers of the modes in their order, then discovery and self reviews. */
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
    RBAC: [rbacAuthorizer(index, names), discoveryAuthorizer, selfReviewAuthorizer(names)],
    Node: [],
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
