import type { Generator } from './generator.ts';
import { http1 } from './http1.ts';
import { http2 } from './http2.ts';
import { writes } from './writes.ts';

/** Every kind of requests. What a case holds is its own affair. */
export const generators = [http1, http2, writes] as unknown as readonly Generator[];
