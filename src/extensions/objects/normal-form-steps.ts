/** The normal form of large values, in steps. Each gives the result of its namesake, which does the small parts. */
import {
  type Json,
  type JsonObject,
  jsonCopyInSteps,
  jsonEqualInSteps,
  largeWeight,
  type Pace,
  StatusError,
  type Steps,
  setKey,
  weigh,
} from '../../meta/index.ts';
import { compile } from '../../schema/index.ts';
import { ObjectMeta } from '../../types/meta-v1.ts';
import {
  type Default,
  malformed,
  memberForm,
  type NormalForm,
  normalize,
  normalMember,
  nullWithoutDefault,
  spend,
  type Walk,
} from './normal-form.ts';

/** @throws Malformed, DefaultsTooLarge */
function* normalizeInSteps(form: NormalForm, value: Json, walk: Walk, pace: Pace): Steps<Json> {
  const weight = weigh(value);
  if (pace.over(weight)) yield;
  if (typeof value !== 'object' || value === null) return value;
  if (weight < largeWeight && !form.defaultsLargely) return normalize(form, value, walk);
  return yield* Array.isArray(value)
    ? normalListInSteps(form, value, walk, pace)
    : normalObjectInSteps(form, value, walk, pace);
}

function* normalListInSteps({ items }: NormalForm, list: Json[], walk: Walk, pace: Pace): Steps<Json[]> {
  if (items === undefined) return list;
  const defaultItem = items.nullable || walk.prunesOnly === true ? undefined : items.default;
  const out: Json[] = [];
  let changed = false;
  for (const item of list) {
    const normal =
      item === null && defaultItem !== undefined
        ? yield* freshInSteps(defaultItem, walk, pace)
        : yield* normalizeInSteps(items, item, walk, pace);
    if (normal !== item) changed = true;
    out.push(normal);
  }
  return changed ? out : list;
}

function* normalObjectInSteps(form: NormalForm, object: JsonObject, walk: Walk, pace: Pace): Steps<JsonObject> {
  const keys = Object.keys(object);
  if (pace.over(keys.length)) yield;
  const changed = new Map<string, Json | undefined>();
  for (const key of keys) {
    const item = object[key] as Json;
    const normal = yield* normalMemberInSteps(form, key, item, walk, pace);
    if (normal !== item) changed.set(key, normal);
  }
  const defaults = walk.prunesOnly === true ? [] : form.defaulted.filter(([name]) => !Object.hasOwn(object, name));
  if (changed.size === 0 && defaults.length === 0) return object;
  const out: JsonObject = {};
  for (const key of keys) {
    if (pace.over()) yield;
    const normal = changed.has(key) ? changed.get(key) : object[key];
    if (normal !== undefined) setKey(out, key, normal);
  }
  for (const [name, value] of defaults) {
    const copy = yield* freshInSteps(value, walk, pace);
    setKey(
      out,
      name,
      form.embedded && name === 'metadata' ? yield* metadataInSteps(copy, inDefault(walk), pace) : copy,
    );
  }
  return out;
}

/** @throws Malformed, DefaultsTooLarge */
export function* normalMemberInSteps(
  form: NormalForm,
  key: string,
  item: Json,
  walk: Walk,
  pace: Pace,
): Steps<Json | undefined> {
  const weight = weigh(item);
  if (pace.over(weight)) yield;
  const isMetadata = form.embedded && key === 'metadata';
  const member = memberForm(form, key);
  const isLong = weight >= largeWeight || member?.defaultsLargely === true;
  const hasForm = isMetadata ? item !== null : member !== undefined;
  if (!isLong || !hasForm) return normalMember(form, key, item, walk);
  const source = isMetadata ? yield* metadataInSteps(item, walk, pace) : item;
  if (member === undefined) return source;
  if (source === null) {
    const { nullable, default: value } = member;
    if (nullable || (value !== undefined && walk.prunesOnly === true)) return null;
    return value === undefined ? nullWithoutDefault(member, walk) : yield* freshInSteps(value, walk, pace);
  }
  const normal = yield* normalizeInSteps(member, source, walk, pace);
  return normal !== source && isMetadata ? yield* metadataInSteps(normal, inDefault(walk), pace) : normal;
}

/** Metadata with defaults may have unknown fields. */
const inDefault = (walk: Walk): Walk => ({ ...walk, lenient: true });

/** The metadata of an embedded resource, decoded. */
function* metadataInSteps(item: Json, walk: Walk, pace: Pace): Steps<Json> {
  try {
    const { value, unknown } = yield* compile(ObjectMeta, walk.names).decodeInSteps(item);
    if (unknown.length > 0 && !walk.lenient) walk.dropped = true;
    return (yield* jsonEqualInSteps(value, item, pace)) ? item : value;
  } catch (error) {
    if (walk.lenient) return item;
    throw error instanceof StatusError ? malformed : error;
  }
}

/** So many bytes of defaults count as one visited value. */
const bytesPerVisit = 16;

/** A default as a value that an object may own. @throws DefaultsTooLarge */
export function* freshInSteps(defaultValue: Default, walk: Walk, pace: Pace): Steps<Json> {
  spend(defaultValue, walk);
  if (pace.over(1 + defaultValue.size / bytesPerVisit)) yield;
  return yield* jsonCopyInSteps(defaultValue.value, pace);
}
