import { evaluatorFor, scopesOf } from '../../admission/index.ts';
import type { ListOptions } from '../../client/index.ts';
import type { ApiObject } from '../../meta/index.ts';
import { addInPlace, type Quantities, zero } from '../../rules/index.ts';
import type { ResourceQuota as QuotaSchema } from '../../types/core-v1.ts';
import type { ServedResources } from '../metadata/discovery.ts';
import { type Kind, type Named, placeOf } from '../shared/kind.ts';
import * as kinds from '../shared/kinds.ts';
import type { ControllerContext } from '../types.ts';

export type Quota = QuotaSchema & Named;

/** The resources whose objects are evaluated one by one: their usage depends on what they say. */
const evaluated: { readonly [resource: string]: Kind<Named> } = {
  pods: kinds.pods as Kind<Named>,
  services: kinds.services as Kind<Named>,
  persistentvolumeclaims: kinds.persistentVolumeClaims as Kind<Named>,
};

/** Resources that are counted under their plural names, too. */
const countedByName = ['configmaps', 'resourcequotas', 'replicationcontrollers', 'secrets'];

/** The resource that a limit without evaluation counts: `deployments.apps` of `count/deployments.apps`. */
const countedResource = (limit: string): string | undefined =>
  limit.startsWith('count/') ? limit.slice('count/'.length) : countedByName.find((name) => name === limit);

/** The resources that the limits of a quota are about, spelled `pods` or `deployments.apps`. */
export function limitedResources({ spec }: Quota, { names }: Pick<ControllerContext, 'names'>): Set<string> {
  const limits = Object.keys(spec?.hard ?? {});
  const resources = new Set<string>();
  for (const resource of Object.keys(evaluated)) {
    if (limits.some(evaluatorFor(resource, names).matchesResource)) resources.add(resource);
  }
  for (const limit of limits) {
    const resource = countedResource(limit);
    if (resource !== undefined) resources.add(resource);
  }
  return resources;
}

/** The usage of what the quota limits; what cannot be counted, as its resource is not served, is absent. */
export async function usageOf(context: ControllerContext, quota: Quota): Promise<Quantities> {
  const used: Quantities = new Map();
  const limits = Object.keys(quota.spec?.hard ?? {});
  const { namespace = '' } = quota.metadata;
  const scopes = scopesOf(quota);
  for (const resource of limitedResources(quota, context)) {
    const evaluator = evaluatorFor(resource, context.names);
    const names = limits.filter(evaluator.matchesResource);
    const kind = evaluated[resource];
    if (kind === undefined) {
      const count =
        scopes.length > 0 ? 0 : await countOf(context, await context.metadata.discover(), resource, namespace);
      if (count === undefined) continue;
      for (const name of names) used.set(name, { nano: BigInt(count) * 1_000_000_000n, format: 'DecimalSI' });
      continue;
    }
    for (const name of names) used.set(name, zero);
    for (const one of context.informers.of(kind).list(namespace)) {
      const object = one as Named as ApiObject;
      if (!scopes.every((scope) => evaluator.matchesScope?.(object, scope) === true)) continue;
      const usage = evaluator.usage(object);
      addInPlace(used, new Map([...usage].filter(([name]) => names.includes(name))));
    }
  }
  return used;
}

/** How many objects of a resource a namespace has; undefined when it is not served. */
async function countOf(
  { client, names }: ControllerContext,
  served: ServedResources,
  counted: string,
  namespace: string,
): Promise<number | undefined> {
  const dot = counted.indexOf('.');
  const [plural, group] = dot < 0 ? [counted, ''] : [counted.slice(0, dot), counted.slice(dot + 1)];
  const resource = served.preferred.find((resource) => resource.resource === plural && resource.group === group);
  if (resource === undefined || !resource.namespaced) return undefined;
  // The rest is counted by the server.
  const options: ListOptions = { limit: 1 };
  const { items, metadata } = await client.list<ApiObject>(placeOf(resource, names, namespace), options);
  return items.length + (metadata.remainingItemCount ?? 0);
}
