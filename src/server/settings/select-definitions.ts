import { apiRelease, compareReleases, expandNames, formatGroupVersion, isSince, type Names } from '../../meta/index.ts';
import type { RegistryOptions, ResourceDefinition } from '../../registry/index.ts';
import { loadOlderVersions, resourcesOf } from '../../resources/index.ts';
import type { StructSchema } from '../../schema/index.ts';
import { findType } from '../../types/find-type.ts';
import { StartError } from '../start-error.ts';
import type { ServerSettings } from './flags.ts';
import { type ReleaseSettings, servedReleases } from './release-flags.ts';
import { isServed, runtimeProblem } from './runtime-config.ts';

/** The built-in resources of a server, and which of their versions it serves. */
interface SelectedDefinitions {
  readonly definitions: readonly ResourceDefinition[];
  readonly serves: NonNullable<RegistryOptions['serves']>;
  /** The schema of a built-in type by its name, such as `apps/v1.Deployment`. */
  readonly findType: (name: string) => StructSchema | undefined;
}

type SelectingSettings = Pick<ServerSettings, 'apiProfile' | 'runtimeConfig' | keyof ReleaseSettings>;

/**
 * Returns the resources that `--api-profile`, `--runtime-config` and `--emulated-version` select. Older versions are loaded
 * only where a beta version is named, or an earlier release is served, which may have them. @throws StartError
 */
export async function selectDefinitions(
  { apiProfile, runtimeConfig: config, ...releases }: SelectingSettings,
  names: Names,
): Promise<SelectedDefinitions> {
  const problemWith = (definitions: readonly ResourceDefinition[]) =>
    runtimeProblem(
      config,
      definitions.map((definition) => ({ ...definition, group: expandNames(definition.group, names) })),
    );
  const current = resourcesOf(apiProfile);
  const namesBeta = [...config.keys()].some((key) => key.includes('beta') && key !== 'api/beta');
  const { emulated } = servedReleases(releases);
  const mayBeServed = namesBeta || compareReleases(emulated, apiRelease) < 0 || problemWith(current) !== undefined;
  const older = mayBeServed ? await loadOlderVersions() : undefined;
  const definitions = older?.withOlderVersions(current) ?? current;
  const problem = problemWith(definitions);
  if (problem !== undefined) throw new StartError(`--runtime-config ${problem}`);

  const placeOf = (group: string, version: string, plural: string) =>
    `${formatGroupVersion({ group, version })}/${plural}`;
  const olderVersions = new Map(
    older?.olderKinds.flatMap(({ group, plural, versions }) =>
      versions.map((one) => [placeOf(expandNames(group, names), one.version, plural), one]),
    ),
  );
  const olderTypes = new Map(
    older?.olderKinds.flatMap(({ versions }) => versions.map(({ schema }) => [schema.name, schema])),
  );
  // Defined only where fake nodes report their usage.
  const usage = `metrics.${names.domain}`;
  return {
    definitions,
    findType: (name) => findType(name) ?? olderTypes.get(name),
    serves: (group, version, plural) => {
      const { lifecycle, onByDefault } = olderVersions.get(placeOf(group, version, plural)) ?? {};
      const removed = lifecycle?.removed !== undefined && isSince(emulated, lifecycle.removed);
      return group === usage || isServed(config, { group, version, plural, removed, onByDefault });
    },
  };
}
