/** Stands in for `memory/memory-store.ts` when tests run with `LATE_WATCH_MS`: see `vitest.config.ts`. */
import { openMemoryStore as open } from '../memory/memory-store.ts';
import { lateStore } from './late-store.ts';

export const openMemoryStore: typeof open = (options) => lateStore(open(options), Number(process.env['LATE_WATCH_MS']));
