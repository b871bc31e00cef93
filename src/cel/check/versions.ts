/**
 * Which libraries expressions may use. A stored expression may use all that any release has; an expression that is
 * written may use what the oldest compatible release has, so that it still evaluates after a rollback.
 */
import { compatibleRelease } from '../../meta/index.ts';
import type { Library } from '../library.ts';

/** A release: `1.33`. */
export type Release = `${number}.${number}`;

export interface VersionedLibrary {
  readonly library: Library;
  readonly since: Release;
  /** The first release without it; what replaces it is compatible. */
  readonly removed?: Release;
  /** Whether its feature gate is on, which alone decides for new expressions, not the release; absent: no gate. */
  readonly enabled?: boolean;
}

/** The libraries of expressions that are written, in order. Environments share what they merge: call it once. */
export function librariesOfNew(
  libraries: readonly VersionedLibrary[],
  release: Release = `${compatibleRelease.major}.${compatibleRelease.minor}`,
): readonly Library[] {
  return libraries
    .filter(({ since, removed, enabled }) => enabled ?? (isSince(release, since) && !isSince(release, removed)))
    .map(({ library }) => library);
}

/** The libraries of expressions that are stored, in order. Environments share what they merge: call it once. */
export function librariesOfStored(libraries: readonly VersionedLibrary[]): readonly Library[] {
  return libraries.filter(({ removed }) => removed === undefined).map(({ library }) => library);
}

function isSince(release: Release, since: Release | undefined): boolean {
  if (since === undefined) return false;
  const [major, minor] = parts(release);
  const [sinceMajor, sinceMinor] = parts(since);
  return major === sinceMajor ? minor >= sinceMinor : major > sinceMajor;
}

function parts(release: Release): readonly [major: number, minor: number] {
  const [major, minor] = release.split('.').map(Number);
  return [major ?? 0, minor ?? 0];
}
