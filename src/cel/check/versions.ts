/**
 * Which libraries expressions may use. A stored expression may use all that any release has; an expression that is
 * written may use what the oldest compatible release has, so that it still evaluates after a rollback.
 */
import {
  compareReleases,
  formatRelease,
  isSince,
  parseRelease,
  type Release,
  type ReleaseText,
  type Steps,
} from '../../meta/index.ts';
import type { CheckedExpression, EnvironmentOptions } from '../environment.ts';
import type { Library } from '../library.ts';
import { checkInSteps } from './check.ts';
import { createEnvironment } from './environment.ts';
import { ExpressionError } from './error.ts';

export interface VersionedLibrary {
  readonly library: Library;
  readonly since: ReleaseText;
  /** The first release without it; what replaces it is compatible. */
  readonly removed?: ReleaseText;
  /** Whether its feature gate is on, which alone decides for new expressions, not the release; absent: no gate. */
  readonly enabled?: boolean;
}

/** The libraries of expressions. Environments share what they merge: one list is always the same value. */
export interface ExpressionLibraries {
  /** Those of expressions that are stored, in order. */
  readonly ofStored: readonly Library[];
  /** Those of expressions that are written and must be valid in a release, in order. */
  readonly ofNew: (release: Release) => readonly Library[];
  /** The releases that add some, the earliest first. */
  readonly releases: readonly Release[];
}

export function expressionLibraries(libraries: readonly VersionedLibrary[]): ExpressionLibraries {
  const byRelease = new Map<ReleaseText, readonly Library[]>();
  return {
    ofStored: libraries.filter(({ removed }) => removed === undefined).map(({ library }) => library),
    ofNew: (release) => {
      const name = formatRelease(release);
      const known = byRelease.get(name) ?? librariesOf(libraries, release);
      byRelease.set(name, known);
      return known;
    },
    releases: [...new Set(libraries.map(({ since }) => since))].map(parseRelease).sort(compareReleases),
  };
}

const librariesOf = (libraries: readonly VersionedLibrary[], release: Release): readonly Library[] =>
  libraries
    .filter(
      ({ since, removed, enabled }) =>
        enabled ?? (isSince(release, since) && (removed === undefined || !isSince(release, removed))),
    )
    .map(({ library }) => library);

/**
 * Checks an expression that is written and must be valid in a release. Where it is valid in a later one only, the error says
 * so. @throws ExpressionError
 */
export function* checkNewInSteps(
  environment: Omit<EnvironmentOptions, 'libraries'>,
  libraries: ExpressionLibraries,
  release: Release,
  source: string,
): Steps<CheckedExpression> {
  const checkIn = (one: Release) =>
    checkInSteps(createEnvironment({ ...environment, libraries: libraries.ofNew(one) }), source);
  try {
    return yield* checkIn(release);
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    for (const later of libraries.releases.filter((one) => compareReleases(one, release) > 0)) {
      yield;
      if (yield* isValid(checkIn(later))) throw new ExpressionError(source, error.issues, laterText(later, release));
    }
    throw error;
  }
}

function* isValid(check: Steps<CheckedExpression>): Steps<boolean> {
  try {
    yield* check;
    return true;
  } catch (error) {
    if (error instanceof ExpressionError) return false;
    throw error;
  }
}

const laterText = (later: Release, release: Release): string =>
  `It is valid from release ${formatRelease(later)} on; new expressions must be valid in release ${formatRelease(release)} (--min-compatibility-version).`;
