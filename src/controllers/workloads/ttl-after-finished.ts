import { keyOf } from '../../client/index.ts';
import { isStatus, parseTime } from '../../meta/index.ts';
import type { Job as JobSchema } from '../../types/batch-v1.ts';
import type { Named } from '../shared/kind.ts';
import * as kinds from '../shared/kinds.ts';
import type { Controller } from '../types.ts';

type Job = JobSchema & Named;

/** When to delete a finished job (ms); undefined for an unfinished job and for one without a time to live. */
function expiryOf({ metadata, spec, status }: Job): number | undefined {
  const { ttlSecondsAfterFinished: seconds } = spec ?? {};
  const finished = status?.conditions?.find(
    (condition) => (condition.type === 'Complete' || condition.type === 'Failed') && condition.status === 'True',
  );
  if (seconds === undefined || metadata.deletionTimestamp !== undefined) return undefined;
  if (typeof finished?.lastTransitionTime !== 'string') return undefined;
  return parseTime(finished.lastTransitionTime) + seconds * 1000;
}

/** Deletes finished jobs, with their pods, when their time to live is over. */
export const ttlAfterFinishedController: Controller = {
  name: 'ttl-after-finished-controller',
  needs: [kinds.jobs],
  account: 'ttl-after-finished-controller',
  start({ client, clock, informers, queue }) {
    const jobs = informers.of(kinds.jobs);
    const remainingMs = (job: Job | undefined) => {
      const expiry = job && expiryOf(job);
      return expiry === undefined ? undefined : expiry - clock.now();
    };
    const work = queue('ttl_jobs_to_delete', async (key) => {
      const job = jobs.getByKey(key);
      const ms = remainingMs(job);
      if (job === undefined || ms === undefined) return undefined;
      if (ms > 0) return { requeueAfterMs: ms };
      const { namespace = '', name = '' } = job.metadata;
      // The time to live may have been extended a moment ago.
      const live = await client.kind(kinds.jobs).find({ namespace, name });
      const liveMs = remainingMs(live);
      if (live === undefined || liveMs === undefined) return undefined;
      if (liveMs > 0) return { requeueAfterMs: liveMs };
      try {
        await client.kind(kinds.jobs).delete(live.metadata, { propagationPolicy: 'Foreground' });
      } catch (error) {
        if (!isStatus(error, 404) && !isStatus(error, 409)) throw error;
      }
      return undefined;
    });
    jobs.onChange((job) => {
      if (job !== undefined && expiryOf(job) !== undefined) work.add(keyOf(job));
    });
  },
};
