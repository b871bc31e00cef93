/** Generated keys and other secrets that all servers of a store share. */
import type { Entry, Store } from '../../store/index.ts';

/** Prefix of generated secrets in the store. No resource has it, so that requests cannot read them. */
export const secretsPrefix = '/keys/';

/**
 * Returns the value of the key. When it is absent, stores the result of `make`, unless another server is first.
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
