/** A minor release of the API, such as 1.33. */
export interface Release {
  readonly major: number;
  readonly minor: number;
}

/** A release as text: `1.33`. */
export type ReleaseText = `${number}.${number}`;

/** The latest API release that this server serves. */
export const apiRelease: Release = { major: 1, minor: 33 };

/**
 * The oldest release to which the control plane can be rolled back by default. Stored data may use only features that it
 * knows, such as functions of expressions.
 */
export const compatibleRelease = releaseBefore(apiRelease);

/** The oldest release that this server can emulate. */
export const oldestEmulation: Release = { major: 1, minor: 31 };

/** The minor release before another one. */
export function releaseBefore({ major, minor }: Release): Release {
  return { major, minor: minor - 1 };
}

export const formatRelease = ({ major, minor }: Release): ReleaseText => `${major}.${minor}`;

/** Negative when `a` is earlier than `b`, positive when it is later. */
export const compareReleases = (a: Release, b: Release): number => a.major - b.major || a.minor - b.minor;

/** Whether something that begins with release `first` is part of `release`. */
export function isSince(release: Release, first: ReleaseText): boolean {
  return compareReleases(release, parseRelease(first)) >= 0;
}

export function parseRelease(text: ReleaseText): Release {
  const [major = 0, minor = 0] = text.split('.').map(Number);
  return { major, minor };
}
