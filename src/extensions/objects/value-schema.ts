import { CelError, compileRegex, type Regex } from '../../cel/index.ts';
import {
  getKey,
  identityInSteps,
  isJsonObject,
  type Json,
  type JsonObject,
  type Names,
  Pace,
  type Steps,
} from '../../meta/index.ts';
import { Members } from '../members.ts';
import { SharedSchemas } from '../shared-schemas.ts';
import { knownFormat, stringFormat } from './formats.ts';

/** A schema of an OpenAPI v3 document, read once for the validation of values. */
export interface ValueSchema {
  /** Empty: any type. Int-or-string has two. */
  readonly types: readonly string[];
  /** Every value of this JavaScript type is valid. */
  readonly accepts: 'string' | 'boolean' | undefined;
  readonly nullable: boolean;
  /** Empty when it is none that validation knows. */
  readonly format: string;
  readonly formatted: ((text: string) => boolean) | undefined;
  readonly enum: Enumeration | undefined;
  readonly numbers: NumberRules;
  readonly maxLength: number | undefined;
  readonly minLength: number | undefined;
  readonly pattern: Pattern | undefined;
  readonly maxItems: number | undefined;
  readonly minItems: number | undefined;
  readonly uniqueItems: boolean;
  readonly items: ValueSchema | undefined;
  readonly maxProperties: number | undefined;
  readonly minProperties: number | undefined;
  readonly required: readonly string[];
  readonly properties: Members<ValueSchema> | undefined;
  readonly additional: ValueSchema | undefined;
  readonly allOf: SchemaList;
  readonly anyOf: SchemaList;
  readonly oneOf: SchemaList;
  readonly not: ValueSchema | undefined;
}

/** Schemas that apply to the same value. */
export interface SchemaList extends Iterable<ValueSchema> {
  readonly length: number;
}

export interface Enumeration {
  readonly all: readonly Json[];
  readonly scalars: ReadonlySet<Json>;
  /** Of lists and objects, found by the first call. */
  readonly identities: () => Steps<ReadonlySet<unknown>>;
}

export interface Pattern {
  readonly source: string;
  /** The maximum number of instructions that a character is compared with. */
  readonly size: () => number;
  /** Whether a text must be matched in steps. */
  readonly isLong: (text: string) => boolean;
  readonly matches: (text: string) => boolean;
  readonly matchesInSteps: (text: string) => Steps<boolean>;
  /** Why the pattern is invalid; empty for a valid one. */
  readonly error: string;
}

export interface NumberRules {
  /** `integer` or `number`, empty where the schema has neither or two types. */
  readonly type: string;
  readonly format: string;
  readonly multipleOf: Limit | undefined;
  readonly maximum: Limit | undefined;
  readonly exclusiveMaximum: boolean;
  readonly minimum: Limit | undefined;
  readonly exclusiveMinimum: boolean;
}

/** A limit of a number, and whether it is itself in the range of the type. */
export interface Limit {
  readonly value: number;
  readonly fits: boolean;
}

// Shared: most of a schema is fields without any of these.
const none: readonly never[] = [];
const noNumberRules: NumberRules = {
  type: '',
  format: '',
  multipleOf: undefined,
  maximum: undefined,
  exclusiveMaximum: false,
  minimum: undefined,
  exclusiveMinimum: false,
};
const intOrString: readonly string[] = ['integer', 'string'];
const singleTypes: { readonly [type: string]: readonly string[] } = Object.fromEntries(
  ['array', 'boolean', 'integer', 'number', 'object', 'string'].map((type) => [type, [type]]),
);

const shared = new SharedSchemas<ValueSchema>();

/**
 * Reads the decoded `openAPIV3Schema` of a definition that has been validated. Its properties, and the schemas of `allOf`,
 * `anyOf` and `oneOf`, are read when a value is first compared with them.
 */
export const valueSchemaOf = (schema: JsonObject, names: Names): ValueSchema =>
  plainSchema(schema) ?? shared.of(schema, names.extension, (own) => readKeywords(own, names), notRead);

function readKeywords(schema: JsonObject, names: Names): ValueSchema {
  const get = (key: string) => getKey(schema, key);
  const number = (key: string) =>
    typeof get(key) === 'number' || typeof get(key) === 'bigint' ? Number(get(key)) : undefined;
  const below = (key: string) => asSchema(get(key), names);
  const listAt = (key: string): SchemaList => {
    const list = listOf(get(key));
    return list.length === 0 ? none : new LazySchemaList(list, names);
  };
  const properties = get('properties');
  const type = get('type');
  const types =
    get(`${names.extension}int-or-string`) === true
      ? intOrString
      : typeof type === 'string' && type !== ''
        ? (singleTypes[type] ?? [type])
        : none;
  const formatName = get('format');
  const format = typeof formatName === 'string' ? knownFormat(formatName, types) : '';
  const values = listOf(get('enum'));
  return {
    types,
    accepts: undefined,
    nullable: get('nullable') === true,
    format,
    formatted: format === '' ? undefined : stringFormat(format),
    enum: values.length === 0 ? undefined : enumerationOf(values),
    numbers: numberRules(schema, types, format),
    maxLength: number('maxLength'),
    minLength: number('minLength'),
    pattern: patternOf(get('pattern')),
    maxItems: number('maxItems'),
    minItems: number('minItems'),
    uniqueItems: get('uniqueItems') === true,
    items: below('items'),
    maxProperties: number('maxProperties'),
    minProperties: number('minProperties'),
    required: nonEmpty([...new Set(listOf(get('required')).filter((name) => typeof name === 'string'))]),
    properties: isJsonObject(properties) ? new Members(properties, (member) => asSchema(member, names)) : undefined,
    additional: below('additionalProperties'),
    allOf: listAt('allOf'),
    anyOf: listAt('anyOf'),
    oneOf: listAt('oneOf'),
    not: below('not'),
  };
}

const asSchema = (value: Json | undefined, names: Names): ValueSchema | undefined =>
  isJsonObject(value) ? valueSchemaOf(value, names) : undefined;

/** Each is read when the first value is compared with it. */
class LazySchemaList implements SchemaList {
  readonly #source: readonly Json[];
  readonly #names: Names;
  readonly #read: ValueSchema[] = [];

  constructor(source: readonly Json[], names: Names) {
    this.#source = source;
    this.#names = names;
  }

  get length(): number {
    return this.#source.length;
  }

  *[Symbol.iterator](): Iterator<ValueSchema> {
    for (const [i, schema] of this.#source.entries()) {
      this.#read[i] ??= valueSchemaOf(schema as JsonObject, this.#names);
      yield this.#read[i];
    }
  }
}

/** Keywords that are not read. */
const notRead: ReadonlySet<string> = new Set(['description', 'title', 'default', 'example', 'externalDocs']);
/** Keywords that do not validate the value itself. */
const neutral: ReadonlySet<string> = new Set([...notRead, 'type', 'nullable']);

function plain(accepts: 'string' | 'boolean', nullable: boolean): ValueSchema {
  return {
    types: [accepts],
    accepts,
    nullable,
    format: '',
    formatted: undefined,
    enum: undefined,
    numbers: noNumberRules,
    maxLength: undefined,
    minLength: undefined,
    pattern: undefined,
    maxItems: undefined,
    minItems: undefined,
    uniqueItems: false,
    items: undefined,
    maxProperties: undefined,
    minProperties: undefined,
    required: none,
    properties: undefined,
    additional: undefined,
    allOf: none,
    anyOf: none,
    oneOf: none,
    not: undefined,
  };
}
const plainText = plain('string', false);
const plainBoolean = plain('boolean', false);
const nullableText = plain('string', true);
const nullableBoolean = plain('boolean', true);

/** Text or a boolean without further rules, as most properties are: they share their schema. */
function plainSchema(schema: JsonObject): ValueSchema | undefined {
  const { type, nullable } = schema;
  if (type !== 'string' && type !== 'boolean') return undefined;
  for (const key in schema) if (!neutral.has(key)) return undefined;
  if (nullable === true) return type === 'string' ? nullableText : nullableBoolean;
  return type === 'string' ? plainText : plainBoolean;
}

/** The list, in no more memory than it needs: the results of `filter` and `flatMap` have room for 17 items. */
const nonEmpty = <T>(list: readonly T[]): readonly T[] => (list.length === 0 ? none : list.slice());

const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : none);

function enumerationOf(all: readonly Json[]): Enumeration {
  let allowedValues: Set<unknown> | undefined;
  return {
    all,
    scalars: new Set(all.filter((value) => typeof value !== 'object')),
    *identities() {
      if (allowedValues !== undefined) return allowedValues;
      const pace = new Pace();
      const values = new Set<unknown>();
      for (const value of all) {
        if (typeof value === 'object' && value !== null) values.add(yield* identityInSteps(value, pace));
      }
      allowedValues = values;
      return allowedValues;
    },
  };
}

/** An invalid pattern matches nothing. Compiled patterns are kept by the expression language, within its limits. */
function patternOf(source: Json | undefined): Pattern | undefined {
  if (typeof source !== 'string' || source === '') return undefined;
  let compileError: string | undefined;
  const compiled = (): Regex | undefined => {
    if (compileError !== undefined && compileError !== '') return undefined;
    try {
      const regex = compileRegex(source);
      compileError = '';
      return regex;
    } catch (error) {
      compileError = failureOf(error);
      return undefined;
    }
  };
  return {
    source,
    size: () => compiled()?.programSize ?? 0,
    isLong: (text) => compiled()?.isShort(text) === false,
    matches: (text) => {
      try {
        return compiled()?.test(text) === true;
      } catch (error) {
        failureOf(error);
        return false;
      }
    },
    *matchesInSteps(text) {
      try {
        const regex = compiled();
        return regex !== undefined && (yield* regex.testInSteps(text));
      } catch (error) {
        failureOf(error);
        return false;
      }
    },
    get error() {
      compiled();
      return compileError ?? '';
    },
  };
}

/** Why a pattern cannot be used. Throws what else was thrown. */
function failureOf(error: unknown): string {
  if (error instanceof CelError) return error.message;
  throw error;
}

const numberKeywords = ['multipleOf', 'maximum', 'exclusiveMaximum', 'minimum', 'exclusiveMinimum'];

function numberRules(schema: JsonObject, types: readonly string[], format: string): NumberRules {
  const numeric = types.includes('integer') || types.includes('number');
  if (!numeric && numberKeywords.every((key) => getKey(schema, key) === undefined)) return noNumberRules;
  const only = types.length === 1 ? types[0] : undefined;
  const type = only === 'integer' || only === 'number' ? only : '';
  const rules = { type, format: type === '' ? '' : format };
  const limit = (key: string): Limit | undefined => {
    const keyword = getKey(schema, key);
    if (typeof keyword !== 'number' && typeof keyword !== 'bigint') return undefined;
    const value = Number(keyword);
    return { value, fits: fits(value, rules) };
  };
  return {
    type,
    format: rules.format,
    multipleOf: limit('multipleOf'),
    maximum: limit('maximum'),
    exclusiveMaximum: getKey(schema, 'exclusiveMaximum') === true,
    minimum: limit('minimum'),
    exclusiveMinimum: getKey(schema, 'exclusiveMinimum') === true,
  };
}

const MAX_INT64 = 2n ** 63n - 1n;
const MAX_FLOAT32 = 3.4028234663852886e38;

/** Whether a number is a 64-bit integer. */
export const isInt64 = (value: number | bigint): boolean =>
  typeof value === 'bigint'
    ? value <= MAX_INT64 && value >= -MAX_INT64 - 1n
    : Number.isInteger(value) && Math.abs(value) < 2 ** 63;

/** Whether a number is in the range of a type and format. */
export function fits(value: number | bigint, { type, format }: Pick<NumberRules, 'type' | 'format'>): boolean {
  if (type === 'integer') return format === 'int32' ? Number(value) === (Number(value) | 0) : isInt64(value);
  return format !== 'float' || Math.abs(Number(value)) <= MAX_FLOAT32;
}
