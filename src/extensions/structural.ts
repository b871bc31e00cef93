import { getKey, isJsonObject, isLarge, type Json, type JsonObject, type Names, type Steps } from '../meta/index.ts';
import { SharedSchemas } from './shared-schemas.ts';

/**
 * The structural schema of a custom type, read once from the `openAPIV3Schema` of a version. Everything that serves
 * custom objects (pruning, defaulting, validation, columns, field types of expressions, managed fields, OpenAPI) reads
 * this form.
 */
export interface Structural {
  /** Empty where the schema has none: int-or-string, preserve-unknown-fields. */
  readonly type: '' | 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
  readonly properties: ReadonlyMap<string, Structural>;
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
  /** What occurs in it at any depth: a value is not looked through for what its schema does not have. */
  readonly has: Occurrences;
  /** The schema as given: value validation (`minimum`, `pattern`, `allOf`…), descriptions. */
  readonly schema: JsonObject;
}

export interface Occurrences {
  /** Lists of type `set` or `map`. */
  readonly listTypes: boolean;
  readonly embedded: boolean;
  readonly rules: boolean;
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
const nothing: Occurrences = { listTypes: false, embedded: false, rules: false };
const noProperties: ReadonlyMap<string, Structural> = new Map();

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

/** The schemas below a schema. */
type Below = Pick<Structural, 'properties' | 'items' | 'additionalProperties'>;

/**
 * Reads the decoded `openAPIV3Schema` of a definition that has been validated. `preserves`: unknown fields are kept
 * everywhere, as with `preserveUnknownFields: true`.
 */
export function structuralOf(schema: JsonObject, names: Names, preserves = false): Structural {
  const context = `${names.extension}${preserves} `;
  return shared.of(schema, context, () => readStructural(schema, names, preserves));
}

const shared = new SharedSchemas<Structural>();

function readStructural(schema: JsonObject, names: Names, preserves: boolean): Structural {
  const below = (key: string) => {
    const value = getKey(schema, key);
    return isJsonObject(value) ? structuralOf(value, names, preserves) : undefined;
  };
  const properties = getKey(schema, 'properties');
  return read(schema, names, preserves, {
    properties: isJsonObject(properties)
      ? new Map(
          Object.entries(properties).map(([name, value]) => [
            name,
            structuralOf(value as JsonObject, names, preserves),
          ]),
        )
      : noProperties,
    items: below('items'),
    additionalProperties: getKey(schema, 'additionalProperties') === true ? true : below('additionalProperties'),
  });
}

/** The same in steps, where the schema is large. */
export function* structuralInSteps(schema: JsonObject, names: Names, preserves = false): Steps<Structural> {
  yield;
  if (!isLarge(schema)) return structuralOf(schema, names, preserves);
  function* below(key: string): Steps<Structural | undefined> {
    const value = getKey(schema, key);
    return isJsonObject(value) ? yield* structuralInSteps(value, names, preserves) : undefined;
  }
  const propertySchemas = getKey(schema, 'properties');
  const properties = new Map<string, Structural>();
  for (const name of isJsonObject(propertySchemas) ? Object.keys(propertySchemas) : none) {
    const property = (propertySchemas as JsonObject)[name] as JsonObject;
    properties.set(name, yield* structuralInSteps(property, names, preserves));
  }
  const items = yield* below('items');
  const values = getKey(schema, 'additionalProperties') === true ? true : yield* below('additionalProperties');
  return read(schema, names, preserves, { properties, items, additionalProperties: values });
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
    };
    keywordsOf.set(names, cached);
  }
  return cached;
}

function read(schema: JsonObject, names: Names, preserves: boolean, below: Below): Structural {
  const text = (key: string) => {
    const value = getKey(schema, key);
    return typeof value === 'string' ? value : '';
  };
  const flag = (key: string) => getKey(schema, key) === true;
  const keyword = keywords(names);
  const keys = getKey(schema, keyword.listMapKeys);
  const rules = getKey(schema, keyword.rules);
  const { properties, items, additionalProperties } = below;
  const ownRules = Array.isArray(rules) ? rules.map((rule) => ruleOf(rule as JsonObject)) : none;
  const embeddedResource = flag(keyword.embedded);
  const listType = (text(keyword.listType) || undefined) as Structural['listType'];
  // A literal of all fields: with a spread in it each object would get a hidden class of its own, of 500 bytes.
  return {
    type: text('type') as Structural['type'],
    properties,
    items,
    additionalProperties,
    nullable: flag('nullable'),
    default: getKey(schema, 'default'),
    preserveUnknownFields: preserves || flag(keyword.preserve),
    embeddedResource,
    intOrString: flag(keyword.intOrString),
    listType,
    listMapKeys: Array.isArray(keys) ? (keys as string[]) : none,
    mapType: (text(keyword.mapType) || undefined) as Structural['mapType'],
    rules: ownRules,
    has: occurrencesIn({ ...below, listType, embeddedResource, rules: ownRules }),
    schema,
  };
}

type Occurring = Below & Pick<Structural, 'listType' | 'embeddedResource' | 'rules'>;

function occurrencesIn(schema: Occurring): Occurrences {
  const { listType, embeddedResource, rules, properties, items, additionalProperties: values } = schema;
  let listTypes = listType === 'set' || listType === 'map';
  let embedded = embeddedResource;
  let hasRules = rules.length > 0;
  const add = ({ has }: Structural) => {
    listTypes ||= has.listTypes;
    embedded ||= has.embedded;
    hasRules ||= has.rules;
  };
  for (const property of properties.values()) add(property);
  if (items !== undefined) add(items);
  if (typeof values === 'object') add(values);
  return listTypes || embedded || hasRules ? { listTypes, embedded, rules: hasRules } : nothing;
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
