import { type ApiObject, formatTime, parseTime, type Steps } from '../../../meta/index.ts';
import type { RegistryContext } from '../../context.ts';
import type { Strategy } from '../../resource/definition.ts';
import { checkPreconditions, type DeleteOptions, finalizersFor } from '../delete-options.ts';
import type { Candidate, WriteRequest } from '../write-request.ts';
import { copyObject } from './content.ts';
import { notFound, storedMetadata } from './metadata.ts';

/** The candidate of a deletion: the object marked as deleted, or to be removed. @throws StatusError 404, 409 */
export function* deleteCandidate(
  { registry, target, deletion, context }: WriteRequest,
  old: ApiObject | undefined,
): Steps<Candidate> {
  if (old === undefined || deletion === undefined) throw notFound(target);
  const { now } = context;
  const { strategy } = target.resource.definition;
  checkPreconditions(target.resource, old, deletion);
  const defaultPolicy = defaultPolicyOf(strategy, registry);
  const generated = false;
  const remove = false;
  const { termination } = strategy;
  if (termination !== undefined) {
    if (old.metadata.deletionTimestamp === undefined) {
      const object = yield* withMetadata(old, {
        deletionTimestamp: formatTime(now),
        ...(termination.propagates && { finalizers: finalizersFor(old, deletion, defaultPolicy) }),
      });
      termination.begin(object, context);
      return { object, generated, remove };
    }
    if (termination.pending(old)) return { object: old, generated, remove };
  }
  const mark = strategy.gracePeriod === undefined ? undefined : graceOf(old, deletion, strategy.gracePeriod, now);
  if (mark === 'pending') return { object: old, generated, remove };
  const finalizers = finalizersFor(old, deletion, defaultPolicy);
  if (mark !== undefined) {
    const deleteAfterMark = mark.deletionGracePeriodSeconds === 0 && finalizers.length === 0;
    return { object: yield* markDeleted(old, { ...mark, finalizers }), generated, remove, deleteAfterMark };
  }
  if (finalizers.length === 0) return { object: old, generated, remove: true };
  const since = old.metadata.deletionTimestamp;
  const deletionTimestamp = since !== undefined && parseTime(since) <= now ? since : formatTime(now);
  const object = yield* markDeleted(old, { finalizers, deletionTimestamp, deletionGracePeriodSeconds: 0 });
  return { object, generated, remove };
}

/** Without a garbage collector nothing would remove the finalizer of a kind that orphans its dependents by default. */
const defaultPolicyOf = ({ garbageCollectionPolicy: policy }: Strategy, { garbageCollector }: RegistryContext) =>
  policy === 'OrphanDependents' && !garbageCollector ? undefined : policy;

interface GraceMark {
  readonly deletionTimestamp: string;
  readonly deletionGracePeriodSeconds: number;
}

/**
 * The mark of a graceful deletion: a second delete may shorten the grace period, never extend it. Undefined when the
 * object is removed; `pending` when nothing changes.
 */
function graceOf(
  { metadata, ...rest }: ApiObject,
  { gracePeriodSeconds }: DeleteOptions,
  gracePeriod: (object: ApiObject, requested: number | undefined) => number,
  now: number,
): GraceMark | 'pending' | undefined {
  // A negative grace period means one second.
  const requested = gracePeriodSeconds !== undefined && gracePeriodSeconds < 0 ? 1 : gracePeriodSeconds;
  const { deletionTimestamp: until, deletionGracePeriodSeconds: current = 0 } = metadata;
  if (until === undefined) {
    const seconds = gracePeriod({ metadata, ...rest } as ApiObject, requested);
    return { deletionTimestamp: after(now, seconds), deletionGracePeriodSeconds: seconds };
  }
  if (current === 0) return undefined;
  if (requested === undefined || requested >= current) return 'pending';
  const end = parseTime(until) + (requested - current) * 1000;
  // A graceful deletion never ends in the past: the kubelet still gets a second.
  if (end < now) return { deletionTimestamp: formatTime(now), deletionGracePeriodSeconds: Math.min(requested, 1) };
  return { deletionTimestamp: formatTime(end), deletionGracePeriodSeconds: requested };
}

/** The latest time that can be formatted. */
const lastTime = Date.UTC(9999, 11, 31, 23, 59, 59);

const after = (time: number, seconds: number): string => formatTime(Math.min(time + seconds * 1000, lastTime));

/** A copy of the object with the mark of its deletion. The first mark increments the generation. */
function markDeleted(old: ApiObject, mark: Partial<ApiObject['metadata']>): Steps<ApiObject> {
  const { generation = 0, deletionTimestamp } = old.metadata;
  const increments = deletionTimestamp === undefined && generation > 0;
  return withMetadata(old, { ...mark, ...(increments && { generation: generation + 1 }) });
}

/** A copy of the object with these metadata fields. */
function* withMetadata(old: ApiObject, fields: Partial<ApiObject['metadata']>): Steps<ApiObject> {
  const { metadata, ...rest } = yield* copyObject(old);
  const { finalizers = metadata.finalizers ?? [] } = fields;
  const next = { ...metadata, ...fields, finalizers: finalizers.length === 0 ? undefined : finalizers };
  return { ...rest, metadata: storedMetadata(next) } as ApiObject;
}
