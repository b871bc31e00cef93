/** A computation in steps: whoever takes them may do something else between two of them. */
export type Steps<T> = Generator<undefined, T, undefined>;

/** The result of all steps, taken one right after the other. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
