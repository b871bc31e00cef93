/** The responses to requests that fail. */
import type { AuditContext } from '../audit/index.ts';
import { quote, StatusError, shorten, statusError } from '../meta/index.ts';
import { textAnswer } from './answers.ts';
import type { Exchange, Serving } from './call.ts';
import { Overload, overloadAnswer } from './overload.ts';
import { unknownRequest } from './request-info.ts';
import type { ApiResponse } from './types.ts';

/** No authorizer has allowed a request, and one has failed. */
export class AuthorizationError extends Error {}

let failures = 0;

/** The response to an error. An unexpected error is logged with a number, and the response has this number only. */
export function failureAnswer(serving: Serving, exchange: Exchange, error: unknown): ApiResponse {
  const { log, answerFailure, answerResourceFailure } = serving;
  const { request, id: auditID, info, call } = exchange;
  exchange.terminated = error instanceof Overload || isTimeout(error);
  if (exchange.user === undefined) exchange.audit = auditUnauthenticated(serving, exchange);
  const { audit } = exchange;
  const answer = call?.reached === true ? answerResourceFailure : answerFailure;
  if (error instanceof StatusError) {
    if (error instanceof Overload) {
      audit?.responseStatus(error.toStatus());
      return overloadAnswer(error);
    }
    if (error.code >= 500 && error.cause !== undefined) {
      log.error(error.message, { auditID, method: request.method, path: shorten(info.path), error: error.cause });
    }
    audit?.responseStatus(error.toStatus());
    return answer(error, request.headers);
  }
  if (error instanceof AuthorizationError) {
    const { method, url } = request;
    log.error('authorization failed', { auditID, method, path: shorten(info.path), why: error.message });
    return authorizationErrorAnswer(url, error);
  }
  failures += 1;
  const id = failures;
  log.error('request failed', { id, auditID, method: request.method, path: shorten(info.path), error });
  audit?.panicked(error);
  return answer(statusError.internal(`unexpected failure ${id}`), request.headers);
}

/** Whether the server has waited too long: for the body of the request, or for the response. */
const isTimeout = (error: unknown): boolean =>
  error instanceof StatusError && (error.code === 408 || error.code === 504);

/** Audits a request that failed to authenticate, unless its URL is invalid. */
function auditUnauthenticated(
  { auditor }: Serving,
  { request, started, id, info }: Exchange,
): AuditContext | undefined {
  if (info === unknownRequest) return undefined;
  const { verb, resource, path } = info;
  return auditor?.begin(request, { user: undefined, verb, resource, path }, id, started);
}

/** The text response to an AuthorizationError. Characters with a meaning in HTML are escaped. */
function authorizationErrorAnswer(url: string, { message }: AuthorizationError): ApiResponse {
  const text = `Internal Server Error: ${quote(url)}: ${message}\n`;
  return textAnswer(
    500,
    text.replace(/[&<>]/g, (character) => (character === '&' ? '&amp;' : character === '<' ? '&lt;' : '&gt;')),
  );
}
