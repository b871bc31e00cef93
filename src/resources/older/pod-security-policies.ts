/**
 * Pod security policies, a kind whose last release was 1.24. The admission plugin that enforced them was off by default, and
 * is not part of this server.
 */
import { name } from '../shared/columns.ts';
import { resource } from '../shared/define.ts';
import type { OlderKind, OlderVersion } from './declare.ts';
import { PodSecurityPolicy } from './pod-security-policies.types.ts';
import { validatePolicy } from './pod-security-policies.validation.ts';
import { typesIn } from './types.ts';

const plural = 'podsecuritypolicies';

const v1beta1 = {
  version: 'v1beta1',
  schema: PodSecurityPolicy,
  lifecycle: { introduced: '1.10', deprecated: '1.21', removed: '1.25' },
} as const satisfies OlderVersion;

const definition = resource({
  ...v1beta1,
  group: 'policy',
  plural,
  kind: 'PodSecurityPolicy',
  shortNames: ['psp'],
  namespaced: false,
  columns: [
    name,
    ['Priv', ({ spec }) => String(spec?.privileged ?? false)],
    ['Caps', ({ spec }) => (spec?.allowedCapabilities ?? []).join(',')],
    ['SELinux', ({ spec }) => spec?.seLinux?.rule ?? ''],
    ['RunAsUser', ({ spec }) => spec?.runAsUser?.rule ?? ''],
    ['FsGroup', ({ spec }) => spec?.fsGroup?.rule ?? ''],
    ['SupGroup', ({ spec }) => spec?.supplementalGroups?.rule ?? ''],
    ['ReadOnlyRootFs', ({ spec }) => String(spec?.readOnlyRootFilesystem ?? false)],
    ['Volumes', ({ spec }) => (spec?.volumes ?? []).join(',')],
  ],
  strategy: {
    metadataChecks: [0, 1],
    validate: (policy, { names }) => validatePolicy(policy, names),
  },
});

export const podSecurityPolicies: readonly OlderKind[] = [
  { group: 'policy', plural, definition: { ...definition, versions: [] }, versions: [v1beta1] },
  {
    group: 'extensions',
    plural,
    storedIn: 'policy',
    versions: [
      {
        version: 'v1beta1',
        schema: typesIn('extensions/v1beta1')(PodSecurityPolicy),
        lifecycle: { introduced: '1.2', deprecated: '1.11', removed: '1.16' },
      },
    ],
  },
];
