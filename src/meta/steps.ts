/** A computation in steps, between which the caller may run other work. */
export type Steps<T> = Generator<undefined, T, undefined>;

/** A computation of one step. */
export function* oneStep<T>(compute: () => T): Steps<T> {
  yield;
  return compute();
}

/** Runs all steps without a pause and returns the result. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
