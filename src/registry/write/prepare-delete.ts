import { type ApiObject, formatTime, parseTime, type Steps } from '../../meta/index.ts';
import type { RegistryContext } from '../context.ts';
import type { Strategy, StrategyContext } from '../resource/definition.ts';
import type { Resource } from '../resource/resource.ts';
import { checkPreconditions, type DeleteOptions, finalizersFor } from './delete-options.ts';
import { copyOf } from './field-management.ts';
import { metadataOf } from './metadata.ts';
import type { PendingObject } from './write-request.ts';

/** Marks the object as deleted, or prepares its removal. @throws StatusError 409 */
export function* prepareDelete(
  registry: RegistryContext,
  resource: Resource,
  old: ApiObject,
  deletion: DeleteOptions,
  context: StrategyContext,
): Steps<PendingObject> {
  const { now } = context;
  const { strategy } = resource.definition;
  checkPreconditions(resource, old, deletion);
  const byDefault = propagationOf(strategy, registry);
  const pending = { generated: false, remove: false };
  const { termination } = strategy;
  if (termination !== undefined) {
    if (old.metadata.deletionTimestamp === undefined) {
      const object = yield* marked(old, {
        deletionTimestamp: formatTime(now),
        finalizers: finalizersFor(old, deletion, byDefault),
      });
      termination.begin(object, context);
      return { ...pending, object };
    }
    if (termination.pending(old)) return { ...pending, object: old };
  }
  const mark = strategy.gracePeriod === undefined ? undefined : graceOf(old, deletion, strategy.gracePeriod, now);
  if (mark === 'pending') return { ...pending, object: old };
  const finalizers = finalizersFor(old, deletion, byDefault);
  if (mark !== undefined) {
    const deleteAfterMark = mark.deletionGracePeriodSeconds === 0 && finalizers.length === 0;
    return { ...pending, object: yield* marked(old, { ...mark, finalizers }), deleteAfterMark };
  }
  if (finalizers.length === 0) return { ...pending, object: old, remove: true };
  const since = old.metadata.deletionTimestamp;
  const deletionTimestamp = since !== undefined && parseTime(since) <= now ? since : formatTime(now);
  return { ...pending, object: yield* marked(old, { finalizers, deletionTimestamp, deletionGracePeriodSeconds: 0 }) };
}

/** Without a garbage collector nothing would remove the finalizer of a kind that orphans its dependents by default. */
const propagationOf = ({ garbageCollectionPolicy: policy }: Strategy, { garbageCollector }: RegistryContext) =>
  policy === 'OrphanDependents' && !garbageCollector ? undefined : policy;

interface GraceMark {
  readonly deletionTimestamp: string;
  readonly deletionGracePeriodSeconds: number;
}

/**
 * The mark of a graceful deletion: a second delete may shorten the grace period, never extend it. Undefined when the
 * object is to be removed; `pending` when nothing changes.
 */
function graceOf(
  { metadata, ...rest }: ApiObject,
  { gracePeriodSeconds }: DeleteOptions,
  gracePeriod: (object: ApiObject, asked: number | undefined) => number,
  now: number,
): GraceMark | 'pending' | undefined {
  // A negative grace period means one second.
  const asked = gracePeriodSeconds !== undefined && gracePeriodSeconds < 0 ? 1 : gracePeriodSeconds;
  const { deletionTimestamp: until, deletionGracePeriodSeconds: given = 0 } = metadata;
  if (until === undefined) {
    const seconds = gracePeriod({ metadata, ...rest } as ApiObject, asked);
    return { deletionTimestamp: after(now, seconds), deletionGracePeriodSeconds: seconds };
  }
  if (given === 0) return undefined;
  if (asked === undefined || asked >= given) return 'pending';
  const end = parseTime(until) + (asked - given) * 1000;
  // A graceful deletion never ends in the past: the kubelet still gets a second.
  if (end < now) return { deletionTimestamp: formatTime(now), deletionGracePeriodSeconds: Math.min(asked, 1) };
  return { deletionTimestamp: formatTime(end), deletionGracePeriodSeconds: asked };
}

/** The latest time that can be formatted. */
const lastTime = Date.UTC(9999, 11, 31, 23, 59, 59);

const after = (time: number, seconds: number): string => formatTime(Math.min(time + seconds * 1000, lastTime));

/** A copy of the object with these metadata; the first mark increments the generation. */
function* marked(old: ApiObject, fields: Partial<ApiObject['metadata']>): Steps<ApiObject> {
  const { metadata, ...rest } = yield* copyOf(old);
  const { generation, deletionTimestamp } = metadata;
  const counted = deletionTimestamp === undefined && generation !== undefined && generation > 0;
  const { finalizers = metadata.finalizers ?? [] } = fields;
  const next = {
    ...metadata,
    ...fields,
    finalizers: finalizers.length === 0 ? undefined : finalizers,
    generation: counted ? generation + 1 : generation,
  };
  return { ...rest, metadata: metadataOf(next) } as ApiObject;
}
