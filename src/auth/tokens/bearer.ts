import { hash } from 'node:crypto';
import { type Annotate, StatusError, statusError, type User } from '../../meta/index.ts';
import { withAuthenticated } from '../groups.ts';
import type { TokenUser } from '../token-file.ts';
import type { Authenticated, Authenticator, TokenAuthenticator } from '../types.ts';
import { invalidToken } from './types.ts';

const extraSpace = 'the provided Authorization header contains extra space before the bearer token, and is ignored';

/**
 * Authenticates `Authorization: Bearer <token>` (RFC 6750, the scheme in any case) for `audiences`; has no opinion on
 * other schemes. An invalid token is a 401 that does not say why.
 */
export function bearerAuthenticator(authenticate: TokenAuthenticator, audiences: readonly string[]): Authenticator {
  return ({ authorization, owner, warn, annotate }) => {
    if (authorization === undefined) return undefined;
    const text = authorization.trim();
    const space = text.indexOf(' ');
    if (space < 0 || text.slice(0, space).toLowerCase() !== 'bearer') return undefined;
    const end = text.indexOf(' ', space + 1);
    const token = end < 0 ? text.slice(space + 1) : text.slice(space + 1, end);
    if (token === '') {
      warn?.(extraSpace);
      return undefined;
    }
    const accept = (found: Authenticated | undefined): User => {
      if (found === undefined) throw statusError.unauthorized();
      for (const text of found.warnings ?? []) warn?.(text);
      annotateWith(found, annotate);
      return found.user;
    };
    const found = authenticate(token, audiences, owner);
    return found instanceof Promise ? found.then(accept, refuse) : accept(found);
  };
}

/** Sets the annotations that come with a token. */
export function annotateWith({ annotations }: Authenticated, annotate: Annotate | undefined): void {
  if (annotations === undefined || annotate === undefined) return;
  for (const [key, value] of Object.entries(annotations)) annotate(key, value);
}

/** Why a token is invalid is for token reviews only. */
function refuse(error: unknown): never {
  throw error instanceof StatusError && error.code === 401 ? statusError.unauthorized() : error;
}

/**
 * Returns the answer of the first authenticator that recognises the token, with the group `system:authenticated`; undefined
 * when none does. @throws StatusError 401 with the messages of all that reject it
 */
export function unionTokenAuthenticator(authenticators: readonly TokenAuthenticator[]): TokenAuthenticator {
  return async (token, audiences, owner) => {
    const problems = new Set<string>();
    for (const authenticate of authenticators) {
      try {
        const found = await authenticate(token, audiences, owner);
        if (found === undefined) continue;
        return { ...found, user: { ...found.user, groups: withAuthenticated(found.user.groups) } };
      } catch (error) {
        if (!(error instanceof StatusError && error.code === 401)) throw error;
        problems.add(error.message);
      }
    }
    if (problems.size > 0) throw invalidToken([...problems].join(', '));
    return undefined;
  };
}

/**
 * Static bearer tokens, which are valid for the audiences of this server. Only digests of them are kept and compared, so
 * that the time of a lookup reveals nothing about them.
 */
export function staticTokenAuthenticator(
  entries: readonly TokenUser[],
  serverAudiences: readonly string[],
): TokenAuthenticator {
  const digest = (token: string) => hash('sha256', token, 'base64');
  const users = new Map(
    entries.map(({ token, user }) => [digest(token), { ...user, groups: withAuthenticated(user.groups) }]),
  );
  return (token, audiences) => {
    const user = users.size === 0 ? undefined : users.get(digest(token));
    return user && forServer(user, audiences, serverAudiences);
  };
}

/** A user whose token names no audience: it is valid for those of this server only. */
export function forServer(
  user: User,
  requested: readonly string[],
  serverAudiences: readonly string[],
): Authenticated | undefined {
  if (requested === serverAudiences) return { user, audiences: requested };
  const audiences = [...new Set(requested)].filter((audience) => serverAudiences.includes(audience));
  return audiences.length === 0 ? undefined : { user, audiences };
}
