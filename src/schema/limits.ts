/** How deep a recursive type may nest in one value. */
export const MAX_DEPTH = 500;
/** The maximum number of errors reported for one value. */
export const MAX_ERRORS = 100;
