import { randomInt, randomUUID } from 'node:crypto';
import type { Random } from '../meta/index.ts';

/** Cryptographic randomness of the system. */
export const systemRandom: Random = {
  uuid: randomUUID,
  integer: randomInt,
};
