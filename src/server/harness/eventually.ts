import { readDuration } from './duration.ts';

/** What moves time on: `clock` of a test server. */
export interface AdvancingClock {
  now(): number;
  advance(duration: number | string): Promise<void>;
}

export interface EventuallyOptions {
  /** How long is tried at most: milliseconds, or a text such as `30s`. Default: 5s. */
  readonly timeout?: number | string;
  /** How long is waited between two attempts. Default: 20ms; with a `clock` 1s. */
  readonly interval?: number | string;
  /** The clock that is moved on between attempts, such as that of a test server. Default: real time passes. */
  readonly clock?: AdvancingClock;
}

/**
 * Calls `attempt` until it neither throws nor results in `false`, and resolves with its result.
 * @throws Error after the timeout: it tells why the last attempt failed, whose error is its `cause`
 */
export async function eventually<T>(
  attempt: () => T | Promise<T>,
  { timeout = '5s', interval, clock }: EventuallyOptions = {},
): Promise<Exclude<T, false>> {
  const timeoutMs = readDuration('timeout', timeout);
  const intervalMs = Math.max(1, readDuration('interval', interval ?? (clock === undefined ? '20ms' : '1s')));
  const time = clock ?? realTime;
  const end = time.now() + timeoutMs;
  let last: Outcome<T> = pending;
  for (;;) {
    const remainingMs = end - time.now();
    // An attempt that takes longer than the time that is left has not succeeded in time.
    last = await (clock === undefined ? within(outcomeOf(attempt), remainingMs, last) : outcomeOf(attempt));
    if (last.done) return last.value;
    if (time.now() + 1 > end) throw failure(timeoutMs, last);
    await time.advance(Math.min(intervalMs, end - time.now()));
  }
}

type Outcome<T> =
  | { readonly done: true; readonly value: Exclude<T, false> }
  | { readonly done: false; readonly why: string; readonly cause?: unknown };

const pending: Outcome<never> = { done: false, why: 'the first attempt has not ended' };

async function outcomeOf<T>(attempt: () => T | Promise<T>): Promise<Outcome<T>> {
  try {
    const value = await attempt();
    if (value === false) return { done: false, why: 'the last attempt resulted in false' };
    return { done: true, value: value as Exclude<T, false> };
  } catch (cause) {
    return { done: false, why: messageOf(cause), cause };
  }
}

/** The outcome, or `pendingOutcome` when it takes longer than `ms`. */
async function within<T>(outcome: Promise<Outcome<T>>, ms: number, pendingOutcome: Outcome<T>): Promise<Outcome<T>> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<Outcome<T>>((resolve) => {
    timer = setTimeout(() => resolve(pendingOutcome), Math.max(1, ms));
  });
  return Promise.race([outcome, late]).finally(() => clearTimeout(timer));
}

const realTime = {
  now: () => performance.now(),
  advance: (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms)),
};

function failure<T>(timeoutMs: number, last: Outcome<T> & { readonly done: false }): Error {
  return new Error(`not within ${timeoutMs} ms: ${last.why}`, 'cause' in last ? { cause: last.cause } : {});
}

// An error of another realm, as under some test runners, is no instance of this one's `Error`.
function messageOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : String(error);
}
