import { namesFor } from '../src/meta/index.ts';

/** The names of a server without flags. */
export const names = namesFor('orch.io');
