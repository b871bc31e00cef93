import type { AdmissionRequest } from '../../admission/index.ts';
import type { CachedObject } from '../../cache/index.ts';
import { type ApiObject, type FieldError, type Json, statusError, type Turns } from '../../meta/index.ts';
import type { Compare } from '../../store/index.ts';
import type { RegistryContext } from '../context.ts';
import type { WriteContext } from '../resource/definition.ts';
import type { Resource } from '../resource/resource.ts';
import { checkName } from '../resource/target.ts';
import type { Change, PatchFormat, Target, WriteOptions, WriteResult } from '../types.ts';
import type { Allocations } from './allocator.ts';
import { Conversions } from './conversions.ts';
import { type DeleteOptions, readDeleteOptions, warnWithoutPolicy } from './delete-options.ts';

/** A write, as far as it does not depend on the stored object. */
export interface WriteRequest {
  readonly registry: RegistryContext;
  readonly target: Target;
  readonly change: Change;
  readonly options: WriteOptions;
  readonly dryRun: boolean;
  readonly context: WriteContext;
  /** Set when the change is a deletion. */
  readonly deletion: DeleteOptions | undefined;
  /** Size of the body in bytes. */
  readonly size: number;
  /** Of a custom resource that a webhook converts. */
  readonly conversions: Conversions | undefined;
}

/** A state that admission has read from the cache of another resource, and that must hold at the commit. */
export interface Guard {
  readonly resource: Resource;
  readonly compare: Compare;
}

/** The object that an attempt would commit, in the storage version. */
export interface Candidate {
  object: ApiObject;
  /** The object sent to a projection: admission sees it in place of `object`, into which it is written afterwards. */
  readonly projection?: ApiObject;
  /** The object is removed: `object` is its last state. */
  remove: boolean;
  /** The object is committed marked as deleted, and removed right after. */
  readonly deleteAfterMark?: boolean;
  /** The server has generated its name. */
  readonly generated: boolean;
  /** By key: the object is committed only if each of them holds. */
  guards?: Map<string, Guard>;
  /** Mutating admission has finished. */
  admitted?: boolean;
  /** Set when mutating admission has replaced the object: its managed fields before. */
  rewritten?: { readonly managedFields: Json[] | undefined };
}

export const nameOf = ({ object }: Candidate): string => object.metadata.name ?? '';

/** The outcome of one attempt of a write. `revision`: that of the commit, or of the object that does not change. */
export type Outcome =
  | { readonly kind: 'stored'; readonly result: WriteResult; readonly revision: number }
  | { readonly kind: 'unchanged'; readonly result: WriteResult; readonly revision: number }
  /** Another writer was first; `current` is the object stored now. */
  | { readonly kind: 'conflict'; readonly candidate: Candidate; readonly current: CachedObject | undefined }
  /**
   * Something else that the attempt depends on has changed: an allocated value, or what a guard requires. This server has
   * seen the change.
   */
  | { readonly kind: 'outdated'; readonly candidate: Candidate };

/** Reverts a side effect of an admission plugin. */
export type Undo = () => Promise<void>;

/** One attempt of a write on one state of the object. The stages fill it in. */
export class Attempt {
  readonly request: WriteRequest;
  /** The object on which the attempt is made; undefined when there is none. */
  readonly current: CachedObject | undefined;
  /** The turns in which the attempt runs; undefined for a short one, which runs without a pause. */
  readonly turns: Turns | undefined;
  readonly undo: Undo[] = [];
  /** `current`, parsed. */
  old: ApiObject | undefined = undefined;
  candidate!: Candidate;
  attributes!: AdmissionRequest;
  /** Whether mutating admission may have changed the object without its defaults. */
  mutated = false;
  allocations: Allocations | undefined = undefined;
  errors: readonly FieldError[] = [];
  /** Whether the write leaves the object as it is. */
  unchanged = false;
  /** Ends the attempt. */
  outcome: Outcome | undefined = undefined;

  constructor(request: WriteRequest, current: CachedObject | undefined, turns: Turns | undefined) {
    this.request = request;
    this.current = current;
    this.turns = turns;
  }
}

/** Checks what does not depend on the stored object. @throws StatusError */
export function readWriteRequest(
  registry: RegistryContext,
  target: Target,
  change: Change,
  options: WriteOptions,
): WriteRequest {
  checkName(target);
  if (change.verb === 'patch') checkPatchFormat(target, change.format);
  const deletion = change.verb === 'delete' ? readDeleteOptions(change.options, registry) : undefined;
  const { requester, warn, annotate } = options;
  if (deletion !== undefined) warnWithoutPolicy(target.resource, deletion, warn);
  return {
    registry,
    target,
    change,
    options,
    deletion,
    dryRun: options.dryRun || deletion?.dryRun === true,
    context: {
      names: registry.names,
      now: registry.clock.now(),
      allowPrivileged: registry.allowPrivileged,
      compatible: registry.compatible,
      features: registry.features,
      requester,
      warn,
      annotate,
    },
    conversions: conversionsOf(target.resource),
    size: (change.verb === 'patch' ? change.size : change.verb === 'delete' ? undefined : change.object.size) ?? 0,
  };
}

/** Undefined for a resource without a conversion webhook. */
export const conversionsOf = ({ format }: Resource): Conversions | undefined =>
  format.custom?.webhook === undefined ? undefined : new Conversions(format.custom.webhook);

const mediaTypes: { readonly [format in PatchFormat]: string } = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
};

/** @throws StatusError 415 for a patch format that the target does not support */
function checkPatchFormat({ resource }: Target, format: PatchFormat): void {
  if (format !== 'strategic' || resource.definition.custom === undefined) return;
  const { strategic: _, ...supported } = mediaTypes;
  throw statusError.unsupportedMediaType(Object.values(supported));
}
