/** What may change or refuse a write on its way to the store. */
export { admit, review } from './chain.ts';
export { type NamespaceLookup, namespaceLifecycle } from './namespace-lifecycle.ts';
export type { AdmissionPlugin, AdmissionRequest } from './types.ts';
