/**
 * Lists whose order does not matter for equality, and which `+` merges: lists of the list types set and map.
 * An operation follows the type of its left operand.
 */
import type { Json, Steps } from '../../meta/index.ts';
import { checkListSize } from '../result-limits.ts';
import {
  CelError,
  Double,
  Duration,
  intOf,
  ListValue,
  MapValue,
  ObjectValue,
  type ReadJson,
  Timestamp,
  Uint,
  type Value,
} from '../values.ts';

/** A list of the list type set: its elements are scalars. `+` appends the elements that it lacks. */
export class SetListValue extends ListValue {}

/** A list of the list type map: `+` replaces the elements of equal keys in place, and appends the others. */
export class MapListValue extends ListValue {
  /** The identifiers of the fields that are the key of an element. */
  readonly keyFields: readonly string[];

  constructor(keyFields: readonly string[], items: readonly Value[]);
  constructor(keyFields: readonly string[], items: readonly Json[], read: ReadJson);
  constructor(keyFields: readonly string[], items: readonly unknown[], read?: ReadJson) {
    if (read === undefined) super(items as readonly Value[]);
    else super(items as readonly Json[], read);
    this.keyFields = keyFields;
  }
}

/** The result of `left + right` for lists. @throws CelError for elements of a set that are not scalars */
export function* concatenate(left: ListValue, right: ListValue): Steps<ListValue> {
  if (left instanceof SetListValue) return new SetListValue(yield* merge(left, right, scalarKey, false));
  if (left instanceof MapListValue) {
    const { keyFields } = left;
    return new MapListValue(keyFields, yield* merge(left, right, elementKeyOf(keyFields), true));
  }
  const size = left.size + right.size;
  checkListSize(size);
  if (size > MAX_COPIED) return new ConcatenatedList(left, right);
  return new ListValue([...elementsOf(left), ...elementsOf(right)]);
}

/** The cost of `left + right` for lists: merged lists are read. */
export function concatenationCost(left: ListValue, right: ListValue): number {
  return keyOfElements(left) === undefined ? 1 : Math.max(1, Math.ceil((left.size + right.size) * 0.1));
}

/** Lists of more elements are not copied: the operator costs 1, whatever their size. */
const MAX_COPIED = 64;

class ConcatenatedList extends ListValue {
  readonly #left: ListValue;
  readonly #right: ListValue;
  readonly #size: number;
  #elements: readonly Value[] | undefined;

  constructor(left: ListValue, right: ListValue) {
    super([]);
    this.#left = left;
    this.#right = right;
    this.#size = left.size + right.size;
  }

  override get size(): number {
    return this.#size;
  }

  override get(index: number): Value {
    if (this.#elements !== undefined) return this.#elements[index] as Value;
    const { size } = this.#left;
    return index < size ? this.#left.get(index) : this.#right.get(index - size);
  }

  override *readAll(): Steps<void> {
    if (this.#elements !== undefined) return;
    const elements: Value[] = [];
    const parts: ListValue[] = [this];
    for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
      if (part instanceof ConcatenatedList && part.#elements === undefined) parts.push(part.#right, part.#left);
      else if (!(yield* readInto(elements, part))) return;
    }
    this.#elements = elements;
  }
}

/** Reads the elements of a list. Returns false for an element of the wrong type. */
function* readInto(elements: Value[], list: ListValue): Steps<boolean> {
  try {
    for (let i = 0; i < list.size; i++) if (elements.push(list.get(i)) % readPerStep === 0) yield;
    return true;
  } catch (thrown) {
    if (thrown instanceof CelError) return false;
    throw thrown;
  }
}

/** The key of each element of an associative list; undefined for other lists. */
export function keyOfElements(list: ListValue): ((element: Value) => string) | undefined {
  if (list instanceof SetListValue) return scalarKey;
  return list instanceof MapListValue ? elementKeyOf(list.keyFields) : undefined;
}

/** How many elements of a concatenated list are read in one step. */
const readPerStep = 1_000;
/** How many elements are merged in one step. */
const mergedPerStep = 500;

function* merge(
  left: ListValue,
  right: ListValue,
  keyOf: (element: Value) => string,
  replace: boolean,
): Steps<Value[]> {
  const merged: Value[] = [];
  const indexes = new Map<string, number>();
  for (let i = 0; i < left.size; i++) {
    const element = left.get(i);
    indexes.set(keyOf(element), merged.push(element) - 1);
    if (i % mergedPerStep === mergedPerStep - 1) yield;
  }
  for (let i = 0; i < right.size; i++) {
    const element = right.get(i);
    const key = keyOf(element);
    const index = indexes.get(key);
    if (index === undefined) indexes.set(key, merged.push(element) - 1);
    else if (replace) merged[index] = element;
    if (i % mergedPerStep === mergedPerStep - 1) yield;
  }
  return merged;
}

function elementsOf(list: ListValue): Value[] {
  return Array.from({ length: list.size }, (_, i) => list.get(i));
}

function elementKeyOf(fields: readonly string[]): (element: Value) => string {
  const [only] = fields;
  if (only !== undefined && fields.length === 1) return (element) => scalarKey(fieldOf(element, only) ?? null);
  return (element) => JSON.stringify(fields.map((field) => scalarKey(fieldOf(element, field) ?? null)));
}

function fieldOf(element: Value, field: string): Value | undefined {
  if (element instanceof ObjectValue || element instanceof MapValue) return element.get(field);
  throw new CelError('unexpected element of a list of the type map: expected an object');
}

/** Equal for equal scalars of the same type only. */
function scalarKey(value: Value): string {
  if (value === null || typeof value === 'boolean') return `${value}`;
  if (typeof value === 'string') return `s${value}`;
  if (typeof value === 'number' || typeof value === 'bigint') return `i${value}`;
  if (value instanceof Uint) return `u${intOf(value.value)}`;
  if (value instanceof Double) return `d${value.value}`;
  if (value instanceof Timestamp) return `t${value.seconds}.${value.nanos}`;
  if (value instanceof Duration) return `n${value.nanos}`;
  if (value instanceof Uint8Array) return `b${value.join()}`;
  throw new CelError('listSet operations are only supported on lists of scalar values');
}
