/** What may change or refuse a write on its way to the store. */
export { type AdmissionChain, admit, createChain, review } from './chain.ts';
export { namespaceLifecycle } from './namespace-lifecycle.ts';
export { absentPlugins, admissionPlugins, makePlugins } from './plugins.ts';
export { systemPriorities } from './priority.ts';
export type {
  AdmissionPlugin,
  AdmissionRequest,
  AdmissionWorld,
  Awaitable,
  KindPlace,
  NamespaceLookup,
  ObjectLookup,
  StepTimer,
} from './types.ts';
