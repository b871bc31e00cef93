/** How the seats of a server are shared between its priority levels. */
import type { PriorityLevelConfigurationSpec } from '../types/flowcontrol-v1.ts';

/** The limits of a priority level (seats). */
export interface Limits {
  /** Its share of all seats. */
  readonly nominal: number;
  /** The least that it has: what it does not lend. */
  readonly lower: number;
  /** The most that it has, with what it borrows. */
  readonly upper: number;
}

/** The shares of a level: by default 30, and none for an exempt level. */
export const sharesOf = ({ type, limited, exempt }: PriorityLevelConfigurationSpec): number =>
  type === 'Exempt' ? (exempt?.nominalConcurrencyShares ?? 0) : (limited?.nominalConcurrencyShares ?? 30);

/** The limits of a level of a server with `total` seats, in which all levels together have `sum` shares. */
export function limitsOf(spec: PriorityLevelConfigurationSpec, total: number, sum: number): Limits {
  const { limited, exempt } = spec;
  const nominal = sum === 0 ? 0 : Math.ceil((total * sharesOf(spec)) / sum);
  const percent = (of: number) => Math.round((nominal * of) / 100);
  const borrowing = limited?.borrowingLimitPercent;
  return {
    nominal,
    lower: nominal - percent((limited ?? exempt)?.lendablePercent ?? 0),
    upper: nominal + (borrowing === undefined ? total : percent(borrowing)),
  };
}

/** The demand of a level when seats are allocated. */
export interface Claim {
  /** How many seats it can use. */
  readonly target: number;
  readonly lower: number;
  readonly upper: number;
}

/** A level that can use no seats still gets a few of those that nobody else can use. */
const minTarget = 0.001;
const rounds = 64;

/**
 * Divides seats between claims: each gets the same fraction of its target, within its bounds. Returns the fraction, and
 * the seats of each claim, which are not rounded. Where the bounds do not allow the sum, each gets its bound.
 */
export function allocate(
  seats: number,
  claims: readonly Claim[],
): { readonly fraction: number; readonly seats: readonly number[] } {
  const targets = claims.map(({ target }) => Math.max(target, minTarget));
  const divided = (fraction: number) =>
    claims.map(({ lower, upper }, i) => Math.min(upper, Math.max(lower, fraction * (targets[i] as number))));
  const sum = (fraction: number) => divided(fraction).reduce((all, one) => all + one, 0);
  let low = 0;
  let high = claims.reduce((most, { upper }, i) => Math.max(most, upper / (targets[i] as number)), 0);
  if (sum(high) <= seats) return { fraction: high, seats: divided(high) };
  for (let round = 0; round < rounds; round++) {
    const middle = (low + high) / 2;
    if (sum(middle) < seats) low = middle;
    else high = middle;
  }
  return { fraction: high, seats: divided(high) };
}
