import type { CachedObject } from '../../cache/index.ts';
import { readOwnJsonInSteps } from '../../codec/index.ts';
import { type ApiObject, equalInSteps, inTurns, type Steps, serverTurns, type Turns } from '../../meta/index.ts';
import type { Entry } from '../../store/index.ts';
import type { ConvertObjects } from '../resource/custom-storage.ts';
import { describeObject } from './describe.ts';
import { isUnconverted, type ObjectFormat } from './format.ts';
import { isCorrupt, readObjectInSteps } from './read.ts';
import { isAsStored, storedTextInSteps } from './write.ts';

/** The most objects, and bytes of objects beyond the first, of one call of a webhook. */
const maxObjects = 100;
const maxBytes = 256 * 1024;

/** A call of a webhook that will convert an object. */
interface Call {
  readonly outcome: Promise<void>;
  /** It converts this object only: its failure is about this object. */
  readonly alone: boolean;
}

/** The pending calls by object: concurrent readers of an object share one. */
const calls = new WeakMap<CachedObject, Call>();

/** The object in the version of its resource. @throws StatusError when the webhook does not convert it */
export async function toOwnVersion(
  format: ObjectFormat,
  cached: CachedObject,
  turns = serverTurns(),
): Promise<CachedObject> {
  if (!isUnconverted(format, cached.bytes)) return cached;
  for (let shares = true; cached.converted === undefined; shares = false) {
    const running = calls.get(cached);
    const call = running !== undefined && (shares || running.alone) ? running : begin(format, [cached], turns);
    try {
      await call.outcome;
    } catch (error) {
      if (call.alone) throw error;
    }
  }
  return cached.converted;
}

/** The same by a new call for this object: the webhook may convert it differently than before. @throws StatusError */
export async function reconvert(
  format: ObjectFormat,
  cached: CachedObject,
  turns = serverTurns(),
): Promise<CachedObject> {
  if (!isUnconverted(format, cached.bytes)) return cached;
  const running = calls.get(cached);
  const call = running?.alone === true ? running : begin(format, [cached], turns);
  await call.outcome;
  return cached.converted ?? cached;
}

/**
 * The objects in the version of their resource, in order: all of them, or those before the first one that the webhook
 * does not convert, and its error. Works in turns.
 */
export async function convertAll(
  format: ObjectFormat,
  all: Iterable<CachedObject>,
  turns: Turns,
): Promise<{ readonly objects: CachedObject[]; readonly failure?: { readonly error: unknown } }> {
  const objects: CachedObject[] = [];
  for (const batch of batches(all)) {
    const open = batch.filter((cached) => needsCall(format, cached));
    // When a call for several objects fails, each of them is converted alone.
    if (open.length > 1) await begin(format, open, turns).outcome.catch(() => {});
    if (turns.over) await turns.next();
    for (const cached of batch) {
      try {
        objects.push(cached.converted ?? (isCorrupt(cached) ? cached : await toOwnVersion(format, cached, turns)));
      } catch (error) {
        return { objects, failure: { error } };
      }
    }
  }
  return { objects };
}

const needsCall = (format: ObjectFormat, cached: CachedObject): boolean =>
  cached.converted === undefined && isUnconverted(format, cached.bytes) && !calls.has(cached);

function* batches(all: Iterable<CachedObject>): Generator<CachedObject[]> {
  let batch: CachedObject[] = [];
  let size = 0;
  for (const cached of all) {
    if (batch.length === maxObjects || (batch.length > 0 && size + cached.bytes.length > maxBytes)) {
      yield batch;
      batch = [];
      size = 0;
    }
    batch.push(cached);
    size += cached.bytes.length;
  }
  if (batch.length > 0) yield batch;
}

/** Converts the objects: one call for each of their versions. */
function begin(format: ObjectFormat, objects: readonly CachedObject[], turns: Turns): Call {
  const outcome = convertObjects(format, objects, turns).finally(() => {
    for (const one of objects) if (calls.get(one) === call) calls.delete(one);
  });
  const call = { outcome, alone: objects.length === 1 };
  for (const one of objects) calls.set(one, call);
  return call;
}

async function convertObjects(format: ObjectFormat, objects: readonly CachedObject[], turns: Turns): Promise<void> {
  const webhook = format.custom?.webhook as ConvertObjects;
  const byVersion = new Map<string, { readonly cached: CachedObject; readonly object: ApiObject }[]>();
  for (const one of objects) {
    if (turns.over) await turns.next();
    const object = await inTurns(readObjectInSteps(format, one), turns);
    const same = byVersion.get(object.apiVersion) ?? [];
    byVersion.set(object.apiVersion, same);
    same.push({ cached: one, object });
  }
  for (const same of byVersion.values()) {
    const converted = await webhook(
      same.map(({ object }) => object),
      format.apiVersion,
    );
    for (const [i, one] of same.entries()) {
      if (turns.over) await turns.next();
      one.cached.converted = await inTurns(describeConverted(format, one.cached, converted[i]), turns);
    }
  }
}

function* describeConverted(
  format: ObjectFormat,
  { key, revision }: CachedObject,
  converted: ApiObject | undefined,
): Steps<CachedObject> {
  if (converted === undefined) throw new Error('an object has not been converted');
  const object = { ...converted };
  if (format.custom !== undefined) yield* format.custom.fromStored(object);
  return yield* describeObject(format, key, object, revision);
}

/** The object as it is stored; the same one unless a webhook converts it. @throws StatusError */
export async function inStoredVersion(format: ObjectFormat, object: ApiObject): Promise<ApiObject> {
  const { custom, apiVersion, storedApiVersion } = format;
  if (custom?.webhook === undefined || apiVersion === storedApiVersion) return object;
  const [stored] = await custom.webhook([object], storedApiVersion);
  return stored ?? object;
}

/** Whether a write of the unchanged object would store the same value, encrypted alike. @throws StatusError */
export async function wouldStore(
  format: ObjectFormat,
  object: ApiObject,
  stored: Entry,
  turns = serverTurns(),
): Promise<boolean> {
  if (stored.stale === true) return false;
  if (format.custom?.webhook === undefined) return inTurns(isAsStored(format, object, stored.value), turns);
  return inTurns(isSameJson(format, await inStoredVersion(format, object), stored.value), turns);
}

/** A webhook may return the fields in another order each time. */
function* isSameJson(format: ObjectFormat, object: ApiObject, stored: Uint8Array): Steps<boolean> {
  const expected = yield* readOwnJsonInSteps(yield* storedTextInSteps(format, object));
  return yield* equalInSteps(expected, yield* readOwnJsonInSteps(Buffer.from(stored).toString()));
}
