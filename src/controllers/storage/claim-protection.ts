import { keyOf } from '../../client/index.ts';
import { isStatus } from '../../meta/index.ts';
import * as kinds from '../shared/kinds.ts';
import type { Pod } from '../shared/pods.ts';
import type { Controller } from '../types.ts';
import { finalizerTask, withFinalizer } from './finalizers.ts';
import { byClaim, type Claim, claimNamesOf, ephemeralClaimName, isMadeFor } from './pod-claims.ts';

/** The containers of the pod have ended for good, or it was deleted by force: only finalizers keep it. */
const isShutDown = ({ metadata }: Pod): boolean =>
  metadata.deletionTimestamp !== undefined && metadata.deletionGracePeriodSeconds === 0;

/** Whether a scheduled pod needs the claim. One without a node cannot start with a claim that is being deleted. */
function uses(pod: Pod, claim: Claim): boolean {
  const { nodeName = '', volumes = [] } = pod.spec ?? {};
  if (nodeName === '') return false;
  const { name } = claim.metadata;
  return volumes.some(
    (volume) =>
      volume.persistentVolumeClaim?.claimName === name ||
      (volume.ephemeral !== undefined &&
        !isShutDown(pod) &&
        ephemeralClaimName(pod, volume) === name &&
        isMadeFor(claim, pod)),
  );
}

/** Keeps claims that are being deleted while a scheduled pod uses them, by a finalizer that all claims have. */
export const claimProtectionController: Controller = {
  name: 'persistentvolumeclaim-protection-controller',
  needs: [kinds.persistentVolumeClaims, kinds.pods],
  account: 'pvc-protection-controller',
  start({ client, informers, names, queue }) {
    const finalizer = `${names.labels}/pvc-protection`;
    const pods = informers.of(kinds.pods);
    const claims = informers.of(kinds.persistentVolumeClaims);
    const podsOf = byClaim(pods);
    const unsettled = claims.indexBy('protection', (claim) =>
      finalizerTask(claim, finalizer) === undefined ? [] : [claim.metadata.namespace ?? ''],
    );
    const update = async (claim: Claim, present: boolean) => {
      try {
        await client.kind(kinds.persistentVolumeClaims).update(withFinalizer(claim, finalizer, present));
      } catch (error) {
        if (!isStatus(error, 404)) throw error;
      }
    };
    // All claims of a namespace together, which share one list of its pods.
    const work = queue('pvcprotection', async (namespace) => {
      let listed: Promise<Pod[]> | undefined;
      const isUsed = async (claim: Claim) => {
        if (podsOf.get(keyOf(claim)).some((pod) => uses(pod, claim))) return true;
        // A pod that the informer does not hold yet.
        listed ??= client
          .kind(kinds.pods)
          .list({ namespace })
          .then(({ items }) => items);
        return (await listed).some((pod) => uses(pod, claim));
      };
      for (const claim of unsettled.get(namespace)) {
        if (finalizerTask(claim, finalizer) === 'add') await update(claim, true);
        else if (!(await isUsed(claim))) await update(claim, false);
      }
    });
    claims.onChange((claim) => {
      if (claim !== undefined && finalizerTask(claim, finalizer) !== undefined)
        work.add(claim.metadata.namespace ?? '');
    });
    pods.onChange((pod, old) => {
      const changed = pod ?? old;
      if (changed === undefined) return;
      const { namespace = '' } = changed.metadata;
      const isCandidate = (name: string) => {
        const claim = claims.get(namespace, name);
        return claim !== undefined && finalizerTask(claim, finalizer) === 'remove';
      };
      if (claimNamesOf(changed).some(isCandidate)) work.add(namespace);
    });
  },
};
