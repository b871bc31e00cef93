import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Client } from '../client/index.ts';
import type { ApiObject, Names } from '../meta/index.ts';
import { type Named, placeOf } from './kind.ts';
import type { RunningControllers } from './manager.ts';

/** Rounds before controllers count as restless, and the turns of the event loop in each. */
const maxRounds = 6_000;
const turnsPerRound = 5;
/** Rounds without work after which the watches have most likely delivered everything. */
const quietRounds = 3;

/**
 * Resolves when the controllers have seen everything that is stored and have nothing to do until the clock moves. The
 * client must be an administrator's. @throws Error when they do not come to rest
 */
export async function settle(controllers: RunningControllers, api: Client, names: Names): Promise<void> {
  await controllers.started;
  for (let quiet = 0, round = 0; round < maxRounds; round++) {
    for (let turn = 0; turn < turnsPerRound; turn++) await nextTurn();
    quiet = controllers.isIdle() ? quiet + 1 : 0;
    if (quiet < quietRounds) continue;
    if ((await hasSeenAll(controllers, api, names)) && controllers.isIdle()) return;
    quiet = 0;
  }
  throw new Error('the controllers do not come to rest');
}

/** Whether every informer holds what the server lists. */
async function hasSeenAll({ informers }: RunningControllers, api: Client, names: Names): Promise<boolean> {
  for (const informer of informers.all) {
    const { items } = await api.list<ApiObject>(placeOf(informer.kind, names), informer.selection).catch(() => ({
      items: [],
    }));
    const state = (objects: readonly Named[]) =>
      objects.map(({ metadata: { uid, resourceVersion } }) => `${uid} ${resourceVersion}`).sort();
    if (JSON.stringify(state(items)) !== JSON.stringify(state(informer.list()))) return false;
  }
  return true;
}
