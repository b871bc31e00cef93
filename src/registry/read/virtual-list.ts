import type { CachedObject } from '../../cache/index.ts';
import { formatGroupResource, StatusError, statusError } from '../../meta/index.ts';
import type { RegistryContext } from '../context.ts';
import { describeText } from '../stored/describe.ts';
import { cachedText } from '../stored/write.ts';
import type { ObjectList, ReadOptions, Target } from '../types.ts';
import { checkListOptions, readNumbers } from './parameters.ts';
import { select } from './selection.ts';

/** An object of a virtual resource. @throws StatusError 404 */
export async function getVirtual(registry: RegistryContext, target: Target): Promise<CachedObject> {
  const object = (await objectsOf(registry, target, target.namespace)).find(({ name }) => name === target.name);
  if (object === undefined) throw statusError.notFound(target.resource.id, target.name);
  return object;
}

/** Lists the matching objects of a virtual resource, always in one page. */
export async function listVirtual(
  registry: RegistryContext,
  target: Target,
  options: ReadOptions,
): Promise<ObjectList> {
  readNumbers(options);
  checkListOptions(options, registry.names);
  const { namespace, name, matches } = select(target, options);
  const items = (await objectsOf(registry, target, namespace)).filter(
    (object) => (name === '' || object.name === name) && matches?.(object) !== false,
  );
  return { revision: 0, items, continue: () => '', remaining: () => undefined };
}

/** The objects of a namespace, or all of them. */
async function objectsOf(
  { virtualLists }: RegistryContext,
  { resource }: Target,
  namespace: string,
): Promise<CachedObject[]> {
  const { format, id, keyPrefix } = resource;
  const listing = virtualLists.get(formatGroupResource(id));
  if (listing === undefined) throw new StatusError(501, '', `${id.resource} is not served by this server`);
  const objects = (await listing()).filter(({ metadata }) => namespace === '' || metadata.namespace === namespace);
  return objects.map((object) => {
    const { namespace: own, name } = object.metadata;
    const key = `${keyPrefix}${own === undefined ? '' : `${own}/`}${name}`;
    return describeText(format, key, cachedText(format, object), 0);
  });
}
