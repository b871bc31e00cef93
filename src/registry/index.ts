/** Every verb on every resource: a kind is data, and what is common to all of them is here. */
export {
  allVerbs,
  type CellContext,
  type Column,
  type ResourceDefinition,
  type ResourceVersion,
  type SelectableField,
  type Strategy,
  type StrategyContext,
  type Subresource,
  type Verb,
} from './definition.ts';
export { deleteOptionsOf } from './delete-options.ts';
export { readWriteOptions, type WriteParameters } from './parameters.ts';
export { createRegistry, namespaceLookup, type RegistryOptions } from './registry.ts';
export type { Resource } from './resource.ts';
export type {
  Body,
  Change,
  ObjectList,
  PatchFormat,
  ReadOptions,
  Registry,
  StreamEvent,
  Target,
  WatchOptions,
  WatchStream,
  WriteOptions,
  WriteResult,
} from './types.ts';
export { readIncludeObject, type View, viewEvent, viewList, viewObject } from './view.ts';
