import {
  getKey,
  isJsonObject,
  type Json,
  type JsonObject,
  type Names,
  type Path,
  setKey,
  statusError,
} from '../../meta/index.ts';
import { type CompiledType, compile, type Decoded, type StructSchema } from '../../schema/index.ts';
import { ObjectMeta } from '../../types/meta-v1.ts';
import type { Structural } from '../structural.ts';
import { inspect } from './inspect.ts';
import {
  fresh,
  isTypeMember,
  Malformed,
  type NormalForm,
  normalFormOf,
  normalMember,
  type Walk,
} from './normal-form.ts';

const none: readonly Path[] = [];

/** The type of the objects of a version of a definition. Objects share all values that do not change with the argument. */
export interface CustomType extends CompiledType {
  /**
   * Brings an object that was stored, and may have been written under another schema, to its normal form in place;
   * returns whether that changed it.
   */
  normalizeStored(object: JsonObject): boolean;
  /** Prunes an object that has been converted from another version, in place. Sets no defaults. */
  prune(object: JsonObject): void;
}

/** The schema is read on first use. */
export function customType(structural: () => Structural, schema: StructSchema, names: Names): CustomType {
  let form: NormalForm | undefined;
  const formOf = () => {
    form ??= normalFormOf(structural(), names);
    return form;
  };
  return {
    schema,
    names,
    decode: (value) => decode(formOf(), value, names),
    normalizeStored: (object) => {
      const changed = normalizeMembers(formOf(), object, { names, dropped: false, lenient: true });
      return setDefaults(formOf(), object) || changed;
    },
    prune: (object) => {
      normalizeMembers(formOf(), object, { names, dropped: false, lenient: true, prunesOnly: true });
    },
  };
}

/** @throws StatusError 400 for metadata of the wrong type */
function decode(form: NormalForm, value: Json, names: Names): Decoded {
  if (!isJsonObject(value)) throw statusError.badRequest('the body is not a JSON object');
  const metadata = compile(ObjectMeta, names).decode(getKey(value, 'metadata') ?? {});
  const { apiVersion, kind } = value;
  const object: JsonObject = {};
  if (typeof apiVersion === 'string') object['apiVersion'] = apiVersion;
  if (typeof kind === 'string') object['kind'] = kind;
  object['metadata'] = metadata.value;
  const walk: Walk = { names, dropped: false, lenient: false };
  try {
    for (const key in value) {
      const normal = isTypeMember(key) ? undefined : normalMember(form, key, value[key] as Json, walk);
      if (normal !== undefined) setKey(object, key, normal);
    }
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
    inspect(form, value, names);
    throw statusError.internal('an embedded resource cannot be decoded', error);
  }
  setDefaults(form, object);
  const inMetadata = metadata.unknown.length === 0 ? none : metadata.unknown.map((path) => ['metadata', ...path]);
  return { value: object, unknown: walk.dropped ? [...inMetadata, ...inspect(form, value, names)] : inMetadata };
}

/** Brings the members of an object to their normal form, in place; returns whether that changed one. */
function normalizeMembers(form: NormalForm, object: JsonObject, walk: Walk): boolean {
  let changed = false;
  for (const key of Object.keys(object)) {
    const item = object[key] as Json;
    const normal = isTypeMember(key) ? item : normalMember(form, key, item, walk);
    if (normal === item) continue;
    changed = true;
    if (normal === undefined) delete object[key];
    else setKey(object, key, normal);
  }
  return changed;
}

/** Sets the defaults of absent members; returns whether there were any. */
function setDefaults({ defaulted }: NormalForm, object: JsonObject): boolean {
  let changed = false;
  for (const [name, value] of defaulted) {
    if (isTypeMember(name) || Object.hasOwn(object, name)) continue;
    setKey(object, name, fresh(value));
    changed = true;
  }
  return changed;
}
