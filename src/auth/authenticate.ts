import { type Names, StatusError, type User } from '../meta/index.ts';
import { systemUnauthenticated, withAuthenticated } from './groups.ts';
import type { Authenticator, Credentials } from './types.ts';

/**
 * Authenticates a verified client certificate: the common name is the user name, the organizations are the groups, and
 * the extra `credential-id` is the digest of the certificate.
 */
export function certificateAuthenticator(names: Names): Authenticator {
  const credentialId = `authentication.${names.labels}/credential-id`;
  // A connection has one certificate value for all its requests: one user per connection.
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

const anonymousUser: User = { name: 'system:anonymous', groups: [systemUnauthenticated] };

/** The anonymous user for every request; for use as the fallback. */
export const anonymous: Authenticator = () => anonymousUser;

/**
 * The user of the first authenticator that recognises the credentials. A 401 of one authenticator is thrown only if no
 * other recognises them; `fallback` is used only if none threw.
 */
export function unionAuthenticator(authenticators: readonly Authenticator[], fallback?: Authenticator): Authenticator {
  // Synchronous unless an authenticator returns a promise.
  const authenticateFrom = (
    credentials: Credentials,
    index = 0,
    earlierError?: StatusError,
  ): ReturnType<Authenticator> => {
    let unauthorized = earlierError;
    for (let i = index; i < authenticators.length; i++) {
      try {
        const found = authenticators[i]?.(credentials);
        if (found instanceof Promise) return continueWith(found, i + 1, credentials, unauthorized);
        if (found !== undefined) return found;
      } catch (error) {
        unauthorized ??= unauthorizedOf(error);
      }
    }
    if (unauthorized !== undefined) throw unauthorized;
    return fallback?.(credentials);
  };
  const continueWith = async (
    found: Promise<User | undefined>,
    index: number,
    credentials: Credentials,
    earlierError?: StatusError,
  ): Promise<User | undefined> => {
    let unauthorized = earlierError;
    try {
      const user = await found;
      if (user !== undefined) return user;
    } catch (error) {
      unauthorized ??= unauthorizedOf(error);
    }
    return authenticateFrom(credentials, index, unauthorized);
  };
  return authenticateFrom;
}

function unauthorizedOf(error: unknown): StatusError {
  if (error instanceof StatusError && error.code === 401) return error;
  throw error;
}
