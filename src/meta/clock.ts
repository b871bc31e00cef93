/** The injected clock. */
export interface Clock {
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  now(): number;
  /** Monotonic time in milliseconds, for durations: independent of changes of `now`. */
  monotonic(): number;
  /** Runs `task` once after `ms` milliseconds; the result cancels it. Never keeps the process alive. */
  after(ms: number, task: () => void): () => void;
}

/** The injected source of randomness. */
export interface Random {
  /** A random RFC 4122 version 4 UUID in lower case. */
  uuid(): string;
  /** A whole number from 0 to `below` - 1. */
  integer(below: number): number;
}
