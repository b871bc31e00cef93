import type { ApiObject, Names } from '../meta/index.ts';
import type { Store } from '../store/index.ts';

/** How the backing store is, as a ComponentStatus. Never fails: what is wrong stands in the object. */
export async function storeStatus(store: Pick<Store, 'revision'>, names: Names): Promise<ApiObject> {
  let condition: { readonly status: string; readonly message: string };
  try {
    await store.revision();
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
