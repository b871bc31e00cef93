/** Keys and other secrets that a server generates, and that all servers of a store share. */
import type { Entry, Store } from '../../store/index.ts';

/** The keys of the store below which generated secrets are: no resource has this prefix, so that no request reads them. */
export const secretsPrefix = '/keys/';

/**
 * The value of the key; when it is absent, that of `make`, which is then stored unless another server is first.
 * @throws StoreError
 */
export async function getOrCreate(
  store: Store,
  key: string,
  make: () => Uint8Array | Promise<Uint8Array>,
): Promise<Entry['value']> {
  const { entry } = await store.get(key);
  if (entry !== undefined) return entry.value;
  const value = await make();
  const result = await store.commit([{ key, revision: 0 }], [{ key, value }]);
  if (result.ok) return value;
  return result.found[0]?.value ?? getOrCreate(store, key, make);
}
