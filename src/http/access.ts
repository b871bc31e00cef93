/** The authentication and authorization of requests. */
import type { AuditContext } from '../audit/index.ts';
import type { Attributes, Decision } from '../auth/index.ts';
import { accessDenied, quote, statusError, type User } from '../meta/index.ts';
import { textAnswer } from './answers.ts';
import type { HandlerOptions } from './call.ts';
import { protocolCredentials } from './relay/web-socket.ts';
import type { ApiRequest, ApiResponse, RequestHeaders } from './types.ts';

type AuthenticationOptions = Pick<HandlerOptions, 'authenticate' | 'clock' | 'metrics' | 'names'>;

/**
 * Authenticates a request that arrived at `started` (ms since 1970). Adds to the warnings of its response and to its
 * audit annotations.
 * @throws StatusError 401
 */
export async function authenticateRequest(
  request: ApiRequest,
  path: string,
  started: number,
  warn: (text: string) => void,
  annotations: Map<string, string> | undefined,
  { authenticate, clock, metrics, names }: AuthenticationOptions,
): Promise<User> {
  const { headers, peer, upgrades } = request;
  let user: User | undefined;
  try {
    const authorization = headers['authorization'] ?? (upgrades ? protocolCredentials(request, names) : undefined);
    const annotate = annotations && ((key: string, value: string) => void annotations.set(key, value));
    const { certificate } = peer;
    const outcome = authenticate({ authorization, certificate, path, sent: request, warn, annotate });
    user = outcome instanceof Promise ? await outcome : outcome;
  } catch (error) {
    metrics.authenticated('error', (clock.now() - started) / 1_000);
    throw error;
  }
  metrics.authenticated(user === undefined ? 'failure' : 'success', (clock.now() - started) / 1_000, user?.name);
  if (user === undefined) throw statusError.unauthorized();
  return user;
}

/** Whether a request has impersonation headers. */
export function hasImpersonation(headers: RequestHeaders): boolean {
  for (const name in headers) if (name.startsWith('impersonate-')) return true;
  return false;
}

/**
 * Resolves when the request is allowed.
 * @throws StatusError 403; AuthorizationError when no authorizer allows the request and one has failed
 */
export async function authorizeRequest(
  attributes: Attributes,
  audit: AuditContext | undefined,
  { authorize, metrics }: Pick<HandlerOptions, 'authorize' | 'metrics'>,
): Promise<void> {
  let decision: Decision;
  try {
    const outcome = authorize(attributes);
    decision = outcome instanceof Promise ? await outcome : outcome;
  } catch (error) {
    metrics.authorized('error');
    audit?.authorizationFailed();
    throw error;
  }
  const { allowed, denied = false, reason, error } = decision;
  if (!allowed && error !== undefined) {
    metrics.authorized('error');
    audit?.authorizationFailed();
    throw new AuthorizationError(error);
  }
  metrics.authorized(allowed ? 'allowed' : denied ? 'denied' : 'no-opinion');
  audit?.authorized(allowed, reason);
  if (!allowed) throw accessDenied(attributes, reason);
}

/** No authorizer has allowed a request, and one has failed. */
export class AuthorizationError extends Error {}

/** The text response to an AuthorizationError. Characters with a meaning in HTML are escaped. */
export function authorizationErrorAnswer(url: string, { message }: AuthorizationError): ApiResponse {
  const text = `Internal Server Error: ${quote(url)}: ${message}\n`;
  return textAnswer(
    500,
    text.replace(/[&<>]/g, (character) => (character === '&' ? '&amp;' : character === '<' ? '&lt;' : '&gt;')),
  );
}
