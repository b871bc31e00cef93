/**
 * The values of expressions.
 *
 * | type | value |
 * |---|---|
 * | null, bool, string | the same in JavaScript |
 * | int | `number` when it is a safe integer, else `bigint` |
 * | uint, double | `Uint`, `Double` |
 * | bytes | `Uint8Array` |
 * | timestamp, duration | `Timestamp`, `Duration` |
 * | list | `ListValue`, in place over a JSON array or over values |
 * | map | `MapValue`, in place over a JSON object or over entries |
 * | object | `ObjectValue`, in place over a JSON object through its type, or `ConstructedValue` |
 * | optional, type | `OptionalValue`, `TypeValue` |
 * | opaque | a subclass of `OpaqueValue` |
 */
import { getKey, type Json, type JsonObject, type Steps } from '../meta/index.ts';
import type { LiteralValue } from './ast.ts';
import { keysOf } from './evaluation-cache.ts';

/** Reads a JSON value as a value of a type, in place. @throws CelError for a value that is not of the type */
export type ReadJson = (json: Json) => Value;

export type Value =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | Uint
  | Double
  | Timestamp
  | Duration
  | ListValue
  | MapValue
  | ObjectValue
  | ConstructedValue
  | OptionalValue
  | TypeValue
  | OpaqueValue;

/** An error without a stack trace. An expression can fail many times within its budget, and a stack costs far more. */
class StacklessError extends Error {
  constructor(message: string) {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message);
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** A failure of an evaluation; `&&`, `||` and the macros over them may absorb it. */
export class CelError extends StacklessError {}

/** Ends an evaluation without being a failure of the expression: no operator or macro absorbs it. */
export abstract class Interruption extends StacklessError {}

/** The cost budget is exceeded. */
export class CostLimitError extends Interruption {}

export class Uint {
  readonly value: bigint;
  constructor(value: bigint) {
    this.value = value;
  }
}

export class Double {
  readonly value: number;
  constructor(value: number) {
    this.value = value;
  }
}

/** An instant: seconds since 1970 and nanoseconds of the second (0 to 999,999,999). */
export class Timestamp {
  readonly seconds: number;
  readonly nanos: number;
  /** The offset of the written time (seconds east of UTC), which is not part of its value. */
  readonly offset: number;
  constructor(seconds: number, nanos: number, offset = 0) {
    this.seconds = seconds;
    this.nanos = nanos;
    this.offset = offset;
  }
}

/** Nanoseconds, within 64 bits. */
export class Duration {
  readonly nanos: bigint;
  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

/** How many elements of a list are read in one step. */
const readPerStep = 1_000;

/** A list: JSON values that are read on access, or values. */
export class ListValue {
  #items: readonly unknown[];
  #read: ReadJson | undefined;

  /** Without `read`, the items are values. */
  constructor(items: readonly Value[]);
  constructor(items: readonly Json[], read: ReadJson);
  constructor(items: readonly unknown[], read?: ReadJson) {
    this.#items = items;
    this.#read = read;
  }

  get size(): number {
    return this.#items.length;
  }

  /** The element of an index within the size. @throws CelError for JSON of the wrong type */
  get(index: number): Value {
    const item = this.#items[index];
    return this.#read === undefined ? (item as Value) : this.#read(item as Json);
  }

  /** Reads all elements, so that later accesses do not have to. A list with an element of the wrong type remains unread. */
  *readAll(): Steps<void> {
    const read = this.#read;
    if (read === undefined || this.#items.length <= readPerStep) return;
    const values: Value[] = [];
    try {
      for (const item of this.#items) {
        if (values.push(read(item as Json)) % readPerStep === 0) yield;
      }
    } catch (thrown) {
      if (thrown instanceof CelError) return;
      throw thrown;
    }
    this.#items = values;
    this.#read = undefined;
  }
}

/** A map: a JSON object whose values are read on access ({@link JsonMapValue}), or entries ({@link EntriesValue}). */
export abstract class MapValue {
  abstract readonly size: number;
  /** Undefined: no such key. Numeric keys of different types are equal when their values are. */
  abstract get(key: Value): Value | undefined;
  abstract has(key: Value): boolean;
  abstract keys(): Iterable<Value>;
}

export class JsonMapValue extends MapValue {
  readonly #json: JsonObject;
  readonly #read: ReadJson;

  constructor(json: JsonObject, read: ReadJson) {
    super();
    this.#json = json;
    this.#read = read;
  }

  get size(): number {
    return keysOf(this.#json).length;
  }

  get(key: Value): Value | undefined {
    const json = typeof key === 'string' ? getKey(this.#json, key) : undefined;
    return json === undefined ? undefined : this.#read(json);
  }

  has(key: Value): boolean {
    return typeof key === 'string' && Object.hasOwn(this.#json, key);
  }

  keys(): Iterable<Value> {
    return keysOf(this.#json);
  }
}

/** A map of entries: keys are of the types bool, int, uint, string. */
export class EntriesValue extends MapValue {
  readonly #entries = new Map<boolean | number | bigint | string, { readonly key: Value; readonly value: Value }>();

  /** @throws CelError for a key that is of another type or repeated */
  constructor(entries: Iterable<readonly [key: Value, value: Value]>) {
    super();
    for (const [key, value] of entries) if (!this.add(key, value)) throw new CelError('Failed with repeated key');
  }

  /**
   * Adds an entry to a map under construction. Returns false when the map already has the key.
   * @throws CelError for a key of another type
   */
  add(key: Value, value: Value): boolean {
    const identity = keyOf(key);
    if (identity === undefined) throw new CelError('unsupported key type');
    if (this.#entries.has(identity)) return false;
    this.#entries.set(identity, { key, value });
    return true;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: Value): Value | undefined {
    const identity = keyOf(key);
    return identity === undefined ? undefined : this.#entries.get(identity)?.value;
  }

  has(key: Value): boolean {
    return this.get(key) !== undefined;
  }

  *keys(): Iterable<Value> {
    for (const { key } of this.#entries.values()) yield key;
  }
}

/** A value that equal keys share; undefined for a value that equals no key. Integers are normalized as ints are. */
function keyOf(key: Value): boolean | number | bigint | string | undefined {
  if (typeof key === 'string' || typeof key === 'boolean' || typeof key === 'number' || typeof key === 'bigint') {
    return key;
  }
  if (key instanceof Uint) return intOf(key.value);
  if (key instanceof Double && Number.isInteger(key.value)) return intOf(BigInt(key.value));
  return undefined;
}

/** The int of an exact integer: a `number` when it is safe. The caller checks that it has 64 bits. */
export function intOf(exact: bigint): number | bigint {
  return exact >= minSafe && exact <= maxSafe ? Number(exact) : exact;
}
const minSafe = BigInt(Number.MIN_SAFE_INTEGER);
const maxSafe = BigInt(Number.MAX_SAFE_INTEGER);

/** The value of a literal. */
export function literalValue(literal: LiteralValue): Value {
  switch (literal.type) {
    case 'null':
      return null;
    case 'int':
      return intOf(literal.value);
    case 'uint':
      return new Uint(literal.value);
    case 'double':
      return new Double(literal.value);
    default:
      return literal.value;
  }
}

/** The part of an object's type that values use. */
export interface DeclaredFields {
  readonly name: string;
  /** The field of an (unescaped) identifier; undefined: no such field. */
  readonly field: (identifier: string) => { readonly property: string; readonly read: ReadJson } | undefined;
  /** The identifiers of all fields. */
  readonly identifiers: () => Iterable<string>;
}

/** An object with declared fields, in place over JSON. */
export class ObjectValue {
  readonly type: DeclaredFields;
  readonly json: JsonObject;

  constructor(type: DeclaredFields, json: JsonObject) {
    this.type = type;
    this.json = json;
  }

  /**
   * The value of a field; undefined when it is absent, null or not declared.
   * @throws CelError for JSON of the wrong type
   */
  get(identifier: string): Value | undefined {
    const field = this.type.field(identifier);
    if (field === undefined) return undefined;
    const json = getKey(this.json, field.property);
    return json === undefined || json === null ? undefined : field.read(json);
  }

  has(identifier: string): boolean {
    const field = this.type.field(identifier);
    return field !== undefined && (getKey(this.json, field.property) ?? null) !== null;
  }
}

/** The part of a type that constructed values use. */
export interface LiteralFields {
  readonly name: string;
  readonly field: (identifier: string) => { readonly initial: Value | undefined } | undefined;
}

/** The object of a literal: `Name{field: value}`. */
export class ConstructedValue {
  readonly type: LiteralFields;
  readonly fields: ReadonlyMap<string, Value>;

  constructor(type: LiteralFields, fields: ReadonlyMap<string, Value>) {
    this.type = type;
    this.fields = fields;
  }

  /** The value of a field, or its initial value; undefined when it has none. */
  get(identifier: string): Value | undefined {
    return this.fields.get(identifier) ?? this.type.field(identifier)?.initial;
  }

  has(identifier: string): boolean {
    return this.fields.has(identifier);
  }
}

/** `optional.of(value)`, or `optional.none()`. */
export class OptionalValue {
  readonly value: Value | undefined;
  constructor(value: Value | undefined) {
    this.value = value;
  }
}

/** A type as a value: `int`, `list`, `net.IP`. */
export class TypeValue {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/** A value of a type that a library declares. */
export abstract class OpaqueValue {
  /** The name of its type, such as `net.IP`. */
  abstract readonly typeName: string;
  /** The cost of a comparison, as the length of a text that costs the same. */
  get size(): number {
    return 1;
  }

  /** Whether another value of the same type equals it. */
  abstract equals(other: OpaqueValue): boolean;
}
