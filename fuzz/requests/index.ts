import type { Generator } from './generator.ts';
import { http1 } from './http1.ts';
import { http2 } from './http2.ts';
import { writes } from './writes.ts';

/** All request generators, each with its own type of case. */
export const generators = [http1, http2, writes] as unknown as readonly Generator[];
