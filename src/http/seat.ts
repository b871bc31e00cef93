/** What a request asks of its priority level: how many seats, and how long it waits for them. */
import { type FlowRequest, listWork, oneSeat, type Work, writeWork } from '../fairness/index.ts';
import { parseDuration } from '../meta/index.ts';
import { type Resource, readFlag } from '../registry/index.ts';
import type { Query, RequestInfo } from './request-info.ts';

/** The part of its timeout that a request may wait for its seats. */
const maxWaitPart = 1 / 4;
/** The timeout of a request that names none, and the longest (ms). */
const defaultTimeoutMs = 60_000;

/** How long a request may wait for its seats (ms). */
export const maxWaitMs = ({ query }: RequestInfo): number => timeoutOf(query) * maxWaitPart;

/** The timeout of a request (ms). */
function timeoutOf(query: Query): number {
  const text = query.get('timeout');
  if (text === null) return defaultTimeoutMs;
  try {
    const ms = Number(parseDuration(text)) / 1e6;
    return ms > 0 ? Math.min(ms, defaultTimeoutMs) : defaultTimeoutMs;
  } catch {
    return defaultTimeoutMs;
  }
}

const writes: ReadonlySet<string> = new Set(['create', 'update', 'patch', 'delete']);

/** Estimates the work of a request by the objects that it reads and the watches that receive its change. */
export function estimateWork(
  info: RequestInfo,
  resource: Resource | undefined,
  { attributes, level, series }: Pick<FlowRequest, 'attributes' | 'level' | 'series'>,
): Work {
  const { verb, query } = info;
  const place = attributes.resource;
  if (resource === undefined || place === undefined || verb === 'get') return oneSeat;
  if (writes.has(verb)) {
    const watches = resource.cache.watching(place.namespace, place.name);
    series.watches.observe(watches);
    return writeWork(watches, level.maxSeats);
  }
  // A name selects one object, also as a field selector.
  if (place.name !== '' || (verb === 'watch' && !sendsInitialEvents(query))) return oneSeat;
  const { namespace } = place;
  const prefix = namespace === '' ? resource.keyPrefix : `${resource.keyPrefix}${namespace}/`;
  const objects = resource.cache.snapshot().count(prefix);
  const { labelSelector, fieldSelector } = info.selectors;
  const limit = Number(query.get('limit') ?? 0);
  const isPage = limit > 0 && labelSelector === undefined && fieldSelector === undefined;
  return listWork(isPage ? Math.min(limit, objects) : objects, level.maxSeats);
}

function sendsInitialEvents(query: Query): boolean {
  const initial = query.get('sendInitialEvents');
  if (initial !== null) return readFlag(initial) === true;
  const version = query.get('resourceVersion') ?? '';
  return version === '' || version === '0';
}
