import { expandNames, formatGroupResource, isSince, type Names } from '../../meta/index.ts';
import type { ResourceDefinition } from '../../registry/index.ts';
import { builtinResources, resourcesOf } from '../../resources/index.ts';
import { type FeatureSettings, resolveFeatures } from './feature-gates.ts';
import type { ServerSettings } from './flags.ts';
import { servedReleases } from './release-flags.ts';
import { isServed } from './runtime-config.ts';

type ApiSettings = FeatureSettings & Pick<ServerSettings, 'apiProfile' | 'runtimeConfig'>;

const idOf = ({ group, plural }: ResourceDefinition, names: Names): string =>
  formatGroupResource({ group: expandNames(group, names), resource: plural });

/** The built-in resources that are served in at least one version, such as `deployments.apps`. */
export function servedResources(settings: ApiSettings, names: Names): ReadonlySet<string> {
  const { apiProfile, runtimeConfig } = settings;
  const { emulated } = servedReleases(settings);
  const features = resolveFeatures(settings);
  const isOn = ({ group, plural, versions, gate }: ResourceDefinition) =>
    (gate === undefined || features[gate]) &&
    versions.some(
      ({ version, lifecycle }) =>
        isServed(runtimeConfig, { group: expandNames(group, names), version, plural }) &&
        (lifecycle === undefined || isSince(emulated, lifecycle.introduced)),
    );
  return new Set(
    resourcesOf(apiProfile)
      .filter(isOn)
      .map((definition) => idOf(definition, names)),
  );
}

/** The built-in resources with a stable version that the settings turn off, such as `deployments.apps`. */
export function absentResources(settings: ApiSettings, names: Names): ReadonlySet<string> {
  const served = servedResources(settings, names);
  const stable = builtinResources.filter(({ versions }) =>
    versions.some(({ version }) => isServed(new Map(), { group: '', version, plural: '' })),
  );
  return new Set(stable.map((definition) => idOf(definition, names)).filter((id) => !served.has(id)));
}
