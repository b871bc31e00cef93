import { keyIn, keyOf } from '../../../client/index.ts';
import { annotationOf } from '../../../meta/index.ts';
import { storageClassOf } from '../../../rules/index.ts';
import * as kinds from '../../shared/kinds.ts';
import type { Controller } from '../../types.ts';
import { byClaim, type Claim } from '../pod-claims.ts';
import { annotationsOf, type Binder } from './binder.ts';
import { syncClaim } from './claims.ts';
import type { PersistentVolume } from './matching.ts';
import { syncVolume } from './volumes.ts';

/** How often claims that are not bound and volumes that could not be reclaimed are tried again (ms). */
const periodMs = 15_000;

const all = 'all';

/** Binds claims and volumes to each other, and reclaims volumes whose claim has been deleted. */
export const volumeBinderController: Controller = {
  name: 'persistentvolume-binder-controller',
  needs: [kinds.persistentVolumes, kinds.persistentVolumeClaims, kinds.storageClasses],
  account: 'persistent-volume-binder',
  eventSource: 'persistentvolume-controller',
  start({ client, events, every, informers, names, queue }) {
    const claims = informers.of(kinds.persistentVolumeClaims);
    const volumes = informers.of(kinds.persistentVolumes);
    const binder: Binder = {
      client,
      events,
      names,
      claims,
      volumes,
      classes: informers.of(kinds.storageClasses),
      available: volumes.indexBy('available by class', (volume) =>
        volume.status?.phase === 'Available' ? [storageClassOf(volume, names)] : [],
      ),
      reserved: volumes.indexBy('claim', ({ spec }) =>
        spec?.claimRef ? [keyIn(spec.claimRef.namespace ?? '', spec.claimRef.name ?? '')] : [],
      ),
      podsOf: byClaim(informers.of(kinds.pods)),
      addClaim: (key) => claimQueue.add(key),
    };
    const { bindCompleted } = annotationsOf(names);
    const isOpen = (claim: Claim) => annotationOf(claim, bindCompleted) === undefined;
    const isToReclaim = ({ spec, status }: PersistentVolume) =>
      ['Released', 'Failed'].includes(status?.phase ?? '') && spec?.persistentVolumeReclaimPolicy !== 'Retain';
    const openClaims = claims.indexBy('not bound', (claim) => (isOpen(claim) ? [all] : []));
    const released = volumes.indexBy('to reclaim', (volume) => (isToReclaim(volume) ? [all] : []));

    // One at a time: two claims never choose the same volume.
    const claimQueue = queue(
      'claims',
      async (key) => {
        const claim = claims.getByKey(key);
        if (claim !== undefined) await syncClaim(binder, claim);
      },
      { workers: 1 },
    );
    const volumeQueue = queue(
      'volumes',
      async (key) => {
        const volume = volumes.getByKey(key);
        if (volume !== undefined) await syncVolume(binder, volume);
      },
      { workers: 1 },
    );
    claims.onChange((claim, old) => {
      if (claim !== undefined) claimQueue.add(keyOf(claim));
      else if ((old?.spec?.volumeName ?? '') !== '') volumeQueue.add(old?.spec?.volumeName ?? '');
    });
    volumes.onChange((volume, old) => {
      if (volume !== undefined) volumeQueue.add(keyOf(volume));
      else if (old?.spec?.claimRef)
        claimQueue.add(keyIn(old.spec.claimRef.namespace ?? '', old.spec.claimRef.name ?? ''));
    });
    every(periodMs, () => {
      for (const claim of openClaims.get(all)) claimQueue.add(keyOf(claim));
      for (const volume of released.get(all)) volumeQueue.add(keyOf(volume));
    });
  },
};
