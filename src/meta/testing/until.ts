import { vi } from 'vitest';

/** Calls `attempt` until it succeeds, and resolves with its result. The patience is that of `expect.poll`. */
export const until = <T>(attempt: () => T | Promise<T>): Promise<T> => vi.waitFor(attempt, { timeout: 60_000 });
