import type { OwnWorld } from '../../src/server/harness/simulation/world.ts';
import { controllersWorld } from './controllers-world.ts';
import { soakWorld } from './soak-world.ts';

const worlds = { store: soakWorld, controllers: controllersWorld };

/** The worlds in which the project tests itself, by name. */
export type WorldName = keyof typeof worlds;

/** A new world for a seed: the named one, or else the worlds take turns. @throws Error for an unknown name */
export function worldOf(seed: number, name: WorldName = seed % 2 === 1 ? 'store' : 'controllers'): OwnWorld {
  const make = worlds[name];
  if (make === undefined) throw new Error(`--world=${name} must be one of ${Object.keys(worlds).join(', ')}`);
  return make();
}
