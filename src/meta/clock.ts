/** Injected time. */
export interface Clock {
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  now(): number;
  /** Monotonic time in milliseconds, for durations: independent of changes of `now`. */
  monotonic(): number;
  /** Runs `task` once after `ms` milliseconds; returns a function that cancels it. Does not keep the process alive. */
  after(ms: number, task: () => void): () => void;
}
