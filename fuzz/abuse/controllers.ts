import { setTimeout as sleep } from 'node:timers/promises';
import { answered, asAdmin, configMaps, hold, type Scenario, succeeded } from './scenario.ts';

/** Objects that are expensive for controllers. */

const manyOwners: Scenario = {
  name: 'many-owners',
  title: 'objects with many owners that do not exist keep nobody waiting',
  attack: async ({ client, full }) => {
    const owned = (name: string, count: number) => {
      const ownerReferences = Array.from({ length: count }, (_, i) => ({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        name: `o${i}`,
        uid: `u${i}`,
      }));
      return client.http1(asAdmin('POST', configMaps, { metadata: { name, ownerReferences } }));
    };
    const { status } = await owned('refused', 20_000);
    hold(status === 413, `20,000 owners are answered with ${status}`);
    // As many as one object may have.
    for (let i = 0; i < (full ? 40 : 3); i++) succeeded('many owners', await owned(`child${i}`, 2_000));
    await sleep(1_000);
  },
};

const replicaSets = '/apis/apps/v1/namespaces/default/replicasets';
const budgets = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
const pods = '/api/v1/namespaces/default/pods';
const containers = [{ name: 'a', image: 'example.com/a:1' }];

/** Selects whatever has none of many labels. */
const costly = {
  matchExpressions: Array.from({ length: 10_000 }, (_, i) => ({ key: `k${i}`, operator: 'DoesNotExist' })),
};

/** Objects that select pods, by their collection. */
const selecting: { readonly [collection: string]: object } = {
  [replicaSets]: {
    replicas: 0,
    selector: costly,
    template: { metadata: { labels: { a: 'b' } }, spec: { containers } },
  },
  [budgets]: { maxUnavailable: 1, selector: costly },
};

const costlySelectors: Scenario = {
  name: 'costly-selectors-of-controllers',
  title: 'replica sets and budgets with many requirements keep nobody waiting when pods come',
  attack: async ({ client, full }) => {
    for (const [collection, spec] of Object.entries(selecting)) {
      for (let i = 0; i < (full ? 60 : 4); i++) {
        const created = await client.http1(asAdmin('POST', collection, { metadata: { name: `c${i}` }, spec }));
        answered('a costly selector', created);
      }
    }
    for (let i = 0; i < (full ? 100 : 5); i++) {
      const metadata = { name: `p${i}`, labels: { a: 'b' } };
      await client.http1(asAdmin('POST', pods, { metadata, spec: { containers } }));
    }
    await sleep(full ? 5_000 : 1_000);
  },
};

const endlessReplicas: Scenario = {
  name: 'endless-replicas',
  title: 'a deployment of two thousand million pods is given at most 20 a second',
  attack: async ({ client, full }) => {
    const labels = { app: 'endless' };
    const annotations = { text: 'x'.repeat(200_000) };
    const spec = {
      replicas: 2_147_483_647,
      selector: { matchLabels: labels },
      template: { metadata: { labels, annotations }, spec: { containers } },
    };
    const path = '/apis/apps/v1/namespaces/default/deployments';
    const began = Date.now();
    succeeded('a deployment', await client.http1(asAdmin('POST', path, { metadata: { name: 'endless' }, spec })));
    await sleep(full ? 20_000 : 3_000);
    const { headers: _, ...ask } = asAdmin('GET', `${pods}?limit=1`);
    const { body } = await client.http1(ask);
    const list = JSON.parse(body.toString()) as { items: unknown[]; metadata: { remainingItemCount?: number } };
    const made = list.items.length + (list.metadata.remainingItemCount ?? 0);
    const most = 30 + (20 * (Date.now() - began)) / 1_000;
    hold(made <= most, `${made} pods have been made, more than ${Math.round(most)}`);
    succeeded('deleting it', await client.http1(asAdmin('DELETE', `${path}/endless`)));
  },
};

export const controllerScenarios: readonly Scenario[] = [manyOwners, costlySelectors, endlessReplicas];
