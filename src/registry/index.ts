/** Every verb on every resource: a kind is data, and what is common to all of them is here. */
export { internalName } from './body.ts';
export {
  type Action,
  type ActionCall,
  allVerbs,
  type CellContext,
  type Claims,
  type Column,
  type Completion,
  type ConnectCall,
  type Connection,
  type Endpoint,
  type Holder,
  type ObjectPart,
  type Objects,
  type OpenClaims,
  type Pool,
  type ResourceDefinition,
  type ResourceVersion,
  type SelectableField,
  Since,
  type Strategy,
  type StrategyContext,
  type Subresource,
  type SubresourceView,
  type Verb,
  type WriteContext,
} from './definition.ts';
export { deleteOptionsOf, isUnsafe } from './delete-options.ts';
export { readWriteOptions, type WriteParameters } from './parameters.ts';
export { createRegistry, namespaceLookup, type RegistryOptions } from './registry.ts';
export type { Resource } from './resource.ts';
export { inTurns, largeBytes } from './turns.ts';
export type {
  Body,
  Change,
  Connecting,
  Mismatch,
  NewEntry,
  ObjectBody,
  ObjectList,
  Observer,
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
