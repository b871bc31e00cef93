import { seededRandom } from '../support/seeded-random.ts';

export interface Random {
  /** A whole number from 0 to below `limit`. */
  readonly integer: (limit: number) => number;
  readonly pick: <T>(from: readonly T[]) => T;
  /** True with a probability of 1 / `of`. */
  readonly chance: (of: number) => boolean;
  readonly shuffled: <T>(items: readonly T[]) => T[];
}

/** Choices of one party of a trial. */
export function randomOf(seed: number, party: number): Random {
  const { integer } = seededRandom(seed * 1_009 + party);
  return {
    integer,
    pick: (from) => from[integer(from.length)] as (typeof from)[number],
    chance: (of) => integer(of) === 0,
    shuffled: (items) => {
      const all = [...items];
      for (let i = all.length - 1; i > 0; i--) {
        const other = integer(i + 1);
        [all[i], all[other]] = [all[other] as (typeof all)[number], all[i] as (typeof all)[number]];
      }
      return all;
    },
  };
}
