import { parseDuration, statusError } from '../meta/index.ts';
import type { RequestInfo } from './request-info.ts';
import type { ApiRequest } from './types.ts';

/** Subresources whose responses may take as long as the client wants. */
const longSubresources: ReadonlySet<string> = new Set(['attach', 'exec', 'log', 'portforward', 'proxy']);

/** Whether a request, other than a watch, may take as long as the client wants. */
export const isLongRunning = ({ upgrades }: Pick<ApiRequest, 'upgrades'>, { resource }: RequestInfo): boolean =>
  upgrades || longSubresources.has(resource?.subresource ?? '');

/** The timeout that a request names (ms); 0: none. @throws StatusError 400 */
export function readTimeout({ query }: Pick<RequestInfo, 'query'>): number {
  const text = query.size === 0 ? '' : (query.get('timeout') ?? '');
  if (text === '') return 0;
  try {
    return Math.max(Number(parseDuration(text)) / 1e6, 0);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw statusError.badRequest(`invalid timeout specified in the request URL - ${why}`);
  }
}

/** @throws StatusError 400 for a timeout that is no duration, where the request has one */
export function checkTimeout(request: Pick<ApiRequest, 'upgrades'>, info: RequestInfo): void {
  if (info.query.size > 0 && info.verb !== 'watch' && !isLongRunning(request, info)) readTimeout(info);
}
