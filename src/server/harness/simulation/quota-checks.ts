import { evaluatorFor, scopesOf } from '../../../admission/index.ts';
import { type ApiObject, compareQuantities, type Names } from '../../../meta/index.ts';
import { addInPlace, parseResourceList, type Quantities, zero } from '../../../rules/index.ts';
import type { RestInvariant } from './world.ts';
import type { WorldObject, WorldState } from './world-state.ts';

interface Quota extends WorldObject {
  readonly spec?: { readonly hard?: { readonly [name: string]: string } };
  readonly status?: { readonly used?: { readonly [name: string]: string } };
}

/** Resources whose objects use amounts that depend on what they say. */
const measured = ['pods', 'services', 'persistentvolumeclaims'];

/** The resource that a limit is about: `deployments.apps` of `count/deployments.apps`. */
function resourceOf(limit: string, names: Names): string {
  if (limit.startsWith('count/')) return limit.slice('count/'.length);
  return measured.find((resource) => evaluatorFor(resource, names).matchesResource(limit)) ?? limit;
}

/** The usage of each limit of a quota by the stored objects. */
function usageOf(quota: Quota, state: WorldState, names: Names): Quantities {
  const limits = Object.keys(quota.spec?.hard ?? {});
  const scopes = scopesOf(quota as Parameters<typeof scopesOf>[0]);
  const used: Quantities = new Map(limits.map((limit) => [limit, zero]));
  for (const resource of new Set(limits.map((limit) => resourceOf(limit, names)))) {
    const evaluator = evaluatorFor(resource, names);
    for (const stored of state.list(resource, quota.metadata.namespace)) {
      const object = stored as unknown as ApiObject;
      if (!scopes.every((scope) => evaluator.matchesScope?.(object, scope) === true)) continue;
      addInPlace(used, new Map([...evaluator.usage(object)].filter(([limit]) => used.has(limit))));
    }
  }
  return used;
}

const nameOf = ({ metadata: { namespace, name } }: WorldObject): string => `${namespace}/${name}`;
const formatted = (nano: bigint): string => String(Number(nano) / 1e9);

/** A quota counts what is stored, and nothing else. */
export const quotasCount =
  (names: Names): RestInvariant =>
  (state) => {
    for (const quota of state.list('resourcequotas') as readonly Quota[]) {
      const counted = parseResourceList(quota.status?.used);
      for (const [limit, amount] of usageOf(quota, state, names)) {
        const used = counted.get(limit) ?? zero;
        if (compareQuantities(used, amount) === 0) continue;
        return `${nameOf(quota)}: ${limit} are ${formatted(used.nano)}, but ${formatted(amount.nano)} are stored`;
      }
    }
    return undefined;
  };
