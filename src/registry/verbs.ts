import { StatusError, statusError } from '../meta/index.ts';
import { subresourceOf } from './convert.ts';
import type { Connection, ConnectSubresource, Verb } from './definition.ts';
import type { Target } from './types.ts';

/** The verbs of the target's resource or subresource; none for a subresource that is not served. */
export function verbsOf(target: Target): readonly Verb[] {
  const served = target.subresource === '' ? target.resource.definition : subresourceOf(target);
  return served?.verbs ?? [];
}

/** @throws StatusError 404 where no verb is served, 405 where only others are */
export function checkVerb(target: Target, verb: string): void {
  let found = false;
  for (const served of verbsOf(target)) {
    if (!fits(served, target)) continue;
    if (served === verb) return;
    found = true;
  }
  // No route leads to the watch of a subresource, so that it is missing rather than not allowed.
  if (!found || (verb === 'watch' && target.subresource !== '')) throw statusError.noSuchResource();
  throw statusError.methodNotAllowed();
}

/** @throws StatusError as `checkVerb`; 501 for a subresource that carries out no verb by itself */
export function checkServed(target: Target, verb: Verb): void {
  checkVerb(target, verb);
  const subresource = subresourceOf(target);
  if (subresource?.type === 'connect') {
    const path = `${target.resource.definition.plural}/${target.subresource}`;
    throw new StatusError(501, '', `${path} is not served by this server`);
  }
}

/** @throws StatusError 404 for a target whose requests are not passed on */
export function connectSubresourceOf(target: Target): ConnectSubresource {
  const subresource = subresourceOf(target);
  if (subresource?.type !== 'connect') throw statusError.noSuchResource();
  return subresource;
}

/** How requests to the target are passed on to a node or to what runs on it; undefined where the registry serves them. */
export function connectionOf(target: Target): Connection | undefined {
  const subresource = subresourceOf(target);
  return subresource?.type === 'connect' ? subresource.connect : undefined;
}

/** Whether a verb is served at a path of this form: of a collection, of an object, or across all namespaces. */
function fits(verb: Verb, { resource, namespace, name, subresource }: Target): boolean {
  if (subresource !== '') return true;
  if (name !== '') return verb !== 'create' && verb !== 'list' && verb !== 'deletecollection';
  if (resource.definition.namespaced && namespace === '') return verb === 'list' || verb === 'watch';
  return verb === 'create' || verb === 'list' || verb === 'deletecollection' || verb === 'watch';
}
