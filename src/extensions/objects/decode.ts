import { stringifyJsonInSteps } from '../../codec/index.ts';
import {
  atOnce,
  getKey,
  isJsonObject,
  type Json,
  type JsonObject,
  type Names,
  Pace,
  type Path,
  quote,
  StatusError,
  type Steps,
  setKey,
  statusError,
} from '../../meta/index.ts';
import { type CompiledType, compile, type Decoded, type Decoder, type StructSchema } from '../../schema/index.ts';
import { ObjectMeta } from '../../types/meta-v1.ts';
import { inspect } from './inspect.ts';
import {
  DefaultsTooLarge,
  fresh,
  isTypeMember,
  Malformed,
  maxDefaulted,
  type NormalForm,
  normalMember,
  type Walk,
} from './normal-form.ts';
import { freshInSteps, normalMemberInSteps } from './normal-form-steps.ts';

const none: readonly Path[] = [];

/** The type of the objects of a version of a definition. Objects share all values that do not change with the argument. */
export interface CustomType extends CompiledType {
  /**
   * Brings an object that was stored, and may have been written under another schema, to its normal form in place;
   * returns whether that changed it. An object that would grow beyond the size of stored objects remains as it is.
   */
  normalizeStored(object: JsonObject): Steps<boolean>;
  /** Prunes an object that has been converted from another version, in place. Sets no defaults. */
  prune(object: JsonObject): Steps<void>;
}

/** The form is read on first use. */
export function customType(formOf: () => NormalForm, schema: StructSchema, names: Names): CustomType {
  return {
    schema,
    names,
    ...decoderOf(formOf, { names }),
    applied: decoderOf(formOf, { names, keepsNulls: true }),
    normalizeStored: (object) => normalizeInPlace(formOf(), object, { names, ...stored, room: maxDefaulted }),
    prune: function* (object) {
      yield* normalizeInPlace(formOf(), object, { names, ...stored, room: 0, prunesOnly: true });
    },
  };
}

type Settings = Pick<Walk, 'names' | 'keepsNulls'>;

const decoderOf = (formOf: () => NormalForm, settings: Settings): Decoder => ({
  decode: (value) => decode(formOf(), value, settings),
  *decodeInSteps(value) {
    yield;
    return yield* decodeInSteps(formOf(), value, settings);
  },
});

/** The decoding of an object. */
interface Decoding {
  readonly form: NormalForm;
  readonly value: JsonObject;
  /** The object so far. */
  readonly object: JsonObject;
  readonly walk: Walk;
  /** The paths of unknown fields in the metadata. */
  readonly inMetadata: readonly Path[];
  /** The field that is being decoded. */
  field: string;
}

/** @throws StatusError 400 for metadata of the wrong type, 413 for defaults that take too much */
function decode(form: NormalForm, value: Json, settings: Settings): Decoded {
  const body = bodyOf(value);
  const metadata = compile(ObjectMeta, settings.names).decode(getKey(body, 'metadata') ?? {});
  const decoding = begin(form, body, metadata, settings);
  const { object, walk, inMetadata } = decoding;
  try {
    for (const key in body) {
      decoding.field = key;
      const normal = isTypeMember(key) ? undefined : normalMember(form, key, body[key] as Json, walk);
      if (normal !== undefined) setKey(object, key, normal);
    }
    for (const [name, given] of missing(form, object)) {
      decoding.field = name;
      setKey(object, name, fresh(given, walk));
    }
  } catch (error) {
    throw atOnce(reasonOf(error, decoding));
  }
  return { value: object, unknown: walk.dropped ? atOnce(unknownIn(decoding)) : inMetadata };
}

/** The same in steps. */
function* decodeInSteps(form: NormalForm, value: Json, settings: Settings): Steps<Decoded> {
  const body = bodyOf(value);
  const metadata = yield* compile(ObjectMeta, settings.names).decodeInSteps(getKey(body, 'metadata') ?? {});
  const decoding = begin(form, body, metadata, settings);
  const { object, walk, inMetadata } = decoding;
  const pace = new Pace();
  try {
    const keys = Object.keys(body);
    if (pace.over(keys.length)) yield;
    for (const key of keys) {
      decoding.field = key;
      const normal = isTypeMember(key)
        ? undefined
        : yield* normalMemberInSteps(form, key, body[key] as Json, walk, pace);
      if (normal !== undefined) setKey(object, key, normal);
    }
    for (const [name, given] of missing(form, object)) {
      decoding.field = name;
      setKey(object, name, yield* freshInSteps(given, walk, pace));
    }
  } catch (error) {
    throw yield* reasonOf(error, decoding);
  }
  return { value: object, unknown: walk.dropped ? yield* unknownIn(decoding) : inMetadata };
}

function bodyOf(value: Json): JsonObject {
  if (!isJsonObject(value)) throw statusError.badRequest('the body is not a JSON object');
  return value;
}

function begin(form: NormalForm, value: JsonObject, metadata: Decoded, settings: Settings): Decoding {
  const { apiVersion, kind } = value;
  const object: JsonObject = {};
  if (typeof apiVersion === 'string') object['apiVersion'] = apiVersion;
  if (typeof kind === 'string') object['kind'] = kind;
  object['metadata'] = metadata.value;
  const inMetadata = metadata.unknown.length === 0 ? none : metadata.unknown.map((path) => ['metadata', ...path]);
  const walk: Walk = { ...settings, dropped: false, lenient: false, room: maxDefaulted };
  return { form, value, object, walk, inMetadata, field: '' };
}

/** Why an object cannot be decoded. */
function* reasonOf(error: unknown, { form, value, walk, field }: Decoding): Steps<unknown> {
  if (error instanceof DefaultsTooLarge) return defaultsTooLarge(field);
  if (!(error instanceof Malformed)) return error;
  yield* inspect(form, value, walk.names);
  return statusError.internal('an embedded resource cannot be decoded', error);
}

function* unknownIn({ form, value, walk, inMetadata }: Decoding): Steps<readonly Path[]> {
  return [...inMetadata, ...(yield* inspect(form, value, walk.names))];
}

function defaultsTooLarge(field: string): StatusError {
  const why = `the defaults in ${quote(field)} take more than ${maxDefaulted} bytes`;
  return new StatusError(413, 'RequestEntityTooLarge', `Request entity too large: ${why}`);
}

/** The walk of a stored object. */
const stored = { dropped: false, lenient: true } as const;

/** Returns whether that changed the object. */
function* normalizeInPlace(form: NormalForm, object: JsonObject, walk: Walk): Steps<boolean> {
  const { room } = walk;
  const pace = new Pace();
  const changes: [key: string, value: Json | undefined][] = [];
  try {
    for (const key in object) {
      const item = object[key] as Json;
      const normal = isTypeMember(key) ? item : yield* normalMemberInSteps(form, key, item, walk, pace);
      if (normal !== item) changes.push([key, normal]);
    }
    if (walk.prunesOnly !== true) {
      for (const [name, value] of missing(form, object)) changes.push([name, yield* freshInSteps(value, walk, pace)]);
    }
  } catch (error) {
    if (error instanceof DefaultsTooLarge) return false;
    throw error;
  }
  if (walk.room < room && Buffer.byteLength(yield* stringifyJsonInSteps(object)) > walk.room) return false;
  for (const [key, value] of changes) {
    if (value === undefined) delete object[key];
    else setKey(object, key, value);
  }
  return changes.length > 0;
}

/** The defaults of members that an object does not have. */
const missing = ({ defaulted }: NormalForm, object: JsonObject): NormalForm['defaulted'] =>
  defaulted.filter(([name]) => !isTypeMember(name) && !Object.hasOwn(object, name));
