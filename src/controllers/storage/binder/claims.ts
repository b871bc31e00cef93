/** Binds claims to volumes, or records why that is impossible. */
import { keyOf } from '../../../client/index.ts';
import { annotationOf } from '../../../meta/index.ts';
import { classAnnotation, storageClassOf } from '../../../rules/index.ts';
import * as kinds from '../../shared/kinds.ts';
import { createdAt } from '../../shared/pods.ts';
import { type Claim, hasEnded } from '../pod-claims.ts';
import { annotationsOf, type Binder, bind, type StorageClass, setClaimPhase } from './binder.ts';
import { bestVolume, isBoundTo, mismatchOf } from './matching.ts';
import { provision } from './provisioning.ts';

/** Binds the claim to its volume or to one that suits it, or sees to it that one is provisioned. */
export function syncClaim(binder: Binder, claim: Claim): Promise<void> {
  if (annotationOf(claim, annotationsOf(binder.names).bindCompleted) !== undefined) return syncBound(binder, claim);
  return (claim.spec?.volumeName ?? '') === '' ? syncUnbound(binder, claim) : syncNamed(binder, claim);
}

/** A claim that leaves open which volume it gets. */
async function syncUnbound(binder: Binder, claim: Claim): Promise<void> {
  const { client, classes, events, names, available, reserved } = binder;
  const className = storageClassOf(claim, names);
  const waits = classes.get('', className)?.volumeBindingMode === 'WaitForFirstConsumer';
  const volume = bestVolume(claim, {
    reserved: reserved.get(keyOf(claim)),
    available: waits ? [] : available.get(className),
  });
  if (volume !== undefined) return bind(binder, volume, claim);
  const storageClassName = hasClass(binder, claim) ? undefined : defaultClass(binder)?.metadata.name;
  if (storageClassName !== undefined) {
    await client.kind(kinds.persistentVolumeClaims).update({ ...claim, spec: { ...claim.spec, storageClassName } });
    return;
  }
  if (waits && annotationOf(claim, annotationsOf(names).selectedNode) === undefined) recordWait(binder, claim);
  else if (className !== '') return provision(binder, claim, className);
  else {
    const message = 'no persistent volumes available for this claim and no storage class is set';
    events.record(claim, 'Normal', 'FailedBinding', message);
  }
  await setClaimPhase(binder, claim, 'Pending');
}

const hasClass = ({ names }: Binder, claim: Claim): boolean =>
  annotationOf(claim, classAnnotation(names)) !== undefined || typeof claim.spec?.storageClassName === 'string';

/** The newest class that is marked as the default; of the same age, the first by name. */
function defaultClass({ classes, names: { labels } }: Binder): StorageClass | undefined {
  const marks = [`storageclass.${labels}/is-default-class`, `storageclass.beta.${labels}/is-default-class`];
  return classes
    .list()
    .filter((one) => marks.some((mark) => annotationOf(one, mark) === 'true'))
    .sort(
      (a, b) =>
        (createdAt(b) ?? 0) - (createdAt(a) ?? 0) || ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1),
    )[0];
}

/** Says for which pods a claim waits whose volume depends on where they run. */
function recordWait({ events, podsOf }: Binder, claim: Claim): void {
  const pods = podsOf.get(keyOf(claim)).filter((pod) => !hasEnded(pod) && (pod.spec?.nodeName ?? '') === '');
  const podNames = pods.map(({ metadata }) => metadata.name).join(',');
  if (pods.length === 0) {
    const message = 'waiting for first consumer to be created before binding';
    events.record(claim, 'Normal', 'WaitForFirstConsumer', message);
  } else {
    const message = `waiting for pod${pods.length > 1 ? 's' : ''} ${podNames} to be scheduled`;
    events.record(claim, 'Normal', 'WaitForPodScheduled', message);
  }
}

/** A claim whose author asked for a volume by its name. */
async function syncNamed(binder: Binder, claim: Claim): Promise<void> {
  const { events, names, volumes } = binder;
  const volume = volumes.get('', claim.spec?.volumeName ?? '');
  if (volume === undefined) {
    await setClaimPhase(binder, claim, 'Pending');
    return;
  }
  const name = `"${volume.metadata.name}"`;
  if (!volume.spec?.claimRef) {
    const mismatch = mismatchOf(volume, claim, names);
    if (mismatch === undefined) return bind(binder, volume, claim);
    events.record(claim, 'Warning', 'VolumeMismatch', `Cannot bind to requested volume ${name}: ${mismatch}`);
    await setClaimPhase(binder, claim, 'Pending');
    return;
  }
  if (isBoundTo(volume, claim)) return bind(binder, volume, claim);
  events.record(claim, 'Warning', 'FailedBinding', `volume ${name} already bound to a different claim.`);
  if (annotationOf(claim, annotationsOf(names).boundByController) === undefined) {
    await setClaimPhase(binder, claim, 'Pending');
    return;
  }
  const { namespace, name: other } = volume.spec.claimRef;
  throw new Error(
    `invalid binding of claim "${keyOf(claim)}" to volume ${name}: volume already claimed by "${namespace}/${other}"`,
  );
}

/** A claim that has been bound: for good, or until its volume is lost. */
async function syncBound(binder: Binder, claim: Claim): Promise<void> {
  const volumeName = claim.spec?.volumeName ?? '';
  if (volumeName === '') {
    const message = 'Bound claim has lost reference to PersistentVolume. Data on the volume is lost!';
    return lose(binder, claim, 'ClaimLost', message);
  }
  const volume = binder.volumes.get('', volumeName);
  if (volume === undefined) {
    const message = 'Bound claim has lost its PersistentVolume. Data on the volume is lost!';
    return lose(binder, claim, 'ClaimLost', message);
  }
  const { claimRef } = volume.spec ?? {};
  if (!claimRef || claimRef.uid === claim.metadata.uid) return bind(binder, volume, claim);
  const message = 'Two claims are bound to the same volume, this one is bound incorrectly';
  return lose(binder, claim, 'ClaimMisbound', message);
}

async function lose(binder: Binder, claim: Claim, reason: string, message: string): Promise<void> {
  if (claim.status?.phase === 'Lost') return;
  const lost = await setClaimPhase(binder, claim, 'Lost');
  binder.events.record(lost, 'Warning', reason, message);
}
