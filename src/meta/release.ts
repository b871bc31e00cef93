/** The served API release. */
export const apiRelease = { major: 1, minor: 33 };

/**
 * The oldest release to which the control plane can be rolled back. Stored data may use only features that it knows,
 * such as functions of expressions.
 */
export const compatibleRelease = { major: apiRelease.major, minor: apiRelease.minor - 1 };
