import { expandNames, formatGroupVersion, type Names } from '../../meta/index.ts';
import type { RegistryOptions, ResourceDefinition } from '../../registry/index.ts';
import { loadOlderVersions, resourcesOf } from '../../resources/index.ts';
import type { StructSchema } from '../../schema/index.ts';
import { findType } from '../../types/find-type.ts';
import { StartError } from '../start-error.ts';
import type { ServerSettings } from './flags.ts';
import { isServed, runtimeProblem } from './runtime-config.ts';

/** The built-in resources of a server, and which of their versions it serves. */
interface SelectedDefinitions {
  readonly definitions: readonly ResourceDefinition[];
  readonly serves: NonNullable<RegistryOptions['serves']>;
  /** The schema of a built-in type by its name, such as `apps/v1.Deployment`. */
  readonly findType: (name: string) => StructSchema | undefined;
}

/**
 * What `--api-profile` and `--runtime-config` select. Older versions are loaded only where a beta version is named.
 * @throws StartError
 */
export async function selectDefinitions(
  { apiProfile, runtimeConfig: config }: Pick<ServerSettings, 'apiProfile' | 'runtimeConfig'>,
  names: Names,
): Promise<SelectedDefinitions> {
  const problemWith = (definitions: readonly ResourceDefinition[]) =>
    runtimeProblem(
      config,
      definitions.map((definition) => ({ ...definition, group: expandNames(definition.group, names) })),
    );
  const current = resourcesOf(apiProfile);
  const namesBeta = [...config.keys()].some((key) => key.includes('beta') && key !== 'api/beta');
  const older = namesBeta || problemWith(current) !== undefined ? await loadOlderVersions() : undefined;
  const definitions = older?.withOlderVersions(current) ?? current;
  const problem = problemWith(definitions);
  if (problem !== undefined) throw new StartError(`--runtime-config ${problem}`);

  const placeOf = (group: string, version: string, plural: string) =>
    `${formatGroupVersion({ group, version })}/${plural}`;
  const removed = new Set(
    older?.olderKinds.flatMap(({ group, plural, versions }) =>
      versions.map(({ version }) => placeOf(expandNames(group, names), version, plural)),
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
    serves: (group, version, plural) =>
      group === usage || isServed(config, group, version, plural, removed.has(placeOf(group, version, plural))),
  };
}
