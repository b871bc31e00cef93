import { afterEach, describe, expect, it } from 'vitest';
import * as kinds from '../../shared/kinds.ts';
import type { Pod } from '../../shared/pods.ts';
import { type TestCluster, testCluster } from '../../testing/cluster.ts';
import { jobController } from './controller.ts';

let cluster: TestCluster;
afterEach(() => cluster.close());

const template = {
  spec: {
    automountServiceAccountToken: false,
    restartPolicy: 'Never',
    containers: [{ name: 'c', image: 'example.com/app:1' }],
  },
};
const finalizer = 'batch.kubernetes.io/job-tracking';

async function start(spec: object = {}, name = 'work') {
  cluster = await testCluster([jobController]);
  await cluster.client.kind(kinds.serviceAccounts).create({ metadata: { namespace: 'default', name: 'default' } });
  return create(spec, name);
}
async function create(spec: object, name: string) {
  const job = await cluster.client.kind(kinds.jobs).create({
    metadata: { namespace: 'default', name },
    spec: { template, ...spec },
  });
  await cluster.settle();
  return job;
}
const status = async (name = 'work') =>
  (await cluster.client.kind(kinds.jobs).get({ namespace: 'default', name })).status;
const conditions = async (name = 'work') =>
  (await status(name))?.conditions?.map(({ type, status, reason }) => [type, status, reason]);
const pods = async (name = 'work') =>
  cluster.client
    .kind(kinds.pods)
    .list({ namespace: 'default', labelSelector: `job-name=${name}` })
    .then(({ items }) => items);
const running = async () => (await pods()).filter(({ status }) => status?.phase === 'Pending');
const byIndex = async (index: number) =>
  (await pods()).filter(({ metadata }) => metadata.labels?.['batch.kubernetes.io/job-completion-index'] === `${index}`);
const update = async (spec: object) => {
  await cluster.client.kind(kinds.jobs).patch({ namespace: 'default', name: 'work' }, 'merge', {
    spec,
  } as never);
  await cluster.settle();
};
const write = async (pod: Pod | undefined, status: object) => {
  await cluster.client
    .kind(kinds.pods)
    .subresource('status')
    .patch((pod as Pod).metadata, 'merge', { status } as never);
};
/** Ends the pod, and waits until its job has seen it. */
const finish = async (pod: Pod | undefined, phase: 'Succeeded' | 'Failed', exitCode = 1, more: object = {}) => {
  const time = new Date(cluster.clock.now()).toISOString().replace(/\.\d+/, '');
  const terminated = { exitCode: phase === 'Succeeded' ? 0 : exitCode, finishedAt: time };
  const containerStatuses = [
    { name: 'c', image: 'i', imageID: 'i', ready: false, restartCount: 0, state: { terminated } },
  ];
  await write(pod, { phase, containerStatuses, ...more });
  await cluster.settle();
  await cluster.advance(1000);
  await cluster.advance(1000);
};
const eventsOf = async (name = 'work') => {
  const events = (await cluster.client.kind(kinds.events).list({ namespace: 'default' })).items;
  return events
    .filter(({ involvedObject }) => involvedObject?.name === name)
    .map(({ type, reason, message }) => [type, reason, message?.replace(/-[a-z0-9]{5}$/, '-?')]);
};

describe('job-controller', () => {
  it('creates pods that it tracks, counts those that end, and completes the job', async () => {
    const { metadata } = await start({ completions: 3, parallelism: 2 });
    const first = await pods();
    expect(first).toHaveLength(2);
    expect(first[0]?.metadata).toMatchObject({
      generateName: 'work-',
      finalizers: [finalizer],
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: 'work', uid: metadata.uid, controller: true }],
    });
    const startTime = '2026-01-01T00:00:00Z';
    const counts = { ready: 0, terminating: 0, startTime, uncountedTerminatedPods: {} };
    expect(await status()).toEqual({ active: 2, ...counts });
    await finish(first[0], 'Succeeded');
    await finish(first[1], 'Succeeded');
    expect(await status()).toEqual({ active: 1, succeeded: 2, ...counts });
    expect((await running()).length).toBe(1);
    await finish((await running())[0], 'Succeeded');
    expect(await status()).toMatchObject({ succeeded: 3, completionTime: expect.any(String), ...counts });
    expect(await conditions()).toEqual([
      ['SuccessCriteriaMet', 'True', 'CompletionsReached'],
      ['Complete', 'True', 'CompletionsReached'],
    ]);
    expect((await pods()).map(({ metadata }) => metadata.finalizers)).toEqual([undefined, undefined, undefined]);
    const created = ['Normal', 'SuccessfulCreate', 'Created pod: work-?'];
    expect(await eventsOf()).toEqual([created, created, created, ['Normal', 'Completed', 'Job completed']]);
    expect(cluster.logged).toEqual([]);
  });

  it('lists pods as uncounted before it removes their finalizers, and counts them afterwards', async () => {
    await start({ completions: 2, parallelism: 2 });
    const [first] = await pods();
    const states: unknown[] = [];
    const jobs = cluster.controllers.informers.of(kinds.jobs);
    const all = cluster.controllers.informers.of(kinds.pods);
    const uid = first?.metadata.uid ?? '';
    const state = () => {
      const { succeeded = 0, uncountedTerminatedPods } = jobs.get('default', 'work')?.status ?? {};
      const { finalizers = [] } = all.get('default', first?.metadata.name ?? '')?.metadata ?? {};
      states.push([uncountedTerminatedPods?.succeeded?.includes(uid) === true, finalizers.length, succeeded]);
    };
    jobs.onChange(state);
    all.onChange(state);
    states.length = 0;
    await finish(first, 'Succeeded');
    const distinct = states.filter((one, i) => JSON.stringify(one) !== JSON.stringify(states[i - 1]));
    expect(distinct).toEqual([
      [false, 1, 0],
      [true, 1, 0],
      [true, 0, 0],
      [false, 0, 1],
    ]);
  });

  it.each([
    ['the pod is listed and has its finalizer', true, true],
    ['the pod is listed and has lost its finalizer', true, false],
    ['the pod is not listed and has its finalizer', false, true],
  ])('counts a pod once when the process begins while %s', async (_, isListed, isTracked) => {
    await start({ completions: 2, parallelism: 1 });
    const [pod] = await pods();
    await cluster.restart(async () => {
      await write(pod, { phase: 'Succeeded' });
      if (isListed) {
        const job = await cluster.client.kind(kinds.jobs).get({ namespace: 'default', name: 'work' });
        const uncountedTerminatedPods = { succeeded: [pod?.metadata.uid ?? ''] };
        await cluster.client
          .kind(kinds.jobs)
          .subresource('status')
          .update({ ...job, status: { ...job.status, uncountedTerminatedPods } });
      }
      if (!isTracked)
        await cluster.client.kind(kinds.pods).patch((pod as Pod).metadata, 'merge', { metadata: { finalizers: null } });
    });
    await cluster.advance(3000);
    expect(await status()).toMatchObject({ succeeded: 1, active: 1, uncountedTerminatedPods: {} });
  });

  it('fails a job with more failures than its backoff limit, after its other pods have ended', async () => {
    await start({ backoffLimit: 0, completions: 2, parallelism: 2 });
    const [first, other] = await pods();
    await write(other, { phase: 'Running' });
    await finish(first, 'Failed');
    const message = 'Job has reached the specified backoff limit';
    expect((await status())?.conditions).toMatchObject([
      { type: 'FailureTarget', status: 'True', reason: 'BackoffLimitExceeded', message },
      { type: 'Failed', status: 'True', reason: 'BackoffLimitExceeded', message },
    ]);
    expect(await status()).toMatchObject({ failed: 2, ready: 0, terminating: 0, uncountedTerminatedPods: {} });
    expect((await pods()).map(({ metadata }) => metadata.name)).toEqual([first?.metadata.name]);
    const events = await eventsOf();
    expect(events.slice(2)).toEqual([
      ['Normal', 'SuccessfulDelete', `Deleted pod: ${other?.metadata.name}`.replace(/-[a-z0-9]{5}$/, '-?')],
      ['Warning', 'BackoffLimitExceeded', message],
    ]);
  });

  it('replaces failed pods with a delay that doubles', async () => {
    await start({ completions: 1 });
    for (const delay of [10_000, 20_000, 40_000]) {
      await finish((await running())[0], 'Failed');
      await cluster.advance(delay - 3000);
      expect(await running()).toHaveLength(0);
      await cluster.advance(1000);
      expect(await running()).toHaveLength(1);
    }
    expect((await status())?.failed).toBe(3);
  });

  it('fails a job that is active longer than its deadline', async () => {
    await start({ activeDeadlineSeconds: 5 });
    await cluster.advance(4999);
    expect((await status())?.conditions).toBeUndefined();
    await cluster.advance(2001);
    expect(await conditions()).toEqual([
      ['FailureTarget', 'True', 'DeadlineExceeded'],
      ['Failed', 'True', 'DeadlineExceeded'],
    ]);
    expect(await status()).toMatchObject({ failed: 1 });
    expect(await eventsOf()).toContainEqual([
      'Warning',
      'DeadlineExceeded',
      'Job was active longer than specified deadline',
    ]);
  });

  it('has no pods while it is suspended, and starts again when it is resumed', async () => {
    await start({ suspend: true, parallelism: 2, activeDeadlineSeconds: 60 });
    expect(await pods()).toHaveLength(0);
    expect((await status())?.startTime).toBeUndefined();
    await cluster.advance(100_000);
    await update({ suspend: false });
    expect(await pods()).toHaveLength(2);
    expect(await conditions()).toEqual([['Suspended', 'False', 'JobResumed']]);
    expect((await status())?.startTime).toBe('2026-01-01T00:01:40Z');
    await update({ suspend: true });
    expect(await pods()).toHaveLength(0);
    expect(await status()).toMatchObject({ ready: 0, conditions: [{ type: 'Suspended', status: 'True' }] });
    expect((await status())?.startTime).toBeUndefined();
    expect((await eventsOf()).filter(([, reason]) => !reason?.startsWith('Successful'))).toEqual([
      ['Normal', 'Suspended', 'Job suspended'],
      ['Normal', 'Resumed', 'Job resumed'],
    ]);
    expect((await status())?.failed).toBeUndefined();
  });

  it('replaces the start time of a job that it resumes', async () => {
    await start({ suspend: true });
    const job = await cluster.client.kind(kinds.jobs).get({ namespace: 'default', name: 'work' });
    const startTime = '2026-01-01T00:00:00Z';
    await cluster.client
      .kind(kinds.jobs)
      .subresource('status')
      .update({ ...job, status: { ...job.status, startTime } });
    await cluster.advance(60_000);
    await update({ suspend: false });
    expect((await status())?.startTime).toBe('2026-01-01T00:01:00Z');
    expect(cluster.logged).toEqual([]);
  });

  it('deletes surplus pods', async () => {
    await start({ parallelism: 3, completions: 3 });
    await update({ parallelism: 1 });
    expect(await pods()).toHaveLength(1);
    expect(await status()).toMatchObject({ active: 1 });
    await cluster.advance(1000);
    expect(await status()).toMatchObject({ active: 1, terminating: 0 });
    expect((await status())?.failed).toBeUndefined();
  });

  it('leaves the other pods of a job without completions to end when one has succeeded', async () => {
    await start({ parallelism: 2 });
    const [first, second] = await pods();
    await finish(first, 'Succeeded');
    expect(await status()).toMatchObject({ active: 1, succeeded: 1 });
    await finish(second, 'Failed');
    expect(await conditions()).toContainEqual(['Complete', 'True', 'CompletionsReached']);
    expect(await status()).toMatchObject({ succeeded: 1, failed: 1 });
  });

  it('adopts pods that it selects, with a finalizer, and releases them without one', async () => {
    const job = await start({ completions: 2, parallelism: 2 });
    const [own] = await pods();
    await cluster.client
      .kind(kinds.pods)
      .patch((own as Pod).metadata, 'merge', { metadata: { ownerReferences: null } });
    await cluster.settle();
    await cluster.advance(1000);
    const [adopted] = (await pods()).filter(({ metadata }) => metadata.name === own?.metadata.name);
    expect(adopted?.metadata).toMatchObject({ finalizers: [finalizer], ownerReferences: [{ uid: job.metadata.uid }] });
    await cluster.client.kind(kinds.pods).patch((own as Pod).metadata, 'merge', {
      metadata: { labels: { 'batch.kubernetes.io/controller-uid': 'other' } },
    });
    await cluster.settle();
    await cluster.advance(1000);
    const released = await cluster.client
      .kind(kinds.pods)
      .get({ namespace: 'default', name: own?.metadata.name ?? '' });
    expect(released.metadata.finalizers).toBeUndefined();
    expect(released.metadata.ownerReferences).toBeUndefined();
    expect(await running()).toHaveLength(3);
  });

  it('removes the finalizers of pods when their job is gone', async () => {
    await start({ parallelism: 2 });
    await cluster.client
      .kind(kinds.jobs)
      .delete({ namespace: 'default', name: 'work' }, { propagationPolicy: 'Background' });
    await cluster.settle();
    expect((await pods()).map(({ metadata }) => metadata.finalizers)).toEqual([undefined, undefined]);
  });

  it('leaves a job to the controller that manages it', async () => {
    await start({ managedBy: 'example.com/other' });
    expect(await pods()).toHaveLength(0);
    expect(await status()).toEqual({});
  });

  it('replaces pods that are being deleted only when they have ended, if it says so', async () => {
    await start({ completions: 1, podReplacementPolicy: 'Failed' });
    const [pod] = await pods();
    await cluster.client.kind(kinds.pods).patch((pod as Pod).metadata, 'merge', {
      metadata: { finalizers: [finalizer, 'example.com/x'] },
    });
    await cluster.client.kind(kinds.pods).delete((pod as Pod).metadata);
    await cluster.settle();
    await cluster.advance(2000);
    expect(await pods()).toHaveLength(1);
    expect(await status()).toMatchObject({ terminating: 1, ready: 0 });
    await finish(pod, 'Failed');
    await cluster.advance(10_000);
    expect(await pods()).toHaveLength(2);
    expect(await status()).toMatchObject({ active: 1, failed: 1, terminating: 0 });
  });
});

describe('pod failure policies', () => {
  const rules = [
    { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
    { action: 'FailJob', onExitCodes: { containerName: 'c', operator: 'In', values: [42] } },
    { action: 'Count', onExitCodes: { operator: 'NotIn', values: [7] } },
  ];

  it('a rule fails the job', async () => {
    await start({ podFailurePolicy: { rules } });
    const [pod] = await pods();
    await finish(pod, 'Failed', 42);
    expect((await status())?.conditions).toMatchObject([
      { type: 'FailureTarget', reason: 'PodFailurePolicy' },
      {
        type: 'Failed',
        message: `Container c for pod default/${pod?.metadata.name} failed with exit code 42 matching FailJob rule at index 1`,
      },
    ]);
  });

  it('a rule ignores failures', async () => {
    await start({ podFailurePolicy: { rules }, backoffLimit: 0 });
    const [pod] = await pods();
    await finish(pod, 'Failed', 1, { conditions: [{ type: 'DisruptionTarget', status: 'True' }] });
    await cluster.advance(10_000);
    expect((await status())?.failed).toBeUndefined();
    expect(await running()).toHaveLength(1);
    await finish((await running())[0], 'Failed', 1);
    expect(await conditions()).toContainEqual(['Failed', 'True', 'BackoffLimitExceeded']);
  });
});

describe('indexed jobs', () => {
  const indexed = { completionMode: 'Indexed', completions: 4, parallelism: 2 };

  it('run one pod for each index', async () => {
    await start(indexed);
    const key = 'batch.kubernetes.io/job-completion-index';
    const [second] = await byIndex(1);
    expect(second?.metadata).toMatchObject({
      generateName: 'work-1-',
      labels: { [key]: '1' },
      annotations: { [key]: '1' },
    });
    expect(second?.spec?.hostname).toBe('work-1');
    const fieldRef = { apiVersion: 'v1', fieldPath: `metadata.labels['${key}']` };
    expect(second?.spec?.containers?.[0]?.env).toEqual([{ name: 'JOB_COMPLETION_INDEX', valueFrom: { fieldRef } }]);
    await finish(second, 'Succeeded');
    expect(await status()).toMatchObject({ completedIndexes: '1', succeeded: 1, active: 2 });
    await finish((await byIndex(2))[0], 'Succeeded');
    expect(await status()).toMatchObject({ completedIndexes: '1,2', succeeded: 2, active: 2 });
    await finish((await byIndex(0))[0], 'Succeeded');
    expect(await status()).toMatchObject({ completedIndexes: '0-2', succeeded: 3, active: 1 });
    await finish((await byIndex(3))[0], 'Succeeded');
    expect(await conditions()).toContainEqual(['Complete', 'True', 'CompletionsReached']);
    expect(await status()).toMatchObject({ completedIndexes: '0-3', succeeded: 4 });
  });

  it('have backoff limits for each index', async () => {
    await start({ ...indexed, completions: 2, backoffLimitPerIndex: 1 });
    const count = 'batch.kubernetes.io/job-index-failure-count';
    const [first] = await byIndex(0);
    expect(first?.metadata.annotations?.[count]).toBe('0');
    await finish(first, 'Failed');
    // It is kept until it is replaced: it counts the failures.
    expect((await byIndex(0))[0]?.metadata.finalizers).toEqual([finalizer]);
    await cluster.advance(10_000);
    const replacement = (await byIndex(0)).find(({ status }) => status?.phase === 'Pending');
    expect(replacement?.metadata.annotations?.[count]).toBe('1');
    expect((await byIndex(0)).filter(({ metadata }) => metadata.finalizers !== undefined)).toHaveLength(1);
    await finish(replacement, 'Failed');
    expect(await status()).toMatchObject({ failedIndexes: '0', failed: 2, active: 1 });
    await finish((await byIndex(1))[0], 'Succeeded');
    expect(await conditions()).toEqual([
      ['FailureTarget', 'True', 'FailedIndexes'],
      ['Failed', 'True', 'FailedIndexes'],
    ]);
    expect(await status()).toMatchObject({ failedIndexes: '0', completedIndexes: '1', succeeded: 1, failed: 2 });
  });

  it('fail with more failed indexes than they may have', async () => {
    await start({ ...indexed, backoffLimitPerIndex: 0, maxFailedIndexes: 0 });
    await finish((await byIndex(0))[0], 'Failed');
    expect(await conditions()).toContainEqual(['Failed', 'True', 'MaxFailedIndexesExceeded']);
  });

  it('a rule fails an index', async () => {
    const rules = [{ action: 'FailIndex', onExitCodes: { operator: 'In', values: [3] } }];
    await start({ ...indexed, backoffLimitPerIndex: 5, podFailurePolicy: { rules } });
    await finish((await byIndex(0))[0], 'Failed', 3);
    expect(await status()).toMatchObject({ failedIndexes: '0', failed: 1, active: 2 });
    expect(await byIndex(2)).toHaveLength(1);
  });

  it('complete when a rule of their success policy is met', async () => {
    const rules = [{ succeededIndexes: '2-3' }, { succeededIndexes: '0-1', succeededCount: 1 }];
    await start({ ...indexed, parallelism: 4, successPolicy: { rules } });
    await finish((await byIndex(2))[0], 'Succeeded');
    expect((await status())?.conditions).toBeUndefined();
    await finish((await byIndex(1))[0], 'Succeeded');
    expect((await status())?.conditions).toMatchObject([
      { type: 'SuccessCriteriaMet', reason: 'SuccessPolicy', message: 'Matched rules at index 1' },
      { type: 'Complete', reason: 'SuccessPolicy', message: 'Matched rules at index 1' },
    ]);
    expect(await status()).toMatchObject({ completedIndexes: '1,2', succeeded: 2, terminating: 0 });
    expect((await status())?.failed).toBeUndefined();
  });

  it('delete pods whose index is out of range or repeated', async () => {
    await start({ ...indexed, completions: 2 });
    const [twin] = await byIndex(1);
    const {
      metadata: { labels, annotations, ownerReferences },
      spec,
    } = twin as Pod;
    const copy = { metadata: { namespace: 'default', name: 'copy', labels, annotations, ownerReferences }, spec };
    await cluster.client.kind(kinds.pods).create(copy as Pod);
    await cluster.settle();
    await cluster.advance(1000);
    expect(await byIndex(1)).toHaveLength(1);
    await update({ completions: 1, parallelism: 1 });
    expect((await pods()).map(({ spec }) => spec?.hostname)).toEqual(['work-0']);
  });
});
