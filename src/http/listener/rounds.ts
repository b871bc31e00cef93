import type { Clock } from '../../meta/index.ts';

/** How long between two rounds (ms), and how many members a round looks at: of more, the next ones follow in the next round. */
const roundMs = 100;
const mostInRound = 500;

/** Looks at each of its members from time to time. */
export class Rounds {
  readonly #clock: Pick<Clock, 'after'>;
  readonly #members = new Set<() => void>();
  #cancel: (() => void) | undefined;

  constructor(clock: Pick<Clock, 'after'>) {
    this.#clock = clock;
  }

  /** `look` must not throw. The result takes the member away. */
  add(look: () => void): () => void {
    this.#members.add(look);
    this.#cancel ??= this.#clock.after(roundMs, this.#round);
    return () => {
      this.#members.delete(look);
      if (this.#members.size > 0) return;
      this.#cancel?.();
      this.#cancel = undefined;
    };
  }

  readonly #round = (): void => {
    this.#cancel = this.#clock.after(roundMs, this.#round);
    let left = Math.min(this.#members.size, mostInRound);
    for (const look of this.#members) {
      if (left-- === 0) break;
      // Those that were looked at longest ago come first in the next round.
      this.#members.delete(look);
      this.#members.add(look);
      look();
    }
  };
}
