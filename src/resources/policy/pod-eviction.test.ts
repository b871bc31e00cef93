import { describe, expect, it } from 'vitest';
import type { CreateCall, ServerObjects } from '../../registry/index.ts';
import { evictPod } from './pod-eviction.ts';

/**
 * Evicts a running pod that is not ready, under one budget with this status, while others select other pods. Resolves with
 * the deleted pods.
 */
async function evictUnready(
  status: { readonly currentHealthy: number; readonly desiredHealthy: number },
  others: readonly object[] = [],
) {
  const metadata = { namespace: 'default', name: 'web', generation: 1 };
  const pod = {
    metadata: { ...metadata, labels: { app: 'web' } },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'False' }] },
  };
  const budget = {
    metadata,
    spec: { selector: { matchLabels: { app: 'web' } } },
    status: { observedGeneration: 1, disruptionsAllowed: 0, ...status },
  };
  const deleted: string[] = [];
  const objects = {
    read: async () => pod,
    list: async () => [...others, budget],
    guaranteedUpdate: async (
      resource: { kind: string },
      _namespace: string,
      _name: string,
      change: (o: object) => void,
    ) => change(resource.kind === 'Pod' ? pod : budget),
    delete: async (_resource: unknown, _namespace: string, name: string) => void deleted.push(name),
  } as unknown as ServerObjects;
  const call = { namespace: 'default', name: 'web', now: 0, objects } as unknown as CreateCall;
  await evictPod({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'web' } }, call);
  return deleted;
}

describe('evictPod', () => {
  it('evicts a pod that is not ready without using the budget while enough pods are healthy', async () => {
    expect(await evictUnready({ currentHealthy: 1, desiredHealthy: 1 })).toEqual(['web']);
  });

  // A budget that desires no healthy pod says nothing about the health of the others: its pods use the budget.
  it('rejects the eviction of a pod that is not ready when the budget desires no healthy pods and allows none', async () => {
    await expect(evictUnready({ currentHealthy: 0, desiredHealthy: 0 })).rejects.toMatchObject({
      code: 429,
      reason: 'TooManyRequests',
    });
  });

  it('lets other work run while it looks for the budgets of the pod among many', async () => {
    const key = (_: unknown, i: number) => ({ key: `k${i}`, operator: 'NotIn', values: ['a'] });
    const matchExpressions = [...Array.from({ length: 200 }, key), { key: 'app', operator: 'DoesNotExist' }];
    const others = Array.from({ length: 400 }, () => ({ spec: { selector: { matchExpressions } } }));
    let turns = 0;
    const other = setInterval(() => turns++, 0);
    const deleted = await evictUnready({ currentHealthy: 1, desiredHealthy: 1 }, others);
    clearInterval(other);
    expect(deleted).toEqual(['web']);
    expect(turns).toBeGreaterThan(0);
  });
});
