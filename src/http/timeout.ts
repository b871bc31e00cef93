import { parseDuration, statusError } from '../meta/index.ts';
import type { RequestInfo } from './request-info.ts';
import type { ApiRequest } from './types.ts';

/** Subresources whose responses may take as long as the client wants. */
const longSubresources: ReadonlySet<string> = new Set(['attach', 'exec', 'log', 'portforward', 'proxy']);

/** Whether a request, other than a watch, may take as long as the client wants. */
export const isLongRunning = ({ upgrades }: Pick<ApiRequest, 'upgrades'>, { resource }: RequestInfo): boolean =>
  upgrades || longSubresources.has(resource?.subresource ?? '');

const textOf = ({ query }: Pick<RequestInfo, 'query'>): string =>
  query.size === 0 ? '' : (query.get('timeout') ?? '');

/** The timeout that a request names (ms); undefined: none, or one that is no duration, which {@link checkTimeout} may refuse. */
export function timeoutOf(info: Pick<RequestInfo, 'query'>): number | undefined {
  const text = textOf(info);
  if (text === '') return undefined;
  try {
    const ms = Number(parseDuration(text)) / 1e6;
    return ms > 0 ? ms : undefined;
  } catch {
    return undefined;
  }
}

/** Checks the timeout of a request that may not take as long as the client wants. @throws StatusError 400: it is no duration */
export function checkTimeout(request: Pick<ApiRequest, 'upgrades'>, info: RequestInfo): void {
  const text = textOf(info);
  if (text === '' || info.verb === 'watch' || isLongRunning(request, info)) return;
  try {
    parseDuration(text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw statusError.badRequest(`invalid timeout specified in the request URL - ${why}`);
  }
}
