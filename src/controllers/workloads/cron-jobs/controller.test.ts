import { afterEach, describe, expect, it } from 'vitest';
import { formatTime } from '../../../meta/index.ts';
import * as kinds from '../../shared/kinds.ts';
import { type TestCluster, testCluster } from '../../testing/cluster.ts';
import { cronJobController } from './controller.ts';

let cluster: TestCluster;
afterEach(() => cluster.close());

const minute = 60_000;
/** The interval of the schedule. */
const step = 5 * minute;
const jobTemplate = {
  metadata: { labels: { a: 'b' }, annotations: { x: 'y' } },
  spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'example.com/app:1' }] } } },
};

/** Begins at midnight of 1 January 2026, a Thursday. */
async function start(spec: object = {}) {
  cluster = await testCluster([cronJobController]);
  const cronJob = await cluster.client.kind(kinds.cronJobs).create({
    metadata: { namespace: 'default', name: 'tick' },
    spec: { schedule: '*/5 * * * *', timeZone: 'UTC', jobTemplate, ...spec },
  });
  await cluster.settle();
  return cronJob;
}
const status = async () =>
  (await cluster.client.kind(kinds.cronJobs).get({ namespace: 'default', name: 'tick' })).status;
const jobs = async () =>
  (await cluster.client.kind(kinds.jobs).list({ namespace: 'default' })).items.sort((a, b) =>
    (a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1,
  );
const names = async () => (await jobs()).map(({ metadata }) => metadata.name);
const nameAt = (time: number) => `tick-${(Date.UTC(2026, 0, 1) + time) / minute}`;
const events = async () =>
  (await cluster.client.kind(kinds.events).list({ namespace: 'default' })).items.map(({ type, reason, message }) => [
    type,
    reason,
    message,
  ]);
const patch = (spec: object) =>
  cluster.client.kind(kinds.cronJobs).patch({ namespace: 'default', name: 'tick' }, 'merge', {
    spec,
  } as never);
const finish = async (name: string, type: 'Complete' | 'Failed') => {
  const job = await cluster.client.kind(kinds.jobs).get({ namespace: 'default', name });
  const time = formatTime(cluster.clock.now());
  const condition = (type: string) => ({ type, status: 'True', lastProbeTime: time, lastTransitionTime: time });
  const why = type === 'Complete' ? 'SuccessCriteriaMet' : 'FailureTarget';
  const more = type === 'Complete' ? { completionTime: time } : {};
  const status = { startTime: time, conditions: [condition(why), condition(type)], ...more };
  await cluster.client
    .kind(kinds.jobs)
    .subresource('status')
    .update({ ...job, status });
  await cluster.settle();
};

describe('cronjob-controller', () => {
  it('creates a job of the template at each time of the schedule', async () => {
    const { metadata } = await start();
    await cluster.advance(step);
    expect(await jobs()).toEqual([]);
    await cluster.advance(minute);
    const [job] = await jobs();
    expect(job?.metadata).toMatchObject({
      name: nameAt(step),
      labels: { a: 'b' },
      annotations: { x: 'y', 'batch.kubernetes.io/cronjob-scheduled-timestamp': '2026-01-01T00:05:00Z' },
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'CronJob', name: 'tick', uid: metadata.uid, controller: true }],
    });
    const { uid } = job?.metadata ?? {};
    expect(await status()).toEqual({
      active: [
        {
          apiVersion: 'batch/v1',
          kind: 'Job',
          namespace: 'default',
          name: nameAt(step),
          uid,
          resourceVersion: job?.metadata.resourceVersion,
        },
      ],
      lastScheduleTime: '2026-01-01T00:05:00Z',
    });
    await cluster.advance(step);
    expect(await names()).toEqual([nameAt(step), nameAt(2 * step)]);
    expect((await status())?.active).toHaveLength(2);
    expect(await events()).toEqual([
      ['Normal', 'SuccessfulCreate', `Created job ${nameAt(step)}`],
      ['Normal', 'SuccessfulCreate', `Created job ${nameAt(2 * step)}`],
    ]);
    expect(cluster.logged).toEqual([]);
  });

  it('follows its jobs to their ends', async () => {
    await start();
    await cluster.advance(2 * step + minute);
    await finish(nameAt(step), 'Complete');
    await finish(nameAt(2 * step), 'Failed');
    expect(await status()).toEqual({
      lastScheduleTime: '2026-01-01T00:10:00Z',
      lastSuccessfulTime: '2026-01-01T00:11:00Z',
    });
    expect((await events()).slice(2)).toEqual([
      ['Normal', 'SawCompletedJob', `Saw completed job: ${nameAt(step)}, condition: Complete`],
      ['Normal', 'SawCompletedJob', `Saw completed job: ${nameAt(2 * step)}, condition: Failed`],
    ]);
  });

  it('keeps as many finished jobs as its limits say, the latest ones', async () => {
    await start({ successfulJobsHistoryLimit: 1, failedJobsHistoryLimit: 0 });
    for (const at of [1, 2, 3]) {
      await cluster.advance(step + 1000);
      await finish(nameAt(at * step), at === 3 ? 'Failed' : 'Complete');
    }
    expect(await names()).toEqual([nameAt(2 * step)]);
    expect(await events()).toContainEqual(['Normal', 'SuccessfulDelete', `Deleted job ${nameAt(3 * step)}`]);
  });

  it.each([
    ['Allow', [1, 2], 2, undefined],
    [
      'Forbid',
      [1],
      1,
      [
        'Normal',
        'JobAlreadyActive',
        'Not starting job because prior execution is running and concurrency policy is Forbid',
      ],
    ],
    ['Replace', [2], 1, ['Normal', 'SuccessfulDelete', `Deleted job ${nameAt(step)}`]],
  ])('a job that still runs: %s', async (concurrencyPolicy, remaining, active, event) => {
    await start({ concurrencyPolicy });
    await cluster.advance(2 * step + minute);
    expect(await names()).toEqual(remaining.map((at) => nameAt(at * step)));
    expect((await status())?.active).toHaveLength(active);
    if (event !== undefined) expect(await events()).toContainEqual(event);
  });

  it('creates one job for all times that it missed while it was suspended', async () => {
    await start({ suspend: true });
    await cluster.advance(5 * step + minute);
    expect(await jobs()).toEqual([]);
    await patch({ suspend: false });
    await cluster.settle();
    expect(await names()).toEqual([nameAt(5 * step)]);
  });

  it('does not start jobs after their deadline', async () => {
    await start({ suspend: true, startingDeadlineSeconds: 30 });
    await cluster.advance(step + minute);
    await patch({ suspend: false });
    await cluster.settle();
    expect(await jobs()).toEqual([]);
    await cluster.advance(step);
    expect(await names()).toEqual([nameAt(2 * step)]);
  });

  it('reports many missed times', async () => {
    await start({ suspend: true });
    cluster.clock.set(cluster.clock.now() + 102 * step);
    await patch({ suspend: false });
    await cluster.settle();
    const text = 'too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew';
    expect(await events()).toContainEqual(['Warning', 'TooManyMissedTimes', text]);
    expect(await names()).toEqual([nameAt(102 * step)]);
  });

  it('does not apply another schedule to times before it was set', async () => {
    await start();
    await cluster.advance(3 * minute);
    await patch({ schedule: '*/2 * * * *' });
    await cluster.settle();
    expect(await jobs()).toEqual([]);
    await cluster.advance(minute + 1000);
    expect(await names()).toEqual([nameAt(4 * minute)]);
  });

  it('reads the schedule in its time zone', async () => {
    await start({ schedule: '35 5 * * *', timeZone: 'Asia/Kolkata' });
    await cluster.advance(2 * step);
    const [job] = await jobs();
    expect(job?.metadata).toMatchObject({
      name: nameAt(step),
      annotations: { 'batch.kubernetes.io/cronjob-scheduled-timestamp': '2026-01-01T05:35:00+05:30' },
    });
  });

  it('takes up the job of a time that was created before the status was written', async () => {
    const cronJob = await start();
    await cluster.restart(async () => {
      cluster.clock.set(cluster.clock.now() + step + minute);
      const { name = '', uid = '' } = cronJob.metadata;
      const owner = { apiVersion: 'batch/v1', kind: 'CronJob', name, uid, controller: true };
      await cluster.client.kind(kinds.jobs).create({
        metadata: { namespace: 'default', name: nameAt(step), ownerReferences: [owner] },
        spec: jobTemplate.spec,
      });
    });
    expect(await names()).toEqual([nameAt(step)]);
    expect(await status()).toMatchObject({
      active: [{ name: nameAt(step) }],
      lastScheduleTime: '2026-01-01T00:05:00Z',
    });
  });

  it('forgets active jobs that are gone', async () => {
    await start();
    await cluster.advance(step + minute);
    await cluster.client
      .kind(kinds.jobs)
      .delete({ namespace: 'default', name: nameAt(step) }, { propagationPolicy: 'Background' });
    await cluster.settle();
    expect((await status())?.active).toBeUndefined();
    expect(await events()).toContainEqual(['Normal', 'MissingJob', `Active job went missing: ${nameAt(step)}`]);
  });
});
