import type { ApiObject, Names } from '../meta/index.ts';
import type { Store } from '../store/index.ts';

/** Rejects when the store cannot be read or written; after a failed write it tries one. */
export async function checkStore(store: Pick<Store, 'commit'>): Promise<void> {
  await store.commit([], []);
}

/** How the backing store is, as a ComponentStatus. Never fails: what is wrong stands in the object. */
export async function storeStatus(store: Pick<Store, 'commit'>, names: Names): Promise<ApiObject> {
  let condition: { readonly status: string; readonly message: string };
  try {
    await checkStore(store);
    condition = { status: 'True', message: 'ok' };
  } catch {
    condition = { status: 'False', message: 'the backing store is not available' };
  }
  return {
    kind: 'ComponentStatus',
    apiVersion: 'v1',
    metadata: { name: `${names.storeCheck}-0` },
    conditions: [{ type: 'Healthy', ...condition }],
  };
}
