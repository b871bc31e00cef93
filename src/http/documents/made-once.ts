import { inTurns, type Steps, type Turns } from '../../meta/index.ts';

/**
 * A value that is made once, in steps, for all who need it. Whoever has a turn makes the next step: nobody waits for the
 * turns of another user, and what one has begun and no longer needs, the next one finishes.
 */
export class MadeOnce<T> {
  readonly #make: () => Steps<T>;
  #steps: Steps<T> | undefined;
  #value: { readonly value: T } | undefined;

  constructor(make: () => Steps<T>) {
    this.#make = make;
  }

  /** Undefined before it is made. */
  get made(): T | undefined {
    return this.#value?.value;
  }

  /** The value, made in these turns as far as nobody else makes it meanwhile. After a failure it is begun again. */
  get(turns: Turns): Promise<T> {
    return inTurns(this.steps(), turns);
  }

  /** The value, made in the steps that are left. */
  *steps(): Steps<T> {
    while (this.#value === undefined) {
      try {
        this.#steps ??= this.#make();
        const step = this.#steps.next();
        if (step.done === true) {
          this.#value = step;
          this.#steps = undefined;
        } else yield;
      } catch (error) {
        this.#steps = undefined;
        throw error;
      }
    }
    return this.#value.value;
  }
}
