/** Injected randomness. */
export interface Random {
  /** A random RFC 4122 version 4 UUID in lower case. */
  uuid(): string;
  /** A whole number from 0 to `below` - 1. */
  integer(below: number): number;
}
