import { countCodePoints, isJsonObject, type Json, type JsonObject, quote, type Steps } from '../../meta/index.ts';
import type { Checks } from './checks.ts';
import type { Correlation } from './correlation.ts';
import { Outcome } from './schema-violations.ts';
import {
  exceeds,
  hasDuplicates,
  hasType,
  isListed,
  isMultiple,
  limitFor,
  matches,
  typeOf,
  undercuts,
} from './valid.ts';
import { fits, isInt64, type Limit, type NumberRules, type SchemaList, type ValueSchema } from './value-schema.ts';

/** A value to be explained. */
interface Explained {
  readonly value: Json;
  /** Empty at the top. */
  readonly path: string;
  /** Finds the old value: what is unchanged from it is valid. */
  readonly correlation: Correlation | undefined;
  readonly checks: Checks;
}

/** Why a value is not valid, in the words of the reference server. Slow: called for invalid values only. */
function* explain(schema: ValueSchema, explained: Explained): Steps<Outcome> {
  const { value, path, checks } = explained;
  checks.count();
  if (checks.due) yield;
  const outcome = new Outcome();
  const { types, format } = schema;
  if (value === null) {
    if (types.length > 0 && !schema.nullable) outcome.add(wrongType(path, types.join(','), 'null'));
    yield* explainEnum(schema, value, path, outcome);
    return outcome;
  }
  if (types.length > 0 || format !== '') {
    if (hasType(schema, value)) outcome.matches++;
    else outcome.add(typeViolation(schema, value, path));
    outcome.matches++;
  }
  yield* explainCombined(schema, explained, outcome);
  outcome.matches += 2;
  if (typeof value === 'string') yield* explainText(schema, value, explained, outcome);
  else if (typeof value === 'number' || typeof value === 'bigint') {
    explainNumber(schema.numbers, value, path, outcome);
    outcome.matches += 2;
  } else if (Array.isArray(value)) {
    yield* explainList(schema, value, explained, outcome);
    outcome.matches += 2;
  }
  yield* explainEnum(schema, value, path, outcome);
  outcome.matches++;
  if (isJsonObject(value)) {
    yield* explainObject(schema, value, explained, outcome);
    outcome.matches++;
  }
  outcome.matches++;
  return outcome;
}

/** Of a value that may be unchanged. */
function* explainCorrelated(schema: ValueSchema, explained: Explained): Steps<Outcome> {
  const outcome = yield* explain(schema, explained);
  const { correlation } = explained;
  if (!outcome.isValid && correlation !== undefined && (yield* correlation.isUnchanged())) outcome.forgive();
  return outcome;
}

/** Of the validated value itself, which may be unchanged. */
export const explainWhole = (
  schema: ValueSchema,
  value: Json,
  correlation: Correlation | undefined,
  checks: Checks,
): Steps<Outcome> => explainCorrelated(schema, { value, path: '', correlation, checks });

const wrongType = (path: string, expected: string, value: string) =>
  ({ kind: 'type', path, value, why: `${path} in body must be of type ${expected}: ${quote(value)}` }) as const;

/** For a number, boolean or object in place of text, the message names the format. */
function typeViolation({ types, format }: ValueSchema, value: Json, path: string) {
  const type = typeOf(value);
  if (format === '' || type === 'string' || type === 'array') return wrongType(path, types.join(','), type);
  return wrongType(path, format, type === 'integer' ? 'int64' : type === 'number' ? 'float64' : '');
}

function* explainEnum({ enum: values }: ValueSchema, value: Json, path: string, outcome: Outcome): Steps<void> {
  if (values === undefined || (yield* isListed(values, value))) return;
  outcome.add({ kind: 'notSupported', path, value, values: values.all });
}

/** At most one violation. */
function* explainText(schema: ValueSchema, text: string, { path, checks }: Explained, outcome: Outcome): Steps<void> {
  const { maxLength, minLength, pattern, format, formatted } = schema;
  const length = countCodePoints(text);
  const invalid = (why: string) => outcome.add({ kind: 'invalid', path, value: text, why: `${path} in body ${why}` });
  if (maxLength !== undefined && length > maxLength) outcome.add({ kind: 'tooLong', path, max: maxLength });
  else if (minLength !== undefined && length < minLength) invalid(`should be at least ${minLength} chars long`);
  else if (pattern !== undefined && !(yield* matches(schema, text, checks))) {
    const { source, error } = pattern;
    invalid(`should match '${error === '' ? source : `${source}, but pattern is invalid: ${error}`}'`);
  }
  outcome.matches++;
  if (formatted === undefined) return;
  if (!formatted(text)) outcome.add(wrongType(path, format, text));
  outcome.matches++;
}

function explainNumber(rules: NumberRules, value: number | bigint, path: string, outcome: Outcome): void {
  const { multipleOf, maximum, minimum } = rules;
  const integer = isInt64(value);
  const outOfRange = (what: string) => {
    const range = rules.format === '' ? '(default format)' : `with format ${rules.format}`;
    outcome.add({ kind: 'whole', why: `${what} value must be of type ${rules.type} ${range} in ${path}` });
  };
  const check = (limit: Limit | undefined, what: string, why: string | undefined) => {
    if (limit === undefined) return;
    if (!limit.fits) outOfRange(what);
    if (why !== undefined) outcome.add({ kind: 'invalid', path, value, why });
  };
  const bound = (limit: Limit) => formatNumber(limitFor(limit, integer));
  if (!fits(value, rules)) outOfRange('Checked');
  if (multipleOf !== undefined) {
    const factor = limitFor(multipleOf, integer);
    if (!multipleOf.fits) outOfRange('MultipleOf');
    if (factor <= 0) {
      const why = `factor MultipleOf declared for ${path} must be positive: ${formatNumber(factor)}`;
      outcome.add({ kind: 'invalid', path, value: factor, why });
    } else if (!isMultiple(value, factor, integer)) {
      const why = `${path} in body should be a multiple of ${formatNumber(factor)}`;
      outcome.add({ kind: 'invalid', path, value, why });
    }
  }
  const least = `${path} in body should be greater than ${rules.exclusiveMinimum ? '' : 'or equal to '}`;
  const most = `${path} in body should be less than ${rules.exclusiveMaximum ? '' : 'or equal to '}`;
  const under = minimum !== undefined && undercuts(value, minimum, rules.exclusiveMinimum);
  const over = maximum !== undefined && exceeds(value, maximum, rules.exclusiveMaximum);
  check(minimum, 'Minimum boundary', under ? least + bound(minimum) : undefined);
  check(maximum, 'Maximum boundary', over ? most + bound(maximum) : undefined);
}

/** A number as Go prints it: with an exponent below 0.0001 and from 1e+21. */
function formatNumber(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e-4 || size === 0) return String(value);
  return value.toExponential().replace(/e-([0-9])$/, 'e-0$1');
}

function* explainList(
  { items, minItems, maxItems, uniqueItems }: ValueSchema,
  list: readonly Json[],
  { path, correlation, checks }: Explained,
  outcome: Outcome,
): Steps<void> {
  if (items !== undefined) {
    for (let i = 0; i < list.length && !outcome.isFull; i++) {
      const item = { value: list[i] as Json, path: `${path}[${i}]`, correlation: correlation?.index(i), checks };
      outcome.merge(yield* explainCorrelated(items, item));
    }
  }
  const { length } = list;
  if (minItems !== undefined && length < minItems) {
    outcome.add({
      kind: 'invalid',
      path,
      value: length,
      why: `${path} in body should have at least ${minItems} items`,
    });
  }
  if (maxItems !== undefined && length > maxItems) {
    outcome.add({ kind: 'tooMany', path, actual: length, max: maxItems, of: 'items' });
  }
  if (uniqueItems && (yield* hasDuplicates(list))) {
    outcome.add({ kind: 'invalid', path, value: '', why: `${path} in body shouldn't contain duplicates` });
  }
}

function* explainObject(
  { properties, additional, required, minProperties, maxProperties }: ValueSchema,
  object: JsonObject,
  { path, correlation, checks }: Explained,
  outcome: Outcome,
): Steps<void> {
  const keys = Object.keys(object);
  const { length } = keys;
  if (minProperties !== undefined && length < minProperties) {
    const why = `${path} in body should have at least ${minProperties} properties`;
    outcome.add({ kind: 'invalid', path, value: length, why });
  }
  if (maxProperties !== undefined && length > maxProperties) {
    outcome.add({ kind: 'tooMany', path, actual: length, max: maxProperties, of: 'properties' });
  }
  function* check(schema: ValueSchema, key: string, at: string): Steps<void> {
    const reserved = path === '' && (key === 'kind' || key === 'apiVersion');
    const inner = reserved ? undefined : correlation?.key(key);
    const member = { value: object[key] as Json, path: at, correlation: inner, checks };
    outcome.merge(yield* explainCorrelated(schema, member));
  }
  // By the keys of the object: the schema may have many more.
  for (const key of additional === undefined ? [] : keys) {
    if (outcome.isFull) return;
    if (properties?.has(key) !== true) yield* check(additional as ValueSchema, key, `${path}.${key}`);
  }
  for (const key of keys) {
    if (outcome.isFull) return;
    const schema = properties?.get(key);
    if (schema !== undefined) yield* check(schema, key, path === '' ? key : `${path}.${key}`);
  }
  for (const name of required) {
    if (outcome.isFull) return;
    checks.count();
    if (checks.due) yield;
    if (!Object.hasOwn(object, name)) outcome.add({ kind: 'required', path: `${path}.${name}` });
  }
}

function* explainCombined(
  { allOf, anyOf, oneOf, not }: ValueSchema,
  explained: Explained,
  outcome: Outcome,
): Steps<void> {
  const whole = (why: string) => outcome.add({ kind: 'whole', why: `${quote(explained.path)} ${why}` });
  function* outcomesOf(schemas: SchemaList): Steps<Outcome[]> {
    const outcomes: Outcome[] = [];
    for (const schema of schemas) outcomes.push(yield* explain(schema, explained));
    return outcomes;
  }
  if (anyOf.length > 0) {
    const outcomes = yield* outcomesOf(anyOf);
    const valid = outcomes.find(({ isValid }) => isValid);
    if (valid === undefined) whole('must validate at least one schema (anyOf)');
    outcome.merge(valid ?? best(outcomes));
  }
  if (oneOf.length > 0) {
    const outcomes = yield* outcomesOf(oneOf);
    const valid = outcomes.filter(({ isValid }) => isValid);
    if (valid.length !== 1) {
      const summary = valid.length === 0 ? 'Found none valid' : `Found ${valid.length} valid alternatives`;
      whole(`must validate one and only one schema (oneOf). ${summary}`);
    }
    if (valid.length <= 1) outcome.merge(valid[0] ?? best(outcomes));
  }
  if (allOf.length > 0) {
    const outcomes = yield* outcomesOf(allOf);
    for (const one of outcomes) outcome.merge(one);
    const valid = outcomes.filter(({ isValid }) => isValid).length;
    if (valid !== outcomes.length) {
      whole(`must validate all the schemas (allOf)${valid === 0 ? '. None validated' : ''}`);
    }
  }
  if (not !== undefined && (yield* explain(not, explained)).isValid) whole('must not validate the schema (not)');
}

/** The outcome with most checks passed, the first of equals. */
function best(outcomes: readonly Outcome[]): Outcome {
  return outcomes.reduce((most, outcome) => (outcome.matches > most.matches ? outcome : most));
}
