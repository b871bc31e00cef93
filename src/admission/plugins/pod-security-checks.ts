import type { Names } from '../../meta/index.ts';
import { allContainers } from '../../rules/index.ts';
import type { PodSpec, Volume } from '../../types/core-v1.ts';
import {
  type AnyContainer,
  baselineChecks,
  type Check,
  exceptInUserNamespace,
  forbiddenCapabilities,
  type PodAttributes,
  procMount,
  type SharedField,
  seccompProfiles,
  type VersionedCheck,
  violatingSetters,
} from './pod-security-baseline.ts';
import { formatContainers, formatSetters, ordered, plural, quoted, type Violation } from './pod-security-messages.ts';

export type Level = 'privileged' | 'baseline' | 'restricted';

const allowPrivilegeEscalation: Check = ({ containers }) => {
  const found = containers.filter(({ securityContext }) => securityContext?.allowPrivilegeEscalation !== false);
  if (found.length === 0) return undefined;
  return {
    reason: 'allowPrivilegeEscalation != false',
    detail: `${formatContainers(found)} must set securityContext.allowPrivilegeEscalation=false`,
  };
};

const restrictedAddedCapabilities = new Set(['NET_BIND_SERVICE']);

const capabilitiesRestricted: Check = ({ containers }) => {
  const notDropping = containers.filter(
    ({ securityContext }) => !(securityContext?.capabilities?.drop ?? []).includes('ALL'),
  );
  const all = [
    ...(notDropping.length === 0
      ? []
      : [`${formatContainers(notDropping)} must set securityContext.capabilities.drop=["ALL"]`]),
    ...[forbiddenCapabilities(containers, restrictedAddedCapabilities)].filter((detail) => detail !== undefined),
  ];
  return all.length === 0 ? undefined : { reason: 'unrestricted capabilities', detail: all.join('; ') };
};

/** Volume types that the restricted level allows. */
const allowedVolumes: readonly (keyof Volume)[] = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'image',
  'persistentVolumeClaim',
  'projected',
  'secret',
];
const restrictedVolumes: readonly (keyof Volume)[] = [
  'hostPath',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'gitRepo',
  'nfs',
  'iscsi',
  'glusterfs',
  'rbd',
  'flexVolume',
  'cinder',
  'cephfs',
  'flocker',
  'fc',
  'azureFile',
  'vsphereVolume',
  'quobyte',
  'azureDisk',
  'photonPersistentDisk',
  'portworxVolume',
  'scaleIO',
  'storageos',
];

const volumeTypes: Check = ({ spec }) => {
  const has = (volume: Volume) => (type: keyof Volume) => volume[type] !== undefined;
  const found = (spec.volumes ?? []).filter((volume) => !allowedVolumes.some(has(volume)));
  if (found.length === 0) return undefined;
  const types = ordered(found.map((volume) => restrictedVolumes.find(has(volume)) ?? 'unknown'));
  const names = quoted(found.map(({ name = '' }) => name));
  const what = plural('restricted volume type', 'restricted volume types', types.length);
  const which = `${plural('volume', 'volumes', found.length)} ${names} ${plural('uses', 'use', found.length)}`;
  return { reason: 'restricted volume types', detail: `${which} ${what} ${quoted(types)}` };
};

const runAsNonRoot: Check = (pod) => {
  const reason = 'runAsNonRoot != true';
  const { pod: byPod, containers } = violatingSetters(pod, 'runAsNonRoot', (value) => value === false);
  const who = formatSetters(byPod, containers);
  if (who !== '') return { reason, detail: `${who} must not set securityContext.runAsNonRoot=false` };
  const unset = containersWithout(pod, 'runAsNonRoot');
  if (unset.length === 0) return undefined;
  return { reason, detail: `pod or ${formatContainers(unset)} must set securityContext.runAsNonRoot=true` };
};

/** The containers for which neither they nor the pod set a field of the security context. */
const containersWithout = ({ spec, containers }: PodAttributes, field: SharedField): AnyContainer[] =>
  spec.securityContext?.[field] !== undefined
    ? []
    : containers.filter(({ securityContext }) => securityContext?.[field] === undefined);

const runAsUser: Check = (pod) => {
  const { pod: byPod, containers } = violatingSetters(pod, 'runAsUser', (value) => value === 0);
  const who = formatSetters(byPod, containers);
  return who === '' ? undefined : { reason: 'runAsUser=0', detail: `${who} must not set runAsUser=0` };
};

const seccompRestricted: Check = (pod) => {
  const wrong = seccompProfiles(pod);
  if (wrong !== undefined) return wrong;
  const unset = containersWithout(pod, 'seccompProfile');
  if (unset.length === 0) return undefined;
  const values = 'securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"';
  return { reason: 'seccompProfile', detail: `pod or ${formatContainers(unset)} must set ${values}` };
};

/** Windows pods are exempt. */
const exceptOnWindows =
  (check: Check): Check =>
  (pod) =>
    pod.spec.os?.name === 'windows' ? undefined : check(pod);

/** The checks that the restricted level adds, in the order of violations in messages. */
const restrictedChecks: readonly VersionedCheck[] = [
  { id: 'allowPrivilegeEscalation', since: 8, check: allowPrivilegeEscalation },
  { id: 'allowPrivilegeEscalation', since: 25, check: exceptOnWindows(allowPrivilegeEscalation) },
  { id: 'capabilities_restricted', since: 22, check: capabilitiesRestricted, replaces: 'capabilities_baseline' },
  {
    id: 'capabilities_restricted',
    since: 25,
    check: exceptOnWindows(capabilitiesRestricted),
    replaces: 'capabilities_baseline',
  },
  { id: 'procMount_restricted', since: 35, check: procMount, replaces: 'procMount' },
  { id: 'restrictedVolumes', since: 0, check: volumeTypes, replaces: 'hostPathVolumes' },
  { id: 'runAsNonRoot', since: 0, check: runAsNonRoot },
  { id: 'runAsNonRoot', since: 35, check: exceptInUserNamespace(runAsNonRoot) },
  { id: 'runAsUser', since: 23, check: runAsUser },
  { id: 'runAsUser', since: 35, check: exceptInUserNamespace(runAsUser) },
  { id: 'seccompProfile_restricted', since: 19, check: seccompRestricted, replaces: 'seccompProfile_baseline' },
  {
    id: 'seccompProfile_restricted',
    since: 25,
    check: exceptOnWindows(seccompRestricted),
    replaces: 'seccompProfile_baseline',
  },
];

/** For each id the newest check that is not newer than the version. */
const checksForVersion = (checks: readonly VersionedCheck[], minor: number): VersionedCheck[] => {
  const found = new Map<string, VersionedCheck>();
  for (const check of checks) if (check.since <= minor) found.set(check.id, check);
  return [...found.values()];
};

/** The violations of a level, as of a minor version (Infinity: latest), by a pod or a pod template. */
export function evaluatePod(
  level: Level,
  minor: number,
  spec: PodSpec,
  annotations: PodAttributes['annotations'] = {},
  { labels }: Pick<Names, 'labels'>,
): Violation[] {
  if (level === 'privileged') return [];
  const pod: PodAttributes = { spec, annotations, containers: allContainers(spec), labels };
  const restricted = level === 'restricted' ? checksForVersion(restrictedChecks, minor) : [];
  const replaced = new Set(restricted.map(({ replaces }) => replaces));
  const baseline = checksForVersion(baselineChecks, minor).filter(({ id }) => !replaced.has(id));
  return [...baseline, ...restricted].flatMap(({ check }) => check(pod) ?? []);
}
