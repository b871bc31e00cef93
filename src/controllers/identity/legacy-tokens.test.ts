import { afterEach, describe, expect, it } from 'vitest';
import * as kinds from '../shared/kinds.ts';
import { type TestCluster, testCluster } from '../testing/cluster.ts';
import { legacyTokenCleaner, trackingMap } from './legacy-tokens.ts';

let cluster: TestCluster;
afterEach(() => cluster.close());

const [namespace, day] = ['default', 86_400_000];
const lastUsed = 'kubernetes.io/legacy-token-last-used';
const invalidSince = 'kubernetes.io/legacy-token-invalid-since';

interface Case {
  readonly labels?: { readonly [key: string]: string };
  /** Since when uses are recorded. */
  readonly since?: string | null;
  readonly listed?: boolean;
  readonly uid?: string;
  readonly type?: string;
  /** The rest of the spec of a pod. */
  readonly pod?: object;
}

const container = { name: 'c', image: 'example.com/app:1' };

/** The labels of a secret of January 1st on January 10th, when tokens are of use for two days. */
async function labelsOf(token: Case) {
  const { labels = {}, since = '2026-01-01', listed = true, uid, pod } = token;
  const { type = 'kubernetes.io/service-account-token' } = token;
  cluster = await testCluster([legacyTokenCleaner], { settings: { legacyTokenMs: 2 * day } });
  const { client } = cluster;
  const secrets = listed ? [{ name: 'tok' }] : [];
  await client.kind(kinds.serviceAccounts).create({ metadata: { namespace, name: 'robot' }, secrets });
  const place = { metadata: { namespace: 'kube-system', name: trackingMap } };
  await client.kind(kinds.configMaps).create({ ...place, ...(since === null ? {} : { data: { since } }) });
  const annotations = {
    'kubernetes.io/service-account.name': 'robot',
    ...(uid === undefined ? {} : { 'kubernetes.io/service-account.uid': uid }),
  };
  const metadata = { namespace, name: 'tok', annotations, labels: { ...labels } };
  await client.kind(kinds.secrets).create({ metadata, type });
  if (pod !== undefined) {
    const spec = { containers: [container], serviceAccountName: 'robot', ...pod };
    await client.kind(kinds.pods).create({ metadata: { namespace, name: 'p' }, spec });
  }
  await cluster.settle();
  cluster.clock.set(Date.UTC(2026, 0, 10, 12));
  await cluster.settle();
  return (await client.kind(kinds.secrets).find({ namespace, name: 'tok' }))?.metadata.labels ?? undefined;
}

const marked = { [invalidSince]: '2026-01-10' };

describe('legacy-serviceaccount-token-cleaner-controller', () => {
  it.each<[string, Case, { [key: string]: string } | undefined]>([
    ['marks a token that was never used', {}, marked],
    ['marks a token that was not used lately', { labels: { [lastUsed]: '2026-01-07' } }, marked],
    ['marks a token again whose mark is not a day', { labels: { [invalidSince]: '2026-01-32' } }, marked],
    ['deletes a token that was invalid for long', { labels: { [invalidSince]: '2026-01-07' } }, undefined],
  ])('%s', async (_, token, expected) => {
    const labels = await labelsOf(token);
    expect(labels).toEqual(expected && { ...token.labels, ...expected });
    expect(cluster.logged).toEqual([]);
  });

  const labels = { [lastUsed]: '2026-01-02' };
  it.each<[string, Case]>([
    ['that was used lately', { labels: { [lastUsed]: '2026-01-08' } }],
    ['whose last use is not a day', { labels: { [lastUsed]: 'yesterday' } }],
    ['that was marked lately', { labels: { ...labels, [invalidSince]: '2026-01-08' } }],
    ['while uses have not been recorded for long enough', { labels: labels, since: '2026-01-08' }],
    ['while it is not known since when uses are recorded', { labels: labels, since: null }],
    ['while the recording began on no day', { labels: labels, since: '2026-01-01-1' }],
    ['that its account does not list', { labels: labels, listed: false }],
    ['of an account with another uid', { labels: labels, uid: 'other' }],
    ['of another type', { labels: labels, type: 'Opaque' }],
    ['that a pod mounts', { labels: labels, pod: { volumes: [{ name: 'v', secret: { secretName: 'tok' } }] } }],
    [
      'that a pod projects',
      { labels: labels, pod: { volumes: [{ name: 'v', projected: { sources: [{ secret: { name: 'tok' } }] } }] } },
    ],
    [
      'that a pod has in its environment',
      { labels: labels, pod: { containers: [{ ...container, envFrom: [{ secretRef: { name: 'tok' } }] }] } },
    ],
    ['that a pod pulls images with', { labels: labels, pod: { imagePullSecrets: [{ name: 'tok' }] } }],
  ])('leaves a token alone %s', async (_, token) => {
    expect(await labelsOf(token)).toEqual(token.labels);
  });
});
