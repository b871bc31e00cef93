/** The authorization of requests. */
import type { AuditContext } from '../audit/index.ts';
import type { Attributes, Decision } from '../auth/index.ts';
import { accessDenied, quote } from '../meta/index.ts';
import { textAnswer } from './answers.ts';
import type { HandlerOptions } from './call.ts';
import type { ApiResponse } from './types.ts';

/**
 * Resolves when the request may go on. Throws a 403 StatusError, or an AuthorizationFailure where nobody has allowed it and
 * an authorizer has failed.
 */
export async function authorized(
  attributes: Attributes,
  audit: AuditContext | undefined,
  { authorize, metrics }: Pick<HandlerOptions, 'authorize' | 'metrics'>,
): Promise<void> {
  let decision: Decision;
  try {
    const decided = authorize(attributes);
    decision = decided instanceof Promise ? await decided : decided;
  } catch (error) {
    metrics.authorized('error');
    audit?.authorizationFailed();
    throw error;
  }
  const { allowed, denied = false, reason, error } = decision;
  if (!allowed && error !== undefined) {
    metrics.authorized('error');
    audit?.authorizationFailed();
    throw new AuthorizationFailure(error);
  }
  metrics.authorized(allowed ? 'allowed' : denied ? 'denied' : 'no-opinion');
  audit?.authorized(allowed, reason);
  if (!allowed) throw accessDenied(attributes, reason);
}

/** Nobody has allowed a request, and an authorizer has failed. */
export class AuthorizationFailure extends Error {}

/** The response to it: a text. What browsers would take for HTML is escaped. */
export function authorizationFailed(url: string, { message }: AuthorizationFailure): ApiResponse {
  const text = `Internal Server Error: ${quote(url)}: ${message}\n`;
  return textAnswer(
    500,
    text.replace(/[&<>]/g, (found) => (found === '&' ? '&amp;' : found === '<' ? '&lt;' : '&gt;')),
  );
}
