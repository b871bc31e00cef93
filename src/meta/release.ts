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

/** The minor release before another one, or the `count`th before it. */
export function releaseBefore({ major, minor }: Release, count = 1): Release {
  return { major, minor: minor - count };
}

export const formatRelease = ({ major, minor }: Release): ReleaseText => `${major}.${minor}`;

/** Negative when `a` is earlier than `b`, positive when it is later. */
export const compareReleases = (a: Release, b: Release): number => a.major - b.major || a.minor - b.minor;

/** Whether something that begins with release `first` is part of `release`. */
export function isSince(release: Release, first: ReleaseText): boolean {
  const [major = 0, minor = 0] = first.split('.').map(Number);
  return compareReleases(release, { major, minor }) >= 0;
}
