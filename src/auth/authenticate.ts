import { hash } from 'node:crypto';
import { type Names, StatusError, statusError, type User } from '../meta/index.ts';
import { systemAuthenticated, systemUnauthenticated } from './groups.ts';
import type { TokenUser } from './token-file.ts';
import type { Authenticator, Credentials } from './types.ts';

/**
 * Speaks for a verified client certificate: the common name is the user, the organizations are the groups, and an extra
 * tells which certificate it was.
 */
export function certificateAuthenticator(names: Names): Authenticator {
  const credentialId = `authentication.${names.labels}/credential-id`;
  // A connection shows the same subject with every request; its user is made once.
  const users = new WeakMap<NonNullable<Credentials['certificate']>, User>();
  return ({ certificate }) => {
    if (certificate === undefined || certificate.commonName === '') return undefined;
    let user = users.get(certificate);
    if (user === undefined) {
      const { commonName: name, organizations, sha256 } = certificate;
      const extra = sha256 === undefined ? {} : { extra: { [credentialId]: [`X509SHA256=${sha256}`] } };
      user = { name, groups: withAuthenticated(organizations), ...extra };
      users.set(certificate, user);
    }
    return user;
  };
}

/**
 * Speaks for the bearers of known tokens; a bearer token that is not known is wrong. Only digests of the tokens are
 * kept and compared, so that the time of a look-up says nothing about them.
 */
export function tokenAuthenticator(entries: readonly TokenUser[]): Authenticator {
  const users = new Map(
    entries.map(({ token, user }) => [digest(token), { ...user, groups: withAuthenticated(user.groups) }]),
  );
  return ({ authorization }) => {
    const token = bearerToken(authorization);
    if (token === undefined) return undefined;
    const user = users.get(digest(token));
    if (user === undefined) throw statusError.unauthorized();
    return user;
  };
}

const nobody: User = { name: 'system:anonymous', groups: [systemUnauthenticated] };

/** Speaks for everyone who shows nothing: to be asked last. */
export const anonymous: Authenticator = () => nobody;

/**
 * The first of `methods` that knows the sender decides. What one finds wrong another may still find right; when none
 * does, the refusal stands, and `fallback` is asked only when nothing was found wrong.
 */
export function unionAuthenticator(methods: readonly Authenticator[], fallback?: Authenticator): Authenticator {
  // Answers without a promise when no method asked for one.
  const askFrom = (index: number, credentials: Credentials, earlier?: StatusError): ReturnType<Authenticator> => {
    let refusal = earlier;
    for (let i = index; i < methods.length; i++) {
      try {
        const found = methods[i]?.(credentials);
        if (found instanceof Promise) return askOn(found, i + 1, credentials, refusal);
        if (found !== undefined) return found;
      } catch (error) {
        refusal ??= refusalOf(error);
      }
    }
    if (refusal !== undefined) throw refusal;
    return fallback?.(credentials);
  };
  const askOn = async (
    found: Promise<User | undefined>,
    index: number,
    credentials: Credentials,
    earlier?: StatusError,
  ): Promise<User | undefined> => {
    let refusal = earlier;
    try {
      const user = await found;
      if (user !== undefined) return user;
    } catch (error) {
      refusal ??= refusalOf(error);
    }
    return askFrom(index, credentials, refusal);
  };
  return (credentials) => askFrom(0, credentials);
}

function refusalOf(error: unknown): StatusError {
  if (error instanceof StatusError && error.code === 401) return error;
  throw error;
}

function withAuthenticated(groups: readonly string[]): readonly string[] {
  return groups.includes(systemAuthenticated) ? groups : [...groups, systemAuthenticated];
}

/** The token of `Bearer <token>` (RFC 6750, the scheme in any case); undefined for other schemes and for none. */
function bearerToken(authorization: string | undefined): string | undefined {
  if (authorization === undefined || authorization.slice(0, 7).toLowerCase() !== 'bearer ') return undefined;
  const token = authorization.slice(7).trim();
  return token === '' ? undefined : token;
}

function digest(token: string): string {
  return hash('sha256', token, 'base64');
}
