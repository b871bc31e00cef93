/** The claims that pods refer to by their volumes. */
import { type Index, type Informer, keyIn } from '../../client/index.ts';
import type { PersistentVolumeClaim as ClaimSchema } from '../../types/core-v1.ts';
import type { Named } from '../shared/kind.ts';
import { controllerOf } from '../shared/owners.ts';
import type { Pod } from '../shared/pods.ts';

export type Claim = ClaimSchema & Named;
export type Volume = NonNullable<NonNullable<Pod['spec']>['volumes']>[number];

/** The name of the claim that is made for an ephemeral volume of the pod. */
export const ephemeralClaimName = ({ metadata }: Pod, { name }: Volume): string => `${metadata.name}-${name}`;

/** The claim of a volume; undefined when the volume needs none. */
const claimNameOf = (pod: Pod, volume: Volume): string | undefined =>
  volume.persistentVolumeClaim?.claimName ?? (volume.ephemeral ? ephemeralClaimName(pod, volume) : undefined);

/** The names of the claims that the pod refers to, in its namespace. */
export const claimNamesOf = (pod: Pod): string[] =>
  (pod.spec?.volumes ?? []).map((volume) => claimNameOf(pod, volume)).filter((name) => name !== undefined);

/** The pods by the keys of the claims that they refer to. */
export const byClaim = (pods: Informer<Pod>): Index<Pod> =>
  pods.indexBy('claim', (pod) => claimNamesOf(pod).map((name) => keyIn(pod.metadata.namespace ?? '', name)));

/** Whether the claim was made for an ephemeral volume of the pod. */
export const isMadeFor = (claim: Claim, { metadata }: Pod): boolean =>
  claim.metadata.namespace === metadata.namespace && controllerOf(claim)?.uid === metadata.uid;

/** The pod has ended, or is being deleted and none of its containers runs. */
export function hasEnded({ metadata, status }: Pod): boolean {
  if (status?.phase === 'Failed' || status?.phase === 'Succeeded') return true;
  if (metadata.deletionTimestamp === undefined) return false;
  const { initContainerStatuses = [], containerStatuses = [], ephemeralContainerStatuses = [] } = status ?? {};
  return [...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses].every(
    ({ state }) => state?.terminated || state?.waiting,
  );
}
