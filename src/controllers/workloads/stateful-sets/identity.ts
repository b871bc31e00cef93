import type { Names } from '../../../meta/index.ts';
import type { StatefulSet as StatefulSetSchema } from '../../../types/apps-v1.ts';
import type { PersistentVolumeClaim as ClaimSchema } from '../../../types/core-v1.ts';
import type { Named } from '../../shared/kind.ts';
import * as kinds from '../../shared/kinds.ts';
import { podFromTemplate } from '../../shared/pod-control.ts';
import type { Pod } from '../../shared/pods.ts';
import { revisionLabel } from '../history.ts';

export type StatefulSet = StatefulSetSchema & Named;
export type Claim = ClaimSchema & Named;

export const replicasOf = ({ spec }: StatefulSet): number => spec?.replicas ?? 1;
export const firstOrdinal = ({ spec }: StatefulSet): number => spec?.ordinals?.start ?? 0;

/** The ordinal at the end of the pod's name; undefined without one. */
export function ordinalOf({ metadata: { name = '' } }: Pod): number | undefined {
  const [, digits = ''] = /^.*-([0-9]+)$/s.exec(name) ?? [];
  const ordinal = Number(digits);
  return digits === '' || ordinal > 2 ** 31 - 1 ? undefined : ordinal;
}

/** Whether the name of the pod is that of the set and an ordinal. */
export const isMember = (set: StatefulSet, { metadata: { name = '' } }: Named): boolean =>
  name.startsWith(`${set.metadata.name}-`) && /^[0-9]+$/.test(name.slice((set.metadata.name?.length ?? 0) + 1));

export function isInRange(set: StatefulSet, pod: Pod): boolean {
  const ordinal = ordinalOf(pod);
  const first = firstOrdinal(set);
  return ordinal !== undefined && ordinal >= first && ordinal < first + replicasOf(set);
}

const podName = (set: StatefulSet, ordinal: number): string => `${set.metadata.name}-${ordinal}`;

/** The labels that name a pod of a set. */
const identityLabels = ({ labels }: Names, set: StatefulSet, ordinal: number) => ({
  [`statefulset.${labels}/pod-name`]: podName(set, ordinal),
  [`apps.${labels}/pod-index`]: String(ordinal),
});

export const hasIdentity = (names: Names, set: StatefulSet, pod: Pod): boolean => {
  const { name } = pod.metadata;
  return isMember(set, pod) && pod.metadata.labels?.[`statefulset.${names.labels}/pod-name`] === name;
};

/** The pod with the labels and the volumes that its name requires. */
export function withIdentity(names: Names, set: StatefulSet, pod: Pod): Pod {
  const ordinal = ordinalOf(pod) ?? 0;
  const labels = { ...pod.metadata.labels, ...identityLabels(names, set, ordinal) };
  return {
    ...pod,
    metadata: { ...pod.metadata, labels },
    spec: { ...pod.spec, volumes: volumesOf(set, pod, ordinal) },
  };
}

type Volumes = NonNullable<NonNullable<Pod['spec']>['volumes']>;

/** The volumes of the claim templates, and those of the pod that have other names. */
function volumesOf(set: StatefulSet, { spec }: Pod, ordinal: number): Volumes {
  const templates = set.spec?.volumeClaimTemplates ?? [];
  const own = new Set(templates.map(({ metadata }) => metadata?.name));
  const claimed: Volumes = templates.map((template) => ({
    name: template.metadata?.name ?? '',
    persistentVolumeClaim: { claimName: claimName(set, template.metadata?.name, ordinal) },
  }));
  return [...claimed, ...(spec?.volumes ?? []).filter(({ name }) => !own.has(name))];
}

/** Whether each claim template has its volume in the pod. */
export function hasStorage(set: StatefulSet, pod: Pod): boolean {
  const ordinal = ordinalOf(pod);
  if (ordinal === undefined) return false;
  return (set.spec?.volumeClaimTemplates ?? []).every(({ metadata }) => {
    const volume = pod.spec?.volumes?.find(({ name }) => name === metadata?.name);
    return volume?.persistentVolumeClaim?.claimName === claimName(set, metadata?.name, ordinal);
  });
}

const claimName = (set: StatefulSet, template: string | undefined, ordinal: number): string =>
  `${template}-${set.metadata.name}-${ordinal}`;

/** The claims of a pod, by the templates of the set. */
export function claimsOf(set: StatefulSet, pod: Pod): Claim[] {
  const ordinal = ordinalOf(pod) ?? 0;
  const { namespace = '' } = set.metadata;
  return (set.spec?.volumeClaimTemplates ?? []).map(({ metadata, spec }) => ({
    metadata: {
      namespace,
      name: claimName(set, metadata?.name, ordinal),
      labels: { ...metadata?.labels, ...set.spec?.selector?.matchLabels },
      ...(metadata?.annotations === undefined ? {} : { annotations: { ...metadata.annotations } }),
    },
    ...(spec === undefined ? {} : { spec: structuredClone(spec) }),
  }));
}

/** A pod of the set's template, of this revision. */
export function newPod(names: Names, set: StatefulSet, revision: string, ordinal: number): Pod {
  const pod = podFromTemplate({ names }, { kind: kinds.statefulSets, object: set }, set.spec?.template ?? {});
  const name = podName(set, ordinal);
  const labels = { ...pod.metadata.labels, [revisionLabel]: revision };
  const identified = withIdentity(names, set, { ...pod, metadata: { ...pod.metadata, name, labels } });
  const subdomain = set.spec?.serviceName ?? '';
  return { ...identified, spec: { ...identified.spec, hostname: name, ...(subdomain === '' ? {} : { subdomain }) } };
}

/** The revision that the pod was made of. */
export const revisionOf = ({ metadata }: Pod): string | undefined => metadata.labels?.[revisionLabel];
