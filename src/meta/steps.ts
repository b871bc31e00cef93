/** A computation in steps, between which the caller may run other work. */
export type Steps<T> = Generator<undefined, T, undefined>;

/** A computation in steps that may yield a promise: its next step runs once that resolves, which needs `inTurns`. */
export type WaitingSteps<T> = Generator<Promise<void> | undefined, T, undefined>;

/** A computation of one step. */
export function* oneStep<T>(compute: () => T): Steps<T> {
  yield;
  return compute();
}

/** Runs all steps without a pause and returns the result. @throws Error when a step yields a promise */
export function atOnce<T>(steps: WaitingSteps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (step.value !== undefined) throw new Error('a computation that waits cannot run at once');
  }
}

/** The number of values that a walk visits in one step. */
const visitsPerStep = 1_000;

/** Divides a walk over values into steps. */
export class Pace {
  #left = visitsPerStep;

  /** Counts visited values. Returns true when the step must end. */
  over(visited = 1): boolean {
    this.#left -= visited;
    if (this.#left > 0) return false;
    this.#left = visitsPerStep;
    return true;
  }
}

/** The number of items that are sorted in one step. */
const sortedPerStep = 1_000;

/** Sorts items stably by `compare`, by default by `<`. */
export function* sortedInSteps<T>(items: readonly T[], compare?: (a: T, b: T) => number): Steps<T[]> {
  if (items.length <= sortedPerStep) return [...items].sort(compare);
  const middle = items.length >> 1;
  const left = yield* sortedInSteps(items.slice(0, middle), compare);
  const right = yield* sortedInSteps(items.slice(middle), compare);
  const isOrdered = (a: T, b: T) => (compare === undefined ? a <= b : compare(a, b) <= 0);
  const merged: T[] = [];
  for (let i = 0, j = 0; i < left.length || j < right.length; ) {
    const isLeft = j === right.length || (i < left.length && isOrdered(left[i] as T, right[j] as T));
    merged.push((isLeft ? left[i++] : right[j++]) as T);
    if (merged.length % sortedPerStep === 0) yield;
  }
  return merged;
}
