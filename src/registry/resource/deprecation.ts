import { expandNames, formatGroupVersion, isSince, type Names, type Release } from '../../meta/index.ts';
import type { ResourceDefinition, ResourceVersion } from './definition.ts';

/** The warning and the release for clients of a deprecated version. */
export interface Deprecation {
  /** The text of the warning: `v1 Endpoints is deprecated in v1.33+; use …`. */
  readonly warning: string;
  /** The release that removes the version; undefined: no removal is planned. */
  readonly removedRelease: string | undefined;
}

/** The deprecation of a version in a release; undefined while it is not deprecated. The group's name is expanded. */
export function deprecationOf(
  { group, kind }: Pick<ResourceDefinition, 'group' | 'kind'>,
  { version, lifecycle, deprecationWarning }: ResourceVersion,
  names: Names,
  release: Release,
): Deprecation | undefined {
  if (deprecationWarning !== undefined) return { warning: deprecationWarning, removedRelease: undefined };
  if (lifecycle?.deprecated === undefined || !isSince(release, lifecycle.deprecated)) return undefined;
  const { deprecated, removed, replacement } = lifecycle;
  const until = removed === undefined ? '' : `, unavailable in v${removed}+`;
  const instead = replacement === undefined ? '' : `; use ${expandNames(replacement, names)}`;
  return {
    warning: `${formatGroupVersion({ group, version })} ${kind} is deprecated in v${deprecated}+${until}${instead}`,
    removedRelease: removed,
  };
}
