import { describe, expect, it } from 'vitest';
import { namesFor } from '../meta/index.ts';
import type { CommitResult } from '../store/index.ts';
import { storeStatus } from './component-status.ts';

describe('storeStatus', () => {
  const names = namesFor('k8s.io');
  const conditions = async (commit: () => Promise<CommitResult>) => {
    const { metadata, conditions: found } = await storeStatus({ commit }, names);
    expect(metadata).toEqual({ name: 'etcd-0' });
    return found;
  };

  it('tells of a store that answers', async () => {
    expect(await conditions(async () => ({ ok: true, revision: 7 }))).toEqual([
      { type: 'Healthy', status: 'True', message: 'ok' },
    ]);
  });

  it('tells of a store that does not, and nothing of why', async () => {
    const found = await conditions(() => Promise.reject(new Error('/secret/path')));
    expect(found).toEqual([{ type: 'Healthy', status: 'False', message: 'the backing store is not available' }]);
  });
});
