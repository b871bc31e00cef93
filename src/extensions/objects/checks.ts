import { Pace, type Steps } from '../../meta/index.ts';

/** How many values a validation may compare with schemas. Alternatives within alternatives multiply. */
export const maxChecks = 4_000_000;
/** The same for the explanation why a value is not valid, which takes several times as long for each. */
export const maxExplained = 500_000;
/** A text counts as one more value for each of this many characters. */
const charactersPerCheck = 64;
/** How many comparisons of a character with an instruction of a pattern count as one check. */
const instructionsPerCheck = 400;
/** The checks that a step of matching a pattern counts as: it computes the states of the pattern. */
const checksPerStep = 512;

class TooManyChecks extends Error {}
const tooManyChecks = new TooManyChecks('too many values are compared with schemas');

/** The limit on comparisons of one validation, spent in steps. */
export class Checks {
  #remaining: number;
  readonly #pace = new Pace();
  #due = false;

  constructor(limit: number) {
    this.#remaining = limit;
  }

  /** Counts the comparison of a value with a schema. Throws when there are too many. */
  count(checks = 1): void {
    this.#remaining -= checks;
    if (this.#remaining < 0) throw tooManyChecks;
    if (this.#pace.over(checks)) this.#due = true;
  }

  /** Counts the comparison of a text with a pattern or format. */
  countText({ length }: string): void {
    if (length >= charactersPerCheck) this.count(length / charactersPerCheck);
  }

  /** Counts comparisons of characters with the instructions of a pattern. */
  countInstructions(compared: number): void {
    if (compared >= 10 * instructionsPerCheck) this.count(compared / instructionsPerCheck);
  }

  /** Counts a step of matching a text against a pattern. */
  countStep(): void {
    this.count(checksPerStep);
  }

  /** Whether the step should end; the next one begins with this look. */
  get due(): boolean {
    const due = this.#due;
    this.#due = false;
    return due;
  }
}

/** The result of a validation that counts its checks; undefined when it takes more than `limit`. */
export function* withinChecks<T>(limit: number, validate: (checks: Checks) => Steps<T>): Steps<T | undefined> {
  try {
    return yield* validate(new Checks(limit));
  } catch (error) {
    if (error instanceof TooManyChecks) return undefined;
    throw error;
  }
}
