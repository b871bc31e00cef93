import {
  atOnce,
  getKey,
  isJsonObject,
  isLarge,
  type Json,
  type JsonObject,
  type Names,
  Pace,
  type Steps,
} from '../meta/index.ts';
import { Members } from './members.ts';
import { SharedSchemas } from './shared-schemas.ts';

/**
 * The structural schema of a custom type, read once from the `openAPIV3Schema` of a version. Everything that serves
 * custom objects (pruning, defaulting, validation, columns, field types of expressions, managed fields, OpenAPI) reads
 * this form.
 */
export interface Structural {
  /** Empty where the schema has none: int-or-string, preserve-unknown-fields. */
  readonly type: '' | 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
  readonly properties: Properties;
  readonly items: Structural | undefined;
  /** Undefined where absent or false. */
  readonly additionalProperties: Structural | true | undefined;
  readonly nullable: boolean;
  readonly default: Json | undefined;
  readonly preserveUnknownFields: boolean;
  readonly embeddedResource: boolean;
  readonly intOrString: boolean;
  readonly listType: 'atomic' | 'set' | 'map' | undefined;
  readonly listMapKeys: readonly string[];
  readonly mapType: 'atomic' | 'granular' | undefined;
  readonly rules: readonly Rule[];
  /** The keywords that occur in it at any depth: values are searched only for those. */
  readonly has: Occurrences;
  /** The schema as given: value validation (`minimum`, `pattern`, `allOf`…), descriptions. */
  readonly schema: JsonObject;
}

/** The schemas of properties by name, in the order of the definition. */
export type Properties = Pick<ReadonlyMap<string, Structural>, 'get' | 'size' | 'values'> &
  Iterable<readonly [name: string, property: Structural]>;

export interface Occurrences {
  /** Lists of type `set` or `map`. */
  readonly listTypes: boolean;
  readonly embedded: boolean;
  readonly rules: boolean;
  readonly defaults: boolean;
}

/** A validation rule of the expression language. */
export interface Rule {
  readonly rule: string;
  readonly message: string;
  readonly messageExpression: string;
  readonly reason: string | undefined;
  readonly fieldPath: string;
  readonly optionalOldSelf: boolean | undefined;
}

const none: readonly never[] = [];
const nothing: Occurrences = { listTypes: false, embedded: false, rules: false, defaults: false };
const noProperties: Properties = new Map();

/** A schema that allows nothing but what its fields say. */
export const emptyStructural: Structural = {
  type: '',
  properties: noProperties,
  items: undefined,
  additionalProperties: undefined,
  nullable: false,
  default: undefined,
  preserveUnknownFields: false,
  embeddedResource: false,
  intOrString: false,
  listType: undefined,
  listMapKeys: none,
  mapType: undefined,
  rules: none,
  has: nothing,
  schema: {},
};

/**
 * Reads the decoded `openAPIV3Schema` of a definition that has been validated; its properties when they are first asked
 * for. `preserves`: unknown fields are kept everywhere.
 */
export const structuralOf = (schema: JsonObject, names: Names, preserves = false): Structural =>
  sharedOf(schema, names, preserves, undefined);

/** `has`: what occurs in it, where that is known. */
function sharedOf(schema: JsonObject, names: Names, preserves: boolean, has: Occurrences | undefined): Structural {
  const context = `${names.extension}${preserves} `;
  return shared.of(schema, context, (own) => {
    const keyword = keywords(names);
    return read(own, names, preserves, has ?? atOnce(occurrencesIn(own, keyword, new Walk())));
  });
}

const shared = new SharedSchemas<Structural>();

/** The same in steps, where the schema is large: what occurs in it is found in steps. */
export function* structuralInSteps(schema: JsonObject, names: Names, preserves = false): Steps<Structural> {
  if (isLarge(schema)) yield* occurrencesIn(schema, keywords(names), new Walk());
  return structuralOf(schema, names, preserves);
}

/** The keywords of this product, with its domain. */
interface Keywords {
  readonly preserve: string;
  readonly embedded: string;
  readonly intOrString: string;
  readonly listType: string;
  readonly listMapKeys: string;
  readonly mapType: string;
  readonly rules: string;
  /** The keywords that occur in a schema, for schemas in which some do, and for large ones. */
  readonly occurrences: WeakMap<JsonObject, Occurrences>;
}

const keywordsOf = new WeakMap<Names, Keywords>();

/** Put together once: schemas have many fields. */
function keywords(names: Names): Keywords {
  let cached = keywordsOf.get(names);
  if (cached === undefined) {
    const { extension } = names;
    cached = {
      preserve: `${extension}preserve-unknown-fields`,
      embedded: `${extension}embedded-resource`,
      intOrString: `${extension}int-or-string`,
      listType: `${extension}list-type`,
      listMapKeys: `${extension}list-map-keys`,
      mapType: `${extension}map-type`,
      rules: `${extension}validations`,
      occurrences: new WeakMap(),
    };
    keywordsOf.set(names, cached);
  }
  return cached;
}

function read(schema: JsonObject, names: Names, preserves: boolean, has: Occurrences): Structural {
  const text = (key: string) => {
    const value = getKey(schema, key);
    return typeof value === 'string' ? value : '';
  };
  const flag = (key: string) => getKey(schema, key) === true;
  // Where nothing occurs, nothing does below.
  const hasBelow = has === nothing ? nothing : undefined;
  const below = (value: Json | undefined) =>
    isJsonObject(value) ? sharedOf(value, names, preserves, hasBelow) : undefined;
  const keyword = keywords(names);
  const keys = getKey(schema, keyword.listMapKeys);
  const rules = getKey(schema, keyword.rules);
  const properties = getKey(schema, 'properties');
  const values = getKey(schema, 'additionalProperties');
  // A literal of all fields: with a spread in it each object would get a hidden class of its own, of 500 bytes.
  return {
    type: text('type') as Structural['type'],
    properties: isJsonObject(properties) ? new Members(properties, below) : noProperties,
    items: below(getKey(schema, 'items')),
    additionalProperties: values === true ? true : below(values),
    nullable: flag('nullable'),
    default: getKey(schema, 'default'),
    preserveUnknownFields: preserves || flag(keyword.preserve),
    embeddedResource: flag(keyword.embedded),
    intOrString: flag(keyword.intOrString),
    listType: (text(keyword.listType) || undefined) as Structural['listType'],
    listMapKeys: Array.isArray(keys) ? (keys as string[]) : none,
    mapType: (text(keyword.mapType) || undefined) as Structural['mapType'],
    rules: Array.isArray(rules) ? rules.map((rule) => ruleOf(rule as JsonObject)) : none,
    has,
    schema,
  };
}

/** A search for occurrences. */
class Walk {
  readonly pace = new Pace();
  visited = 0;
}

/** From this number of schemas on, what has been found is remembered where nothing occurs, too. */
const manySchemas = 100;

/** Returns the keywords that occur in a schema, and remembers them for each schema in which some do. */
function* occurrencesIn(schema: JsonObject, keyword: Keywords, walk: Walk): Steps<Occurrences> {
  const known = keyword.occurrences.get(schema);
  if (known !== undefined) return known;
  if (walk.pace.over()) yield;
  const before = walk.visited++;
  const listType = getKey(schema, keyword.listType);
  const rules = getKey(schema, keyword.rules);
  let listTypes = listType === 'set' || listType === 'map';
  let embedded = getKey(schema, keyword.embedded) === true;
  let hasRules = Array.isArray(rules) && rules.length > 0;
  let defaults = (getKey(schema, 'default') ?? null) !== null;
  for (const below of schemasBelow(schema)) {
    const has = yield* occurrencesIn(below, keyword, walk);
    listTypes ||= has.listTypes;
    embedded ||= has.embedded;
    hasRules ||= has.rules;
    defaults ||= has.defaults;
  }
  const isAny = listTypes || embedded || hasRules || defaults;
  const found = isAny ? { listTypes, embedded, rules: hasRules, defaults } : nothing;
  if (isAny || walk.visited - before >= manySchemas) keyword.occurrences.set(schema, found);
  return found;
}

function* schemasBelow(schema: JsonObject): Iterable<JsonObject> {
  const properties = getKey(schema, 'properties');
  for (const key of isJsonObject(properties) ? Object.keys(properties) : none) {
    const property = (properties as JsonObject)[key] as Json;
    if (isJsonObject(property)) yield property;
  }
  for (const key of ['items', 'additionalProperties']) {
    const value = getKey(schema, key);
    if (isJsonObject(value)) yield value;
  }
}

function ruleOf(source: JsonObject): Rule {
  const text = (key: string) => {
    const value = getKey(source, key);
    return typeof value === 'string' ? value : '';
  };
  const optional = getKey(source, 'optionalOldSelf');
  return {
    rule: text('rule'),
    message: text('message'),
    messageExpression: text('messageExpression'),
    reason: text('reason') || undefined,
    fieldPath: text('fieldPath'),
    optionalOldSelf: typeof optional === 'boolean' ? optional : undefined,
  };
}
