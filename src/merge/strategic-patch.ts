import {
  getKey,
  isJsonObject,
  type Json,
  type JsonArray,
  type JsonObject,
  jsonType,
  largeWeight,
  type Names,
  Pace,
  StatusError,
  type Steps,
  setKey,
  statusError,
  weigh,
} from '../meta/index.ts';
import { anyValue, fieldsOf, type Resolved, resolve, type Schema, type StructSchema } from '../schema/index.ts';
import {
  asList,
  isDirective,
  malformed,
  plain,
  plainList,
  readDirectives,
  strategicError,
  withoutDirective,
} from './strategic-directives.ts';
import { arrange, checkOrder, mergeLists, removeScalars, unknownDirective } from './strategic-list.ts';

/**
 * The work limit of a patch, in visited members: `freeWork`, and `workPerMember` for each member of patch and object.
 */
const workPerMember = 2;
const freeWork = 1_000;

/** A patch in progress, and how many more members it may visit. */
interface Patching {
  readonly names: Names;
  left: number;
  readonly pace: Pace;
}

/** The schema, patch strategy and merge key of a field. */
interface PatchMeta {
  readonly schema: Schema;
  readonly strategy: 'merge' | 'replace' | undefined;
  readonly mergeKey: string | undefined;
}

/**
 * The object after a strategic merge patch: like a JSON Merge Patch, but lists are merged by the patch strategy and
 * merge key of their field, and the patch may have directives (`$patch`, `$retainKeys`, `$setElementOrder/…`,
 * `$deleteFromPrimitiveList/…`). The object is valid for the schema; the patch may hold any JSON, and its undeclared
 * fields are retained: also directives in what replaces a value as a whole, where they have no effect. Neither argument
 * is changed; the result shares values with both. Runs in steps, because objects may be large.
 * @throws StatusError 400 for malformed directives, 413 when the patch costs too much, 422 for lists of lists, 500 for
 *   entries without their merge key, unknown directives and the like.
 */
export function* strategicMergePatch(object: Json, patch: Json, schema: StructSchema, names: Names): Steps<Json> {
  if (patch === null) return object;
  if (!isJsonObject(patch)) {
    throw statusError.badRequest(
      `json: cannot unmarshal ${jsonType(patch)} into Go value of type map[string]interface {}`,
    );
  }
  const pace = new Pace();
  const size = (yield* sizeOf(object, pace)) + (yield* sizeOf(patch, pace));
  const state = { names, left: freeWork + workPerMember * size, pace };
  return yield* mergeObjects(state, isJsonObject(object) ? object : {}, patch, schema);
}

/** The number of members of all lists and objects in a value. */
function* sizeOf(value: Json, pace: Pace): Steps<number> {
  const weight = weigh(value);
  if (pace.over(weight)) yield;
  // Each value but the outermost is a member.
  if (weight < largeWeight || typeof value !== 'object' || value === null) return weight - 1;
  let size = 0;
  if (Array.isArray(value)) for (const entry of value) size += 1 + (yield* sizeOf(entry, pace));
  else for (const key of Object.keys(value)) size += 1 + (yield* sizeOf(value[key] as Json, pace));
  return size;
}

function* mergeObjects(state: Patching, before: JsonObject, patch: JsonObject, schema: Schema): Steps<JsonObject> {
  const { pace } = state;
  const keys = Object.keys(patch);
  const { directive, retainKeys, elementOrders, primitiveDeletions } = readDirectives(patch, keys);
  if (pace.over(keys.length)) yield;
  if (directive === 'replace') return withoutDirective(patch);
  if (directive === 'delete') return {};
  if (directive !== undefined) throw unknownDirective(patch);
  const out: JsonObject = {};
  const names = retainKeys === undefined ? Object.keys(before) : retainedKeys(before, patch, retainKeys);
  if (pace.over(names.length)) yield;
  for (const key of names) {
    if (pace.over()) yield;
    setKey(out, key, before[key] as Json);
  }
  spend(state, names.length + keys.length);
  const shape = shapeOf(schema);
  for (const [name, order] of elementOrders) {
    const list = yield* mergeOrdered(state, getKey(out, name), getKey(patch, name), order, shape, name);
    if (list !== undefined) setKey(out, name, list);
  }
  const ordered = new Set(elementOrders.map(([name]) => name));
  for (const key of keys) {
    if (pace.over()) yield;
    if (isDirective(key) || ordered.has(key)) continue;
    const change = patch[key] as Json;
    const known = getKey(out, key);
    const value = change === null ? undefined : yield* mergeValues(state, known, change, shape, key);
    if (value === undefined) delete out[key];
    else if (value !== known) setKey(out, key, value);
  }
  for (const [name, removed] of primitiveDeletions) {
    if (!Array.isArray(removed)) throw malformed('primitive list');
    const list = getKey(out, name);
    if (!Array.isArray(list)) continue;
    spend(state, list.length + removed.length);
    setKey(out, name, yield* removeScalars(list, removed));
  }
  return out;
}

/** The keys of an object that `$retainKeys` retains. Every key that the patch sets must be among them. */
function retainedKeys(before: JsonObject, patch: JsonObject, retain: Json): string[] {
  if (!Array.isArray(retain)) throw malformed('retainKeys');
  const retainedNames = new Set(retain);
  if (Object.keys(patch).some((key) => !isDirective(key) && patch[key] !== null && !retainedNames.has(key))) {
    throw malformed('retainKeys');
  }
  return Object.keys(before).filter((key) => retainedNames.has(key));
}

/** The patched value; undefined when it is removed. */
function* mergeValues(
  state: Patching,
  before: Json | undefined,
  change: Json,
  parent: Resolved,
  key: string,
): Steps<Json | undefined> {
  if (isJsonObject(before) && isJsonObject(change)) {
    const place = patchMetaOf(state, parent, key);
    return place.strategy === 'replace' ? change : yield* mergeObjects(state, before, change, place.schema);
  }
  if (Array.isArray(before) && Array.isArray(change)) {
    return yield* mergeListsAt(state, before, change, patchMetaOf(state, parent, key));
  }
  return yield* plain(change, state.pace);
}

function* mergeListsAt(state: Patching, before: JsonArray, change: JsonArray, place: PatchMeta): Steps<JsonArray> {
  if (place.strategy !== 'merge') return change;
  spend(state, before.length + change.length);
  const element = elementOf(place.schema);
  const mergeEntry = (entry: JsonObject, patch: JsonObject) => mergeObjects(state, entry, patch, element);
  return yield* mergeLists(before, change, { mergeKey: place.mergeKey, mergeEntry });
}

/** The patched list in the order of `$setElementOrder`; undefined when neither object nor patch has the list. */
function* mergeOrdered(
  state: Patching,
  before: Json | undefined,
  change: Json | undefined,
  order: Json,
  parent: Resolved,
  name: string,
): Steps<JsonArray | undefined> {
  const orderedItems = asList(order);
  const live = before === undefined || before === null ? undefined : asList(before);
  const changes = change === undefined ? undefined : asList(change);
  const place = patchMetaOf(state, parent, name);
  const { type } = resolve(place.schema);
  if (type !== 'list' && type !== 'either' && type !== 'any') {
    throw strategicError(`expected slice or array type, but got: ${parent.type === 'map' ? 'map' : 'struct'}`);
  }
  spend(state, orderedItems.length + (live ?? []).length + (changes ?? []).length);
  checkOrder(changes ?? [], orderedItems, place.mergeKey);
  yield;
  const merged = yield* mergeBoth(state, live, changes, place);
  return merged && (yield* arrange(merged, orderedItems, live ?? [], place.mergeKey));
}

function* mergeBoth(
  state: Patching,
  before: JsonArray | undefined,
  change: JsonArray | undefined,
  place: PatchMeta,
): Steps<JsonArray | undefined> {
  if (change === undefined) return before;
  return yield* before === undefined ? plainList(change, state.pace) : mergeListsAt(state, before, change, place);
}

/** The struct or map schema of an object. */
function shapeOf(schema: Schema): Resolved {
  const resolved = resolve(schema);
  if (resolved.type !== 'either') return resolved;
  const options = resolved.options.map(resolve);
  return options.find(({ type }) => type === 'struct' || type === 'map') ?? anyValue;
}

function elementOf(schema: Schema): Schema {
  const resolved = resolve(schema);
  return resolved.type === 'list' ? resolved.element : anyValue;
}

/** @throws StatusError 500 for a field that the struct does not have */
function patchMetaOf({ names }: Patching, parent: Resolved, key: string): PatchMeta {
  if (parent.type === 'map') return { schema: parent.value, strategy: undefined, mergeKey: undefined };
  if (parent.type !== 'struct') return { schema: anyValue, strategy: undefined, mergeKey: undefined };
  const field = fieldsOf(parent, names).get(key);
  if (field === undefined) {
    const type = parent.name.slice(parent.name.lastIndexOf('.') + 1);
    throw strategicError(`unable to find api field in struct ${type} for the json field ${JSON.stringify(key)}`);
  }
  const words = field.patchStrategy?.split(',') ?? [];
  const strategy = words.includes('merge') ? 'merge' : words.includes('replace') ? 'replace' : undefined;
  return { schema: field.schema, strategy, mergeKey: field.patchMergeKey };
}

function spend(state: Patching, members: number): void {
  state.left -= members;
  if (state.left < 0) {
    throw new StatusError(413, 'RequestEntityTooLarge', 'Request entity too large: the patch makes too much work');
  }
}
