/** How deep a type that contains itself may nest in one value. */
export const MAX_DEPTH = 500;
/** How many findings one value can make before the walk stops telling of more. */
export const MAX_FINDINGS = 100;
