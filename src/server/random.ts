import { randomInt, randomUUID } from 'node:crypto';
import type { Random } from '../meta/index.ts';

/** The machine's randomness. */
export const systemRandom: Random = {
  uuid: () => randomUUID(),
  integer: (below) => randomInt(below),
};
