import {
  getKey,
  isJsonObject,
  type Json,
  type JsonArray,
  type JsonObject,
  jsonType,
  type Names,
  StatusError,
  type Steps,
  setKey,
  statusError,
} from '../meta/index.ts';
import { anyValue, fieldsOf, type Resolved, resolve, type Schema, type StructSchema } from '../schema/index.ts';
import { arrange, checkOrder, mergeLists, removeScalars, unknownDirective } from './strategic-list.ts';
import { asList, failed, isMark, malformed, plain, plainList, plainMembers, readMarks } from './strategic-marks.ts';

/** How many members of lists and objects a patch may look at: so many for each one that it and the object hold, and more. */
const workPerMember = 2;
const freeWork = 1_000;

/** A patch under way, and how much more it may look at. */
interface Patching {
  readonly names: Names;
  left: number;
}

/** What the schema says of the value under a key. */
interface Place {
  readonly schema: Schema;
  readonly strategy: 'merge' | 'replace' | undefined;
  readonly mergeKey: string | undefined;
}

/**
 * The object after a strategic merge patch: like a JSON Merge Patch, but lists are merged as the fields of the schema
 * say, and directives of the patch (`$patch`, `$retainKeys`, `$setElementOrder/…`, `$deleteFromPrimitiveList/…`) tell
 * more. The object is one of the schema; the patch may hold anything, and fields that nothing declares are taken over.
 * No directive is left in what the patch brings in. Neither argument is changed; the result shares with both. In steps,
 * for the sake of large objects.
 * @throws StatusError 400 for directives that are not written as they must be, 413 when the patch makes too much work,
 *   422 for lists of lists, 500 for entries without their merge key, unknown directives and the like.
 */
export function* strategicMergePatch(object: Json, patch: Json, schema: StructSchema, names: Names): Steps<Json> {
  if (patch === null) return object;
  if (!isJsonObject(patch)) {
    throw statusError.badRequest(
      `json: cannot unmarshal ${jsonType(patch)} into Go value of type map[string]interface {}`,
    );
  }
  const left = freeWork + workPerMember * (sizeOf(object) + sizeOf(patch));
  yield;
  return mergeObjects({ names, left }, isJsonObject(object) ? object : {}, patch, schema);
}

/** How many members of lists and objects a value holds at all depths. */
function sizeOf(value: Json): number {
  if (typeof value !== 'object' || value === null) return 0;
  let size = 0;
  if (Array.isArray(value)) for (const entry of value) size += 1 + sizeOf(entry);
  else for (const key in value) size += 1 + sizeOf(value[key] as Json);
  return size;
}

function mergeObjects(run: Patching, before: JsonObject, patch: JsonObject, schema: Schema): JsonObject {
  const { directive, retain, orders, deletions } = readMarks(patch);
  if (directive === 'replace') return plainMembers(patch);
  if (directive === 'delete') return {};
  if (directive !== undefined && directive !== 'merge') throw unknownDirective(patch);
  const keys = Object.keys(patch);
  const out: JsonObject = {};
  const kept = retain === undefined ? Object.keys(before) : retainedKeys(before, patch, retain);
  for (const key of kept) setKey(out, key, before[key] as Json);
  spend(run, kept.length + keys.length);
  const shape = shapeOf(schema);
  for (const [name, order] of orders) {
    const list = mergeOrdered(run, getKey(out, name), getKey(patch, name), order, shape, name);
    if (list !== undefined) setKey(out, name, list);
  }
  const ordered = new Set(orders.map(([name]) => name));
  for (const key of keys) {
    if (isMark(key) || ordered.has(key)) continue;
    const change = patch[key] as Json;
    const known = getKey(out, key);
    const value = change === null ? undefined : mergeValues(run, known, change, shape, key);
    if (value === undefined) delete out[key];
    else if (value !== known) setKey(out, key, value);
  }
  for (const [name, removed] of deletions) {
    if (!Array.isArray(removed)) throw malformed('primitive list');
    const list = getKey(out, name);
    if (!Array.isArray(list)) continue;
    spend(run, list.length + removed.length);
    setKey(out, name, removeScalars(list, removed));
  }
  return out;
}

/** The keys that `$retainKeys` leaves of an object. The patch may speak of no other key, save to delete it. */
function retainedKeys(before: JsonObject, patch: JsonObject, retain: Json): string[] {
  if (!Array.isArray(retain)) throw malformed('retainKeys');
  const kept = new Set(retain);
  if (Object.keys(patch).some((key) => !isMark(key) && patch[key] !== null && !kept.has(key))) {
    throw malformed('retainKeys');
  }
  return Object.keys(before).filter((key) => kept.has(key));
}

/** What a value becomes; undefined when it goes. */
function mergeValues(
  run: Patching,
  before: Json | undefined,
  change: Json,
  parent: Resolved,
  key: string,
): Json | undefined {
  if (isJsonObject(before) && isJsonObject(change)) {
    const place = placeOf(run, parent, key);
    // Where the strategy replaces the whole, no directive has a say.
    return place.strategy === 'replace' ? plainMembers(change) : mergeObjects(run, before, change, place.schema);
  }
  if (Array.isArray(before) && Array.isArray(change)) {
    return mergeListsAt(run, before, change, placeOf(run, parent, key));
  }
  return plain(change);
}

function mergeListsAt(run: Patching, before: JsonArray, change: JsonArray, place: Place): JsonArray {
  if (place.strategy !== 'merge') return plainList(change);
  spend(run, before.length + change.length);
  const element = elementOf(place.schema);
  return mergeLists(before, change, place.mergeKey, (entry, patch) => mergeObjects(run, entry, patch, element));
}

/** A list after its patch, in the order of `$setElementOrder`; undefined when there is none before or after. */
function mergeOrdered(
  run: Patching,
  before: Json | undefined,
  change: Json | undefined,
  order: Json,
  parent: Resolved,
  name: string,
): JsonArray | undefined {
  const wanted = asList(order);
  const live = before === undefined || before === null ? undefined : asList(before);
  const changes = change === undefined ? undefined : asList(change);
  const place = placeOf(run, parent, name);
  const { type } = resolve(place.schema);
  if (type !== 'list' && type !== 'either' && type !== 'any') {
    throw failed(`expected slice or array type, but got: ${parent.type === 'map' ? 'map' : 'struct'}`);
  }
  spend(run, wanted.length + (live ?? []).length + (changes ?? []).length);
  checkOrder(changes ?? [], wanted, place.mergeKey);
  const merged = mergeBoth(run, live, changes, place);
  return merged === undefined ? undefined : arrange(merged, wanted, live ?? [], place.mergeKey);
}

function mergeBoth(run: Patching, before: JsonArray | undefined, change: JsonArray | undefined, place: Place) {
  if (change === undefined) return before;
  return before === undefined ? plainList(change) : mergeListsAt(run, before, change, place);
}

/** The schema that says what the members of an object are. */
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
function placeOf({ names }: Patching, parent: Resolved, key: string): Place {
  if (parent.type === 'map') return { schema: parent.value, strategy: undefined, mergeKey: undefined };
  if (parent.type !== 'struct') return { schema: anyValue, strategy: undefined, mergeKey: undefined };
  const field = fieldsOf(parent, names).get(key);
  if (field === undefined) {
    const type = parent.name.slice(parent.name.lastIndexOf('.') + 1);
    throw failed(`unable to find api field in struct ${type} for the json field ${JSON.stringify(key)}`);
  }
  const words = field.patchStrategy?.split(',') ?? [];
  const strategy = words.includes('merge') ? 'merge' : words.includes('replace') ? 'replace' : undefined;
  return { schema: field.schema, strategy, mergeKey: field.patchMergeKey };
}

function spend(run: Patching, members: number): void {
  run.left -= members;
  if (run.left < 0) {
    throw new StatusError(413, 'RequestEntityTooLarge', 'Request entity too large: the patch makes too much work');
  }
}
