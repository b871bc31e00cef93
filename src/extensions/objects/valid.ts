import { countCodePoints, isJsonObject, type Json, type JsonObject, jsonEqual } from '../../meta/index.ts';
import { countCheck } from './checks.ts';
import { type Enumeration, fits, isInt64, type Limit, type NumberRules, type ValueSchema } from './value-schema.ts';

/** Whether a value is valid. `explain` says why it is not: the two always agree. */
export function isValid(schema: ValueSchema, value: Json): boolean {
  // Most values are text without further rules.
  if (schema.accepts === typeof value) return true;
  countCheck();
  if (value === null) return (schema.nullable || schema.types.length === 0) && schema.enum === undefined;
  return (
    hasType(schema, value) &&
    isInLimits(schema, value) &&
    (schema.enum === undefined || isListed(schema.enum, value)) &&
    fulfils(schema, value)
  );
}

export type JsonType = 'null' | 'boolean' | 'string' | 'array' | 'object' | 'integer' | 'number';

/** The type of a value as schemas name it. */
export function typeOf(value: Json): JsonType {
  if (Array.isArray(value)) return 'array';
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'boolean':
      return 'boolean';
    case 'number':
    case 'bigint':
      return isInt64(value) ? 'integer' : 'number';
    default:
      return value === null ? 'null' : 'object';
  }
}

/** Whether a value that is not null has a type of the schema. A list passes for text in a format, as text does. */
export function hasType({ types, format }: ValueSchema, value: Json): boolean {
  if (types.length === 0 && format === '') return true;
  const type = typeOf(value);
  if (types.includes(type)) return true;
  const textual = types.length === 0 || types.includes('string');
  if (format !== '' && (type === 'string' || type === 'array')) return textual && !types.includes('integer');
  if (type === 'integer') return types.includes('number');
  return type === 'number' && types.includes('integer') && isNearInteger(Number(value));
}

/** Whether a double is an integer, up to a relative error of 1e-9. */
function isNearInteger(value: number): boolean {
  if (!Number.isFinite(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER) return false;
  const whole = Math.trunc(value);
  if (value === whole) return true;
  return whole !== 0 && Math.abs(value - whole) / (Math.abs(value) + Math.abs(whole)) < 1e-9;
}

function isInLimits(schema: ValueSchema, value: Json): boolean {
  switch (typeof value) {
    case 'string':
      return isTextValid(schema, value);
    case 'number':
    case 'bigint':
      return isNumberValid(schema.numbers, value);
    case 'boolean':
      return true;
    default:
      return Array.isArray(value) ? isListValid(schema, value) : !isJsonObject(value) || isObjectValid(schema, value);
  }
}

function isTextValid({ maxLength, minLength, pattern, formatted }: ValueSchema, text: string): boolean {
  if (maxLength !== undefined && text.length > maxLength && countCodePoints(text) > maxLength) return false;
  if (minLength !== undefined && countCodePoints(text) < minLength) return false;
  return (pattern === undefined || pattern.matches(text)) && (formatted === undefined || formatted(text));
}

/** A limit as it applies to a value: integers are compared with the integer part of it. */
export const limitFor = ({ value, fits }: Limit, integer: boolean): number =>
  integer && fits ? Math.trunc(value) : value;

function isNumberValid(rules: NumberRules, value: number | bigint): boolean {
  const { multipleOf, maximum, minimum } = rules;
  if (!fits(value, rules)) return false;
  if (multipleOf === undefined && maximum === undefined && minimum === undefined) return true;
  const integer = isInt64(value);
  return (
    (multipleOf === undefined || (multipleOf.fits && isMultiple(value, limitFor(multipleOf, integer), integer))) &&
    (maximum === undefined || (maximum.fits && !exceeds(value, maximum, rules.exclusiveMaximum))) &&
    (minimum === undefined || (minimum.fits && !undercuts(value, minimum, rules.exclusiveMinimum)))
  );
}

export function exceeds(value: number | bigint, limit: Limit, exclusive: boolean): boolean {
  const most = limitFor(limit, isInt64(value));
  return exclusive ? value >= most : value > most;
}

export function undercuts(value: number | bigint, limit: Limit, exclusive: boolean): boolean {
  const least = limitFor(limit, isInt64(value));
  return exclusive ? value <= least : value < least;
}

/** False for a factor that is not positive, such as the integer part of one below 1. */
export function isMultiple(value: number | bigint, factor: number, integer: boolean): boolean {
  if (factor <= 0) return false;
  if (integer && Number.isInteger(factor))
    return typeof value === 'bigint' ? value % BigInt(factor) === 0n : value % factor === 0;
  return isNearInteger(factor < 1 ? (1 / factor) * Number(value) : Number(value) / factor);
}

function isListValid({ items, maxItems, minItems, uniqueItems }: ValueSchema, list: readonly Json[]): boolean {
  if ((minItems !== undefined && list.length < minItems) || (maxItems !== undefined && list.length > maxItems))
    return false;
  if (items !== undefined) for (const item of list) if (!isValid(items, item)) return false;
  return !uniqueItems || list.length < 2 || !hasDuplicates(list);
}

export function hasDuplicates(list: readonly Json[]): boolean {
  const seen = new Set<unknown>();
  for (const item of list) {
    const identity = identityOf(item);
    if (seen.has(identity)) return true;
    seen.add(identity);
  }
  return false;
}

/** Equal for equal values only, whatever the order of keys. */
export function identityOf(value: Json): unknown {
  if (typeof value === 'string') return `"${value}`;
  return typeof value !== 'object' || value === null ? value : JSON.stringify(value, sortKeys);
}

function sortKeys(_: string, value: unknown): unknown {
  if (typeof value === 'bigint') return { integer: String(value) };
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return { members: Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)) };
}

function isObjectValid(schema: ValueSchema, object: JsonObject): boolean {
  const { properties, additional, required, minProperties, maxProperties } = schema;
  for (const name of required) if (!Object.hasOwn(object, name)) return false;
  let count = 0;
  for (const key in object) {
    count++;
    const member = properties.get(key) ?? additional;
    if (member !== undefined && !isValid(member, object[key] as Json)) return false;
  }
  return (
    (minProperties === undefined || count >= minProperties) && (maxProperties === undefined || count <= maxProperties)
  );
}

/** Null is in no enumeration. */
export const isListed = ({ scalars, others }: Enumeration, value: Json): boolean =>
  typeof value === 'object' ? others.some((listed) => jsonEqual(listed, value)) : scalars.has(value);

function fulfils({ allOf, anyOf, oneOf, not }: ValueSchema, value: Json): boolean {
  for (const schema of allOf) if (!isValid(schema, value)) return false;
  if (anyOf.length > 0 && !anyOf.some((schema) => isValid(schema, value))) return false;
  if (oneOf.length > 0 && oneOf.filter((schema) => isValid(schema, value)).length !== 1) return false;
  return not === undefined || !isValid(not, value);
}
