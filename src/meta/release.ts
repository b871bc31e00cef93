/** The API release that is served. */
export const apiRelease = { major: 1, minor: 33 };

/**
 * The oldest release that the control plane can be rolled back to. What is written may use only what that release knows,
 * such as functions of expressions.
 */
export const compatibleRelease = { major: apiRelease.major, minor: apiRelease.minor - 1 };
