import { type Attributes, selectorAttributes } from '../auth/index.ts';
import { pathSegmentName, type User } from '../meta/index.ts';
import type { RequestInfo } from './request-info.ts';

/**
 * The attributes for which a request is authorized and audited. A list or watch whose field selector requires a
 * `metadata.name` has that name. `withSelectors`: the feature gate `AuthorizeWithSelectors`.
 */
export function attributesOf(info: RequestInfo, user: User, withSelectors: boolean): Attributes {
  const { verb, path, resource, watchPath, selectors } = info;
  const { fieldSelector, labelSelector } = selectors;
  // The reference server ignores the selectors of watches by path: their form for one object does not support any.
  if (resource === undefined || watchPath || (fieldSelector === undefined && labelSelector === undefined)) {
    return { user, verb, resource, path };
  }
  const name = selectedName(info);
  const selected = name === undefined ? resource : { ...resource, name };
  return { user, verb, resource: selected, path, ...(withSelectors ? selectorAttributes(selectors) : {}) };
}

/** Undefined where the selectors require no name, require what is no name, or cannot be parsed, which is an error later. */
function selectedName({ verb, resource, selectors }: RequestInfo): string | undefined {
  if (resource?.name !== '' || (verb !== 'list' && verb !== 'watch')) return undefined;
  if (selectors.labelSelector?.error !== undefined) return undefined;
  const name = selectors.fieldSelector?.selector?.requires('metadata.name') ?? '';
  return name === '' || pathSegmentName(name).length > 0 ? undefined : name;
}
