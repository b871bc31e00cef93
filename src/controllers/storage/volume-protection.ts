import { keyOf } from '../../client/index.ts';
import { isStatus } from '../../meta/index.ts';
import * as kinds from '../shared/kinds.ts';
import type { Controller } from '../types.ts';
import { finalizerTask, withFinalizer } from './finalizers.ts';

/** Keeps persistent volumes that are being deleted while they are bound, by a finalizer that all volumes have. */
export const volumeProtectionController: Controller = {
  name: 'persistentvolume-protection-controller',
  needs: [kinds.persistentVolumes],
  account: 'pv-protection-controller',
  start({ client, informers, names, queue }) {
    const finalizer = `${names.labels}/pv-protection`;
    const volumes = informers.of(kinds.persistentVolumes);
    const work = queue('pvprotection', async (key) => {
      const volume = volumes.getByKey(key);
      if (volume === undefined) return;
      const task = finalizerTask(volume, finalizer);
      if (task === undefined || (task === 'remove' && volume.status?.phase === 'Bound')) return;
      try {
        await client.kind(kinds.persistentVolumes).update(withFinalizer(volume, finalizer, task === 'add'));
      } catch (error) {
        if (!isStatus(error, 404)) throw error;
      }
    });
    volumes.onChange((volume) => {
      if (volume !== undefined && finalizerTask(volume, finalizer) !== undefined) work.add(keyOf(volume));
    });
  },
};
