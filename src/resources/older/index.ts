/** The versions of built-in kinds that the reference server has removed, loaded where a server serves one of them. */
import { formatGroupResource } from '../../meta/index.ts';
import type { ResourceDefinition } from '../../registry/index.ts';
import { admissionregistration } from './admissionregistration.ts';
import { apiextensions } from './apiextensions.ts';
import { autoscaling } from './autoscaling.ts';
import { certificates } from './certificates.ts';
import { type OlderKind, withVersions } from './declare.ts';
import { discovery } from './discovery.ts';
import { events } from './events.ts';
import { flowcontrol } from './flowcontrol.ts';
import { networkingKinds } from './networking.ts';
import { podSecurityPolicies } from './pod-security-policies.ts';
import { policy } from './policy.ts';
import { sameTypes } from './same-types.ts';
import { workloads } from './workloads.ts';

export { carrierPrefix } from './conversion.ts';

export const olderKinds: readonly OlderKind[] = [
  ...admissionregistration,
  ...apiextensions,
  ...autoscaling,
  ...certificates,
  ...discovery,
  ...events,
  ...flowcontrol,
  ...networkingKinds,
  ...podSecurityPolicies,
  ...policy,
  ...sameTypes,
  ...workloads,
];

/**
 * The definitions with the older versions of their kinds, those of groups that only have older versions, and those of kinds
 * that only have older versions, where their group is defined.
 */
export function withOlderVersions(definitions: readonly ResourceDefinition[]): readonly ResourceDefinition[] {
  const all = new Map(definitions.map((one) => [idOf(one), one]));
  const apart: ResourceDefinition[][] = [];
  for (const kind of olderKinds) {
    const { group, plural, storedIn = group } = kind;
    const own = definitions.some((one) => one.group === group) ? kind.definition : undefined;
    const definition = own ?? all.get(idOf({ group: storedIn, plural }));
    if (definition === undefined) continue;
    const [joint, ...others] = withVersions(definition, kind);
    if (joint !== undefined) all.set(idOf(kind), joint);
    apart.push(others);
  }
  return [...all.values(), ...apart.flat()];
}

const idOf = ({ group, plural }: { readonly group: string; readonly plural: string }): string =>
  formatGroupResource({ group, resource: plural });
