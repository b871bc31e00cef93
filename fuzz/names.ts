import { namesFor } from '../src/meta/index.ts';

/** The names under which everything here is spoken of: those that a server has without any flag. */
export const names = namesFor('orch.io');
