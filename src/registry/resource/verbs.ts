import { StatusError, statusError } from '../../meta/index.ts';
import type { Target } from '../types.ts';
import type { Connection, ConnectSubresource, Verb } from './definition.ts';

/** @throws StatusError 404 where no verb is served, 405 where only others are */
export function checkVerb({ resource, namespace, name, subresource }: Target, verb: string): void {
  let served: readonly string[];
  if (subresource !== '') served = resource.subresources.get(subresource)?.verbs ?? [];
  else if (name !== '') served = resource.verbs.object;
  else if (resource.definition.namespaced && namespace === '') served = resource.verbs.acrossNamespaces;
  else served = resource.verbs.collection;
  if (served.includes(verb)) return;
  // No route leads to the watch of a subresource, so that it is missing rather than not allowed.
  if (served.length === 0 || (verb === 'watch' && subresource !== '')) throw statusError.noSuchResource();
  throw statusError.methodNotAllowed();
}

/** @throws StatusError as `checkVerb`; 501 for a subresource that carries out no verb by itself */
export function checkServed(target: Target, verb: Verb): void {
  checkVerb(target, verb);
  if (target.resource.subresources.get(target.subresource)?.type === 'connect') {
    const path = `${target.resource.definition.plural}/${target.subresource}`;
    throw new StatusError(501, '', `${path} is not served by this server`);
  }
}

/** @throws StatusError 404 for a target whose requests are not passed on */
export function connectSubresourceOf(target: Target): ConnectSubresource {
  const subresource = target.resource.subresources.get(target.subresource);
  if (subresource?.type !== 'connect') throw statusError.noSuchResource();
  return subresource;
}

/** How requests to the target are passed on to a node or to what runs on it; undefined where the registry serves them. */
export function connectionOf({
  resource,
  subresource,
}: Pick<Target, 'resource' | 'subresource'>): Connection | undefined {
  const served = resource.subresources.get(subresource);
  return served?.type === 'connect' ? served.connect : undefined;
}
