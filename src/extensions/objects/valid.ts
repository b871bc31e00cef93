import {
  countCodePoints,
  identityInSteps,
  isJsonObject,
  type Json,
  type JsonObject,
  Pace,
  type Steps,
} from '../../meta/index.ts';
import type { Checks } from './checks.ts';
import {
  type Enumeration,
  fits,
  isInt64,
  type Limit,
  type NumberRules,
  type Pattern,
  type SchemaList,
  type ValueSchema,
} from './value-schema.ts';

/** Shorter texts match any pattern quickly. */
const shortText = 4;
/** Texts of this length and more are matched in steps. */
const longText = 4_096;

/** Whether a value is valid. `explain` says why it is not: the two always agree. */
export function* isValid(schema: ValueSchema, value: Json, checks: Checks): Steps<boolean> {
  const scalarResult = isScalarValid(schema, value, checks);
  if (scalarResult !== undefined) return scalarResult;
  checks.count();
  if (checks.due) yield;
  if (value === null && !isNullValid(schema)) return false;
  return (
    (value === null || (hasType(schema, value) && (yield* isInLimits(schema, value, checks)))) &&
    (schema.enum === undefined || (yield* isListed(schema.enum, value))) &&
    (value === null || (yield* fulfils(schema, value, checks)))
  );
}

/** The same for a value that is compared in no time; undefined for others. */
function isScalarValid(schema: ValueSchema, value: Json, checks: Checks): boolean | undefined {
  // Most values are text without further rules.
  if (schema.accepts === typeof value) return true;
  if (typeof value === 'object' || isCombined(schema)) return undefined;
  if (typeof value === 'string' && isLong(schema, value)) return undefined;
  checks.count();
  return (
    hasType(schema, value) &&
    isScalarInLimits(schema, value, checks) &&
    (schema.enum === undefined || schema.enum.scalars.has(value))
  );
}

const isNullValid = ({ nullable, types }: ValueSchema): boolean => nullable || types.length === 0;

const isCombined = ({ allOf, anyOf, oneOf, not }: ValueSchema): boolean =>
  not !== undefined || anyOf.length > 0 || oneOf.length > 0 || allOf.length > 0;

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

function isScalarInLimits(schema: ValueSchema, value: Json, checks: Checks): boolean {
  switch (typeof value) {
    case 'string': {
      const { pattern, formatted } = schema;
      if (pattern !== undefined || formatted !== undefined) checks.countText(value);
      return (
        hasLength(schema, value) &&
        (pattern === undefined || comparedAtOnce(pattern, value, checks)) &&
        hasFormat(schema, value)
      );
    }
    case 'number':
    case 'bigint':
      return isNumberValid(schema.numbers, value);
    default:
      return true;
  }
}

function* isInLimits(schema: ValueSchema, value: Json, checks: Checks): Steps<boolean> {
  if (Array.isArray(value)) return yield* isListValid(schema, value, checks);
  if (isJsonObject(value)) return yield* isObjectValid(schema, value, checks);
  if (typeof value !== 'string' || !isLong(schema, value)) return isScalarInLimits(schema, value, checks);
  if (!hasLength(schema, value)) return false;
  yield;
  return (yield* matches(schema, value, checks)) && hasFormat(schema, value);
}

/** Whether a text matches the pattern of a schema. */
export function* matches({ pattern }: ValueSchema, text: string, checks: Checks): Steps<boolean> {
  if (pattern === undefined) return true;
  checks.countText(text);
  if (!pattern.isLong(text)) return comparedAtOnce(pattern, text, checks);
  for (const steps = pattern.matchesInSteps(text); ; ) {
    const step = steps.next();
    if (step.done === true) return step.value;
    checks.countStep();
    yield;
  }
}

function comparedAtOnce(pattern: Pattern, text: string, checks: Checks): boolean {
  checks.countInstructions(text.length * pattern.size());
  return pattern.matches(text);
}

const isLong = ({ pattern }: ValueSchema, text: string): boolean =>
  text.length >= longText || (text.length >= shortText && pattern?.isLong(text) === true);

function hasLength({ maxLength, minLength }: ValueSchema, text: string): boolean {
  if (maxLength !== undefined && text.length > maxLength && countCodePoints(text) > maxLength) return false;
  return minLength === undefined || countCodePoints(text) >= minLength;
}

const hasFormat = ({ formatted }: ValueSchema, text: string): boolean => formatted === undefined || formatted(text);

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

function* isListValid(
  { items, maxItems, minItems, uniqueItems }: ValueSchema,
  list: readonly Json[],
  checks: Checks,
): Steps<boolean> {
  if ((minItems !== undefined && list.length < minItems) || (maxItems !== undefined && list.length > maxItems))
    return false;
  if (items !== undefined) {
    for (const item of list) {
      const valid = isScalarValid(items, item, checks) ?? (yield* isValid(items, item, checks));
      if (!valid) return false;
      if (checks.due) yield;
    }
  }
  return !uniqueItems || list.length < 2 || !(yield* hasDuplicates(list));
}

export function* hasDuplicates(list: readonly Json[]): Steps<boolean> {
  const pace = new Pace();
  const seen = new Set<unknown>();
  for (const item of list) {
    const before = seen.size;
    if (seen.add(yield* identityInSteps(item, pace)).size === before) return true;
  }
  return false;
}

function* isObjectValid(schema: ValueSchema, object: JsonObject, checks: Checks): Steps<boolean> {
  const { properties, additional, required, minProperties, maxProperties } = schema;
  for (const name of required) {
    checks.count();
    if (!Object.hasOwn(object, name)) return false;
  }
  let count = 0;
  for (const key in object) {
    count++;
    checks.count();
    const member = properties?.get(key) ?? additional;
    if (member === undefined) continue;
    const value = object[key] as Json;
    const valid = isScalarValid(member, value, checks) ?? (yield* isValid(member, value, checks));
    if (!valid) return false;
    if (checks.due) yield;
  }
  return (
    (minProperties === undefined || count >= minProperties) && (maxProperties === undefined || count <= maxProperties)
  );
}

/** Null is in no enumeration. */
export function* isListed({ scalars, identities }: Enumeration, value: Json): Steps<boolean> {
  if (typeof value !== 'object') return scalars.has(value);
  return value !== null && (yield* identities()).has(yield* identityInSteps(value));
}

function* fulfils({ allOf, anyOf, oneOf, not }: ValueSchema, value: Json, checks: Checks): Steps<boolean> {
  for (const schema of allOf) if (!(yield* isValid(schema, value, checks))) return false;
  if (anyOf.length > 0 && (yield* countValid(anyOf, value, checks, 1)) === 0) return false;
  if (oneOf.length > 0 && (yield* countValid(oneOf, value, checks, 2)) !== 1) return false;
  return not === undefined || !(yield* isValid(not, value, checks));
}

/** The number of schemas that the value satisfies, counted up to a maximum. */
function* countValid(schemas: SchemaList, value: Json, checks: Checks, most: number): Steps<number> {
  let count = 0;
  for (const schema of schemas) {
    const valid = isScalarValid(schema, value, checks) ?? (yield* isValid(schema, value, checks));
    if (checks.due) yield;
    if (valid && ++count === most) break;
  }
  return count;
}
