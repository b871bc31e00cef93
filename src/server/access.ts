import {
  type Authenticator,
  type Authorizer,
  anonymous,
  certificateAuthenticator,
  discoveryAuthorizer,
  mastersAuthorizer,
  parseTokenFile,
  selfReviewAuthorizer,
  tokenAuthenticator,
  unionAuthenticator,
  unionAuthorizer,
} from '../auth/index.ts';
import type { Names } from '../meta/index.ts';
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

/** `system:masters`, discovery and self reviews. */
export const authorizerOf = (names: Names): Authorizer =>
  unionAuthorizer([mastersAuthorizer, discoveryAuthorizer, selfReviewAuthorizer(names)]);

function parseTokens(path: string, text: string) {
  try {
    return parseTokenFile(text);
  } catch (error) {
    throw new StartError(`--token-auth-file=${JSON.stringify(path)}: ${systemReason(error)}`, error);
  }
}
