import { afterEach, expect, it } from 'vitest';
import * as kinds from '../shared/kinds.ts';
import { type TestCluster, testCluster } from '../testing/cluster.ts';
import { ttlAfterFinishedController } from './ttl-after-finished.ts';

let cluster: TestCluster;
afterEach(() => cluster.close());

const job = { metadata: { namespace: 'default', name: 'brief' } };
const template = { spec: { restartPolicy: 'Never' as const, containers: [{ name: 'c', image: 'example.com/app:1' }] } };

async function finished(ttlSecondsAfterFinished?: number) {
  cluster = await testCluster([ttlAfterFinishedController]);
  const spec = { template, ...(ttlSecondsAfterFinished === undefined ? {} : { ttlSecondsAfterFinished }) };
  await cluster.client.kind(kinds.jobs).create({ ...job, spec });
  const time = '2026-01-01T00:00:00Z';
  const conditions = ['SuccessCriteriaMet', 'Complete'].map((type) => ({
    type,
    status: 'True',
    lastTransitionTime: time,
  }));
  const status = { startTime: time, completionTime: time, conditions };
  await cluster.client.kind(kinds.jobs).subresource('status').patch(job.metadata, 'merge', { status });
  await cluster.settle();
}
const read = () => cluster.client.kind(kinds.jobs).find({ namespace: 'default', name: 'brief' });

it('deletes a finished job in the foreground when its time to live is over', async () => {
  await finished(60);
  await cluster.advance(59_000);
  expect((await read())?.metadata.deletionTimestamp).toBeUndefined();
  await cluster.advance(1_000);
  expect((await read())?.metadata.finalizers).toEqual(['foregroundDeletion']);
  expect(cluster.logged).toEqual([]);
});

it('waits for a time to live that was extended', async () => {
  await finished(60);
  await cluster.client.kind(kinds.jobs).patch(job.metadata, 'merge', { spec: { ttlSecondsAfterFinished: 120 } });
  await cluster.advance(119_000);
  expect((await read())?.metadata.deletionTimestamp).toBeUndefined();
  await cluster.advance(1_000);
  expect((await read())?.metadata.deletionTimestamp).toBeDefined();
});

it('keeps a job without a time to live', async () => {
  await finished();
  await cluster.advance(3_600_000);
  expect(await read()).toBeDefined();
});
