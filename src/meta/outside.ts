/** Time from outside: the server never asks the machine for it directly. */
export interface Clock {
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  now(): number;
  /** Milliseconds since some moment of the past. Never goes back or jumps, whatever happens to `now`: measures durations. */
  monotonic(): number;
  /** Runs `task` once after `ms` milliseconds; the result cancels it. Never keeps the process alive. */
  after(ms: number, task: () => void): () => void;
}

/** Randomness from outside. */
export interface Random {
  /** A random RFC 4122 version 4 UUID in lower case. */
  uuid(): string;
  /** A whole number from 0 to `below` - 1. */
  integer(below: number): number;
}
