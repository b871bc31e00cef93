/** Every verb on every resource: a kind is data, and what is common to all of them is here. */

export type { MutationCheck, MutationObserver, PolicyObserver, WebhookObserver } from '../admission/index.ts';
export type { CachedObject } from '../cache/index.ts';
export type { Allocations, Allocator, Holder, OpenAllocations } from './allocator.ts';
export { internalName, isCustomObject } from './body.ts';
export type { CustomVersions } from './catalog.ts';
export { AgeCell, type CellContext, type Column, type Completion } from './column.ts';
export { consistentCache, waitForRevision } from './context.ts';
export type { ConvertObjects, CustomStorage } from './custom-storage.ts';
export {
  allVerbs,
  type CheckedWrite,
  type ConnectCall,
  type Connection,
  type CreateCall,
  type CreateHandler,
  type Endpoint,
  type PartialUpdate,
  type Projection,
  type ProjectionSubresource,
  type ReferenceCheck,
  type ResourceDefinition,
  type ResourceVersion,
  type SelectableField,
  type ServerObjects,
  type StatusSubresource,
  type Strategy,
  type StrategyContext,
  type Subresource,
  type Verb,
  type VirtualList,
  type WriteContext,
} from './definition.ts';
export { deleteOptionsOf, isUnsafe } from './delete-options.ts';
export { keyPrefixOf, resourceFinder } from './key-prefix.ts';
export { readFlag, readWriteOptions, type WriteParameters } from './parameters.ts';
export { createRegistry, type RegistryOptions } from './registry.ts';
export {
  type ListLayout,
  listFields,
  type Representation,
  readForRepresentation,
  readIncludeObject,
  representEvent,
  representList,
  representObject,
} from './representation.ts';
export type { Resource } from './resource.ts';
export { largeBytes } from './turns.ts';
export type {
  Body,
  Change,
  Connecting,
  Mismatch,
  NewEntry,
  ObjectBody,
  ObjectFollower,
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
export type { ValidationSoFar } from './validation-so-far.ts';
export { checkVerb, connectionOf } from './verbs.ts';
