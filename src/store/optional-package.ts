import { StoreError } from './store.ts';

const missing: readonly unknown[] = ['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND'];

/**
 * Loads packages of `optionalDependencies`, on demand: an installation without them serves from memory. `feature` is what
 * needs them. @throws StoreError `invalid` that names the packages when one of them is not installed
 */
async function loadOptional<T>(feature: string, packages: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && missing.includes(error.code))) throw error;
    throw new StoreError('invalid', `${feature} needs packages that are not installed: npm install ${packages}`, {
      cause: error,
    });
  }
}

export const loadLmdb = () => loadOptional('the store "lmdb"', 'lmdb', () => import('lmdb'));

export const loadGrpc = (feature: string) =>
  loadOptional(feature, '@grpc/grpc-js @grpc/proto-loader', () =>
    Promise.all([import('@grpc/grpc-js'), import('@grpc/proto-loader')]),
  );
