/** Admission control: the chain that runs mutating and validating plugins on every write, and the plugins. */
export { type AdmissionChain, createChain, runMutating, runValidating } from './chain.ts';
export {
  admissionConfigurationFormat,
  configurationFormats,
  type PluginConfigurations,
  type PluginFormat,
} from './configuration/formats.ts';
export { ExpressionCompiler, ExpressionFault, type ExpressionOptions, resultTypes } from './expressions/compile.ts';
export { deviceSelectorFault } from './expressions/device-selectors.ts';
export { admissionPlugins, enabledPlugins, idlePlugins, pluginNames } from './plugins/names.ts';
export { namespaceLifecycle } from './plugins/namespace-lifecycle.ts';
export { makePlugins } from './plugins/plugins.ts';
export { systemPriorities } from './plugins/priority.ts';
export { evaluatorFor, scopesOf } from './plugins/quota-evaluators.ts';
export { typeOfCustomKind, typeOfStruct } from './policies/schema-types.ts';
export { checkTypes, type TypeLookup } from './policies/type-checking.ts';
export type {
  AdmissionPlugin,
  AdmissionRequest,
  Awaitable,
  CallingPlugin,
  CallWebhook,
  Derivation,
  KindPlace,
  MutationCheck,
  MutationObserver,
  NamespaceLookup,
  NamespaceState,
  ObjectLookup,
  PluginInitializer,
  PolicyObserver,
  RegisteredWebhook,
  Reinvocation,
  RequestVersions,
  ResourceAuthorizer,
  ResourceKey,
  SelectedObjects,
  ServedKind,
  ServedResource,
  StepTimer,
  Stored,
  VersionedLookup,
  WebhookObserver,
} from './types.ts';
export { WebhookFailure } from './types.ts';
