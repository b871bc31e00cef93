import { namesFor } from '../../../meta/index.ts';
import type { Store } from '../../../store/index.ts';
import type { ServerSettings } from '../../settings/flags.ts';
import { allocationsAgree, holdersAreUnique } from './address-checks.ts';
import { garbageIsCollected, namespacesEnd } from './deletion-checks.ts';
import { quotasCount } from './quota-checks.ts';
import type { SimulatedWorld } from './world.ts';
import type { WholeState } from './world-state.ts';

type Checks = Required<Pick<SimulatedWorld, 'invariants' | 'atRest'>>;

/** The longest time until they hold at rest (ms): the quota controller counts again every five minutes. */
export const standardSettleMs = 360_000;

/**
 * The properties that hold in every world whose servers run what they depend on. A property of a world with the same name
 * takes the place of one.
 */
export function standardChecks(settings: ServerSettings, store: Store, state: WholeState): Checks {
  const names = namesFor(settings.apiDomain);
  const { controllers } = settings;
  return {
    invariants: {
      'an address has one service': holdersAreUnique,
    },
    atRest: {
      'allocations are those of services': allocationsAgree(names, store),
      ...(controllers.has('garbage-collector-controller') ? { 'garbage is collected': garbageIsCollected(state) } : {}),
      ...(controllers.has('namespace-controller') ? { 'namespaces end': namespacesEnd(state) } : {}),
      ...(controllers.has('resourcequota-controller') ? { 'quotas count what is stored': quotasCount(names) } : {}),
    },
  };
}
