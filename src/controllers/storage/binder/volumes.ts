/** Volumes follow their claims: they are available, bound or released, and reclaimed. */
import { keyIn } from '../../../client/index.ts';
import { annotationOf, isStatus } from '../../../meta/index.ts';
import * as kinds from '../../shared/kinds.ts';
import { type Claim, hasEnded } from '../pod-claims.ts';
import { annotationsOf, type Binder, setVolumePhase, unbind } from './binder.ts';
import { type PersistentVolume, sameVolumeMode } from './matching.ts';
import { deletionOf } from './provisioning.ts';

/** Brings the phase of a volume in line with its claim, and reclaims the volume when the claim is gone. */
export async function syncVolume(binder: Binder, volume: PersistentVolume): Promise<void> {
  const { addClaim, events, names } = binder;
  const { claimRef } = volume.spec ?? {};
  const key = keyIn(claimRef?.namespace ?? '', claimRef?.name ?? '');
  if (!claimRef || (claimRef.uid ?? '') === '') {
    // A claim for which it is reserved may wait for it.
    if ((await setVolumePhase(binder, volume, 'Available')) !== volume && claimRef) addClaim(key);
    return;
  }
  const claim = await claimOf(binder, volume);
  const { provisionedBy } = annotationsOf(names);
  if (claim === undefined) return release(binder, volume);
  const { volumeName = '' } = claim.spec ?? {};
  const { name = '' } = volume.metadata;
  if (volumeName === name) await setVolumePhase(binder, volume, 'Bound');
  else if (volumeName !== '') {
    const isSpare = annotationOf(volume, provisionedBy) !== undefined;
    if (isSpare && volume.spec?.persistentVolumeReclaimPolicy === 'Delete') await release(binder, volume);
    else await unbind(binder, volume);
  } else if (sameVolumeMode(volume, claim)) addClaim(key);
  else {
    const texts = [
      `Cannot bind PersistentVolume to requested PersistentVolumeClaim "${claim.metadata.name}"`,
      `Cannot bind PersistentVolume "${name}" to requested PersistentVolumeClaim`,
    ];
    events.record(volume, 'Warning', 'VolumeMismatch', `${texts[0]} due to incompatible volumeMode.`);
    events.record(claim, 'Warning', 'VolumeMismatch', `${texts[1]} due to incompatible volumeMode.`);
  }
}

/** The claim that the volume is bound to, by its uid; undefined when it is gone, in the store too. */
async function claimOf({ claims, client }: Binder, volume: PersistentVolume): Promise<Claim | undefined> {
  const { namespace = '', name = '', uid } = volume.spec?.claimRef ?? {};
  const cached = claims.get(namespace, name);
  if (cached?.metadata.uid === uid) return cached;
  if (cached === undefined && ['Released', 'Failed'].includes(volume.status?.phase ?? '')) return undefined;
  const live = await client.kind(kinds.persistentVolumeClaims).find({ namespace, name });
  return live?.metadata.uid === uid ? live : undefined;
}

/** The volume is released, and reclaimed by its policy. One that could not be reclaimed stays failed, and is tried again. */
async function release(binder: Binder, volume: PersistentVolume): Promise<void> {
  const isNew = !['Released', 'Failed'].includes(volume.status?.phase ?? '');
  const released = isNew ? await setVolumePhase(binder, volume, 'Released') : volume;
  if ((annotationOf(released, annotationsOf(binder.names).migratedTo) ?? '') !== '') return;
  const policy = released.spec?.persistentVolumeReclaimPolicy;
  if (policy === 'Delete') await deleteVolume(binder, released);
  else if (policy === 'Recycle') await recycle(binder, released);
}

async function fail(binder: Binder, volume: PersistentVolume, reason: string, message: string): Promise<void> {
  if (volume.status?.phase === 'Failed') return;
  const failed = await setVolumePhase(binder, volume, 'Failed', message);
  binder.events.record(failed, 'Warning', reason, message);
}

async function deleteVolume(binder: Binder, volume: PersistentVolume): Promise<void> {
  const deletion = deletionOf(binder, volume);
  if (deletion === 'external') return;
  if (deletion !== undefined) return fail(binder, volume, 'VolumeFailedDelete', deletion.message);
  if (volume.metadata.deletionTimestamp !== undefined) return;
  try {
    const { uid = '', resourceVersion = '' } = volume.metadata;
    await binder.client
      .kind(kinds.persistentVolumes)
      .delete(volume.metadata, { preconditions: { uid, resourceVersion } });
  } catch (error) {
    if (!isStatus(error, 404)) throw error;
  }
}

/** No volume can be recycled: that takes a pod which deletes its content. */
async function recycle(binder: Binder, volume: PersistentVolume): Promise<void> {
  const { claims, events, podsOf } = binder;
  const { namespace = '', name = '' } = volume.spec?.claimRef ?? {};
  const users = podsOf.get(keyIn(namespace, name)).filter((pod) => !hasEnded(pod));
  if (users.length > 0 && claims.get(namespace, name) === undefined) {
    const pods = users.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`).sort();
    events.record(volume, 'Normal', 'VolumeFailedRecycle', `Volume is used by pods: ${pods.join(',')}`);
    return;
  }
  await fail(binder, volume, 'VolumeFailedRecycle', 'No recycler plugin found for the volume!');
}
