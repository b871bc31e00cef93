/** How deep a recursive type may nest in one value. */
export const MAX_DEPTH = 500;
/** The most entries of a list of resources, a map of quantities: each is parsed, compared and added up where it counts. */
export const MAX_QUANTITIES = 2_000;
/** The most items of a `shortList`. */
export const MAX_SHORT_LIST = 2_000;
/** The maximum number of errors reported for one value. */
export const MAX_ERRORS = 100;
