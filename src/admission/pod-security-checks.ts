import type { Json, JsonObject, Names } from '../meta/index.ts';
import { allContainersOf, fieldsOf, objectsOf, textOf, textsOf } from './fields.ts';
import {
  baselineChecks,
  type Check,
  contextOf,
  exceptInUserNamespace,
  type PodView,
  procMount,
  seccompProfiles,
  settersOf,
  tellAdded,
  type VersionedCheck,
} from './pod-security-baseline.ts';
import { ordered, plural, quoted, tellContainers, tellSetters, type Violation } from './pod-security-text.ts';

export type Level = 'privileged' | 'baseline' | 'restricted';

const allowPrivilegeEscalation: Check = ({ containers }) => {
  const found = containers.filter((container) => contextOf(container)['allowPrivilegeEscalation'] !== false);
  if (found.length === 0) return undefined;
  return {
    reason: 'allowPrivilegeEscalation != false',
    detail: `${tellContainers(found)} must set securityContext.allowPrivilegeEscalation=false`,
  };
};

const bindsLowPorts = new Set(['NET_BIND_SERVICE']);

const dropsCapabilities: Check = ({ containers }) => {
  const keeps = containers.filter(
    (container) => !textsOf(fieldsOf(contextOf(container)['capabilities'])['drop']).includes('ALL'),
  );
  const all = [
    ...(keeps.length === 0 ? [] : [`${tellContainers(keeps)} must set securityContext.capabilities.drop=["ALL"]`]),
    ...[tellAdded(containers, bindsLowPorts)].filter((detail) => detail !== undefined),
  ];
  return all.length === 0 ? undefined : { reason: 'unrestricted capabilities', detail: all.join('; ') };
};

/** Sources of volumes that a pod may have of its own. */
const ownVolumes = [
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
const foreignVolumes = [
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
  const has = (volume: JsonObject) => (type: string) => volume[type] !== undefined;
  const found = objectsOf(spec['volumes']).filter((volume) => !ownVolumes.some(has(volume)));
  if (found.length === 0) return undefined;
  const types = ordered(found.map((volume) => foreignVolumes.find(has(volume)) ?? 'unknown'));
  const names = quoted(found.map(({ name }) => textOf(name)));
  const what = plural('restricted volume type', 'restricted volume types', types.length);
  const which = `${plural('volume', 'volumes', found.length)} ${names} ${plural('uses', 'use', found.length)}`;
  return { reason: 'restricted volume types', detail: `${which} ${what} ${quoted(types)}` };
};

const runAsNonRoot: Check = (pod) => {
  const reason = 'runAsNonRoot != true';
  const { pod: byPod, containers } = settersOf(pod, 'runAsNonRoot', (value) => value === false);
  const who = tellSetters(byPod, containers);
  if (who !== '') return { reason, detail: `${who} must not set securityContext.runAsNonRoot=false` };
  const silent = unsaid(pod, 'runAsNonRoot');
  if (silent.length === 0) return undefined;
  return { reason, detail: `pod or ${tellContainers(silent)} must set securityContext.runAsNonRoot=true` };
};

/** The containers that do not set a field, when the pod does not set it for them. */
const unsaid = ({ spec, containers }: PodView, field: string): JsonObject[] =>
  contextOf(spec)[field] !== undefined
    ? []
    : containers.filter((container) => contextOf(container)[field] === undefined);

const runAsUser: Check = (pod) => {
  const { pod: byPod, containers } = settersOf(pod, 'runAsUser', (value) => value === 0);
  const who = tellSetters(byPod, containers);
  return who === '' ? undefined : { reason: 'runAsUser=0', detail: `${who} must not set runAsUser=0` };
};

const seccompRequired: Check = (pod) => {
  const wrong = seccompProfiles(pod);
  if (wrong !== undefined) return wrong;
  const silent = unsaid(pod, 'seccompProfile');
  if (silent.length === 0) return undefined;
  const values = 'securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"';
  return { reason: 'seccompProfile', detail: `pod or ${tellContainers(silent)} must set ${values}` };
};

/** Some means of confinement do not exist on Windows. */
const exceptOnWindows =
  (check: Check): Check =>
  (pod) =>
    fieldsOf(pod.spec['os'])['name'] === 'windows' ? undefined : check(pod);

/** What comes on top of the baseline, in the order in which findings are told. */
const restrictedChecks: readonly VersionedCheck[] = [
  { id: 'allowPrivilegeEscalation', since: 8, check: allowPrivilegeEscalation },
  { id: 'allowPrivilegeEscalation', since: 25, check: exceptOnWindows(allowPrivilegeEscalation) },
  { id: 'capabilities_restricted', since: 22, check: dropsCapabilities, replaces: 'capabilities_baseline' },
  {
    id: 'capabilities_restricted',
    since: 25,
    check: exceptOnWindows(dropsCapabilities),
    replaces: 'capabilities_baseline',
  },
  { id: 'procMount_restricted', since: 35, check: procMount, replaces: 'procMount' },
  { id: 'restrictedVolumes', since: 0, check: volumeTypes, replaces: 'hostPathVolumes' },
  { id: 'runAsNonRoot', since: 0, check: runAsNonRoot },
  { id: 'runAsNonRoot', since: 35, check: exceptInUserNamespace(runAsNonRoot) },
  { id: 'runAsUser', since: 23, check: runAsUser },
  { id: 'runAsUser', since: 35, check: exceptInUserNamespace(runAsUser) },
  { id: 'seccompProfile_restricted', since: 19, check: seccompRequired, replaces: 'seccompProfile_baseline' },
  {
    id: 'seccompProfile_restricted',
    since: 25,
    check: exceptOnWindows(seccompRequired),
    replaces: 'seccompProfile_baseline',
  },
];

/** Of the checks of one name, the last one up to a version. */
const asOf = (checks: readonly VersionedCheck[], minor: number): VersionedCheck[] => {
  const found = new Map<string, VersionedCheck>();
  for (const check of checks) if (check.since <= minor) found.set(check.id, check);
  return [...found.values()];
};

/** What is wrong with a pod, or a template of one, under a level as it was in a minor version; infinite for the latest. */
export function findViolations(
  level: Level,
  minor: number,
  spec: JsonObject,
  annotations: Json | undefined,
  { labels }: Pick<Names, 'labels'>,
): Violation[] {
  if (level === 'privileged') return [];
  const pod: PodView = { spec, annotations: fieldsOf(annotations), containers: allContainersOf(spec), labels };
  const restricted = level === 'restricted' ? asOf(restrictedChecks, minor) : [];
  const replaced = new Set(restricted.map(({ replaces }) => replaces));
  const baseline = asOf(baselineChecks, minor).filter(({ id }) => !replaced.has(id));
  return [...baseline, ...restricted].flatMap(({ check }) => check(pod) ?? []);
}
