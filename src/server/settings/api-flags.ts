import { featureSwitches, gateProblems } from './feature-gates.ts';
import { flag, type SettingsOf } from './flag.ts';
import * as type from './flag-types.ts';
import { releaseFlags, releaseProblems, servedReleases } from './release-flags.ts';
import { checkRuntimeKey } from './runtime-config.ts';

/** The flags that decide which versions, kinds and features of the API a server has. */
export const apiFlags = {
  apiProfile: flag(
    'API',
    type.oneOf('full', 'generic'),
    'full',
    'Kinds to serve: `full`, or `generic` for a control plane of your own, without pods, nodes, services, workloads and storage ([versions.md](versions.md#a-control-plane-without-workloads)).',
  ),
  ...releaseFlags,
  featureGates: flag('API', featureSwitches, new Map(), 'Features to enable or disable; see the table of features.'),
  runtimeConfig: flag(
    'API',
    type.switches(checkRuntimeKey, true),
    new Map(),
    'API versions and resources to enable or disable: a version (`batch/v1`, `v1`), a resource of a version (`apps/v1/deployments`), or `api/all`, `api/ga`, `api/beta`, `api/alpha`. The most specific key decides. By default stable versions are enabled, alpha and beta versions disabled.',
  ),
};

type ApiSettings = SettingsOf<typeof apiFlags> & { readonly demo: boolean; readonly fakeNodes: number };

/** The problems of settings that do not go together. */
export function apiProblems(settings: ApiSettings, nameOf: (key: keyof ApiSettings) => string): string[] {
  const { apiProfile, featureGates } = settings;
  const withPods = (['demo', 'fakeNodes'] as const).filter((key) => settings[key] !== false && settings[key] !== 0);
  return [
    ...(apiProfile === 'full' ? [] : withPods).map(
      (key) => `${nameOf(key)} needs ${nameOf('apiProfile')} full: fake nodes run pods`,
    ),
    ...releaseProblems(settings, nameOf),
    ...gateProblems(featureGates, servedReleases(settings).emulated).map(
      (problem) => `${nameOf('featureGates')}: ${problem}`,
    ),
  ];
}
