/**
 * The work of functions beyond their cost, such as the comparison of two large objects, in visited values. It is counted
 * here because functions know nothing of the evaluation that calls them; an evaluation takes it over at the end of each of
 * its steps.
 */
export const work = { done: 0 };

/** How much may be done in one step. */
export const stepWork = 20_000;

/** Whether a function that runs in steps should end its step. */
export const isStepDone = (): boolean => work.done >= stepWork;
