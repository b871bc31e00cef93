/** Which limits apply to a request. */
import type { Resource } from '../registry/index.ts';
import type { RequestInfo } from './request-info.ts';

/** The flow class in which a request is counted. */
export type FlowClass = 'readOnly' | 'mutating' | 'longRunning' | 'proxied';

/** Health checks are not limited. */
export const isHealthCheck = ({ path, resource }: RequestInfo): boolean =>
  resource === undefined && /^\/(healthz|livez|readyz)\b/.test(path);

/** The flow class of a request. */
export function flowClassOf({ verb, resource: place }: RequestInfo, resource: Resource | undefined): FlowClass {
  if (place !== undefined && resource?.connections.has(place.subresource)) return 'proxied';
  if (verb === 'watch') return 'longRunning';
  return verb === 'get' || verb === 'list' || verb === 'head' ? 'readOnly' : 'mutating';
}
