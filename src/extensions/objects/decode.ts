import {
  getKey,
  isJsonObject,
  type Json,
  type JsonObject,
  type Names,
  type Path,
  quote,
  StatusError,
  setKey,
  statusError,
} from '../../meta/index.ts';
import { type CompiledType, compile, type Decoded, type StructSchema } from '../../schema/index.ts';
import { ObjectMeta } from '../../types/meta-v1.ts';
import type { Structural } from '../structural.ts';
import { inspect } from './inspect.ts';
import {
  DefaultsTooLarge,
  fresh,
  isTypeMember,
  jsonSize,
  Malformed,
  maxDefaulted,
  type NormalForm,
  normalForms,
  normalMember,
  type Walk,
} from './normal-form.ts';

const none: readonly Path[] = [];

/** The type of the objects of a version of a definition. Objects share all values that do not change with the argument. */
export interface CustomType extends CompiledType {
  /**
   * Brings an object that was stored, and may have been written under another schema, to its normal form in place;
   * returns whether that changed it. An object that would grow beyond the size of stored objects remains as it is.
   */
  normalizeStored(object: JsonObject): boolean;
  /** Prunes an object that has been converted from another version, in place. Sets no defaults. */
  prune(object: JsonObject): void;
}

/** The schema is read on first use. */
export function customType(structural: () => Structural, schema: StructSchema, names: Names): CustomType {
  let form: NormalForm | undefined;
  const formOf = () => {
    form ??= normalForms(names)(structural());
    return form;
  };
  return {
    schema,
    names,
    decode: (value) => decode(formOf(), value, names),
    *decodeInSteps(value) {
      yield;
      return decode(formOf(), value, names);
    },
    normalizeStored: (object) => normalizeInPlace(formOf(), object, { names, ...stored, room: maxDefaulted }),
    prune: (object) => {
      normalizeInPlace(formOf(), object, { names, ...stored, room: 0, prunesOnly: true });
    },
  };
}

/** @throws StatusError 400 for metadata of the wrong type, 413 for defaults that take too much */
function decode(form: NormalForm, value: Json, names: Names): Decoded {
  if (!isJsonObject(value)) throw statusError.badRequest('the body is not a JSON object');
  const metadata = compile(ObjectMeta, names).decode(getKey(value, 'metadata') ?? {});
  const { apiVersion, kind } = value;
  const object: JsonObject = {};
  if (typeof apiVersion === 'string') object['apiVersion'] = apiVersion;
  if (typeof kind === 'string') object['kind'] = kind;
  object['metadata'] = metadata.value;
  const walk: Walk = { names, dropped: false, lenient: false, room: maxDefaulted };
  let field = '';
  try {
    for (const key in value) {
      field = key;
      const normal = isTypeMember(key) ? undefined : normalMember(form, key, value[key] as Json, walk);
      if (normal !== undefined) setKey(object, key, normal);
    }
    for (const [name, given] of missing(form, object)) {
      field = name;
      setKey(object, name, fresh(given, walk));
    }
  } catch (error) {
    if (error instanceof DefaultsTooLarge) throw defaultsTooLarge(field);
    if (!(error instanceof Malformed)) throw error;
    inspect(form, value, names);
    throw statusError.internal('an embedded resource cannot be decoded', error);
  }
  const inMetadata = metadata.unknown.length === 0 ? none : metadata.unknown.map((path) => ['metadata', ...path]);
  return { value: object, unknown: walk.dropped ? [...inMetadata, ...inspect(form, value, names)] : inMetadata };
}

function defaultsTooLarge(field: string): StatusError {
  const why = `the defaults in ${quote(field)} take more than ${maxDefaulted} bytes`;
  return new StatusError(413, 'RequestEntityTooLarge', `Request entity too large: ${why}`);
}

/** The walk of a stored object. */
const stored = { dropped: false, lenient: true } as const;

/** Returns whether that changed the object. */
function normalizeInPlace(form: NormalForm, object: JsonObject, walk: Walk): boolean {
  const { room } = walk;
  const changes: [key: string, value: Json | undefined][] = [];
  try {
    for (const key in object) {
      const item = object[key] as Json;
      const normal = isTypeMember(key) ? item : normalMember(form, key, item, walk);
      if (normal !== item) changes.push([key, normal]);
    }
    if (walk.prunesOnly !== true) {
      for (const [name, value] of missing(form, object)) changes.push([name, fresh(value, walk)]);
    }
  } catch (error) {
    if (error instanceof DefaultsTooLarge) return false;
    throw error;
  }
  if (walk.room < room && jsonSize(object) > walk.room) return false;
  for (const [key, value] of changes) {
    if (value === undefined) delete object[key];
    else setKey(object, key, value);
  }
  return changes.length > 0;
}

/** The defaults of members that an object does not have. */
const missing = ({ defaulted }: NormalForm, object: JsonObject): NormalForm['defaulted'] =>
  defaulted.filter(([name]) => !isTypeMember(name) && !Object.hasOwn(object, name));
