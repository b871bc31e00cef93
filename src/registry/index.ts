/** Every verb on every resource: a kind is data, and what is common to all of them is here. */

export type { MutationCheck, MutationObserver, PolicyObserver, WebhookObserver } from '../admission/index.ts';
export type { CachedObject } from '../cache/index.ts';
export { consistentCache, largeBytes, largeEventBytes, waitForRevision } from './context.ts';
export { AgeCell, type CellContext, type Column, type Completion } from './read/column.ts';
export { type ListLayout, type ListPiece, listFields, representList } from './read/list-pieces.ts';
export { readFlag, readWriteOptions, type WriteParameters } from './read/parameters.ts';
export {
  type EventWriter,
  eventWriter,
  type Representation,
  readForRepresentation,
  readIncludeObject,
  representObject,
} from './read/representation.ts';
export { createRegistry, type RegistryOptions } from './registry.ts';
export type { CustomVersions } from './resource/catalog.ts';
export type { ConvertObjects, CustomStorage } from './resource/custom-storage.ts';
export {
  allVerbs,
  type ConnectCall,
  type Connection,
  type ConnectSubresource,
  type CreateCall,
  type CreateHandler,
  type Endpoint,
  listKindOf,
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
  type ValidationSoFar,
  type Verb,
  type VirtualList,
  type WriteContext,
} from './resource/definition.ts';
export type { Deprecation } from './resource/deprecation.ts';
export { keyPrefixOf, resourceFinder } from './resource/key-prefix.ts';
export type { Lifecycle } from './resource/lifecycle.ts';
export type { Resource } from './resource/resource.ts';
export { isStorageVersion } from './resource/target.ts';
export { toStorageVersion } from './stored/storage-version.ts';

export type {
  Body,
  Change,
  Connecting,
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
  ValidationMismatch,
  WatchOptions,
  WatchStream,
  WriteOptions,
  WriteResult,
} from './types.ts';
export type { Allocations, Allocator, Holder, OpenAllocations } from './write/allocator.ts';
export { internalName, isCustomObject } from './write/body.ts';
export { preconditionFault } from './write/candidate/metadata.ts';
export { deleteOptionsOf, isUnsafe } from './write/delete-options.ts';
