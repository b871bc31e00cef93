import { StatusError, type User } from '../meta/index.ts';
import { systemAnonymous, systemUnauthenticated } from './groups.ts';
import type { Authenticator, Credentials } from './types.ts';

const anonymousUser: User = { name: systemAnonymous, groups: [systemUnauthenticated] };

/** The anonymous user for every request, or for those to one of the paths, exactly; for use as the fallback. */
export function anonymousAuthenticator(paths: readonly string[] = []): Authenticator {
  if (paths.length === 0) return () => anonymousUser;
  const served = new Set(paths);
  return ({ path }) => (path !== undefined && served.has(path) ? anonymousUser : undefined);
}

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
