import {
  getKey,
  isJsonObject,
  isLarge,
  type Json,
  type JsonObject,
  jsonCopy,
  jsonEqual,
  type Names,
  StatusError,
  type Steps,
  setKey,
} from '../../meta/index.ts';
import { compile } from '../../schema/index.ts';
import { ObjectMeta } from '../../types/meta-v1.ts';
import { Members } from '../members.ts';
import type { Structural } from '../structural.ts';

/**
 * How values of a structural schema are brought to their normal form: unknown fields pruned, nulls that are neither
 * allowed nor defaulted removed, defaults set, metadata of embedded resources decoded.
 */
export interface NormalForm {
  readonly properties: Pick<ReadonlyMap<string, NormalForm>, 'get'>;
  /** Of the keys that are not declared. Undefined: they are pruned, or kept as they are. */
  readonly additional: NormalForm | undefined;
  /** Undefined: the items of a list are kept as they are. */
  readonly items: NormalForm | undefined;
  readonly keepsUnknown: boolean;
  /** An embedded resource: it has `apiVersion`, `kind` and `metadata`. */
  readonly embedded: boolean;
  readonly nullable: boolean;
  /** It has a type, which validation requires. */
  readonly typed: boolean;
  readonly default: Default | undefined;
  /** The properties that have a default. */
  readonly defaulted: readonly (readonly [name: string, value: Default])[];
  /** A small value may get large defaults, itself or below: it is normalized in steps. */
  readonly defaultsLargely: boolean;
}

/** A default in its normal form. */
export interface Default {
  /** Not to be shared with an object. */
  readonly value: Json;
  /** Of its JSON, with the name of the property (bytes). */
  readonly size: number;
}

/** The maximum size of the defaults that are set in one object (bytes): that of an object in the store. */
export const maxDefaulted = 2 * 1024 * 1024;
/** The maximum size of the defaults that are set in the defaults of one schema (bytes). */
export const maxDefaultedInSchema = 512 * 1024;

/** From this size on, defaults are set in steps (bytes). */
const largeDefaults = 8 * 1024;

/** The state of one normalization. */
export interface Walk {
  readonly names: Names;
  /** An unknown field was pruned. */
  dropped: boolean;
  /** Metadata of embedded resources that cannot be decoded is kept, as it is in objects that were stored. */
  readonly lenient: boolean;
  /** Values are pruned and get no defaults. */
  readonly prunesOnly?: boolean;
  /** Nulls that validation refuses remain, unless they have a default. */
  readonly keepsNulls?: boolean;
  /** The remaining size of further defaults (bytes). */
  room: number;
}

/** The defaults to set exceed the remaining budget of the walk. */
export class DefaultsTooLarge extends Error {}
const defaultsTooLarge = new DefaultsTooLarge('the defaults take too much');

/** A value that cannot be decoded. Carries no path or reason: `inspect` finds them. */
export class Malformed extends Error {}
export const malformed = new Malformed('an embedded resource cannot be decoded');

/** Values without a schema, where unknown fields are pruned: their objects have no fields. */
const withoutSchema: NormalForm = {
  properties: new Map(),
  additional: undefined,
  get items() {
    return withoutSchema;
  },
  keepsUnknown: false,
  embedded: false,
  nullable: true,
  typed: false,
  default: undefined,
  defaulted: [],
  defaultsLargely: false,
};

/** The forms of scalars: those that are not nullable, and those that are. */
const scalarForms = [false, true].map((nullable): NormalForm => ({ ...withoutSchema, nullable, typed: true })) as [
  NormalForm,
  NormalForm,
];

const isScalar = ({ type }: Structural): boolean => type !== '' && type !== 'object' && type !== 'array';

/**
 * Where unknown fields are kept although the schema of the value does not say so: `items` in the items of a list that
 * keeps them, `all` in the metadata of an embedded resource, which is decoded by its own type.
 */
type Keeps = 'declared' | 'items' | 'all';

export type ReadNormalForm = (schema: Structural, keeps?: Keeps) => NormalForm;

/**
 * Reads each normal form once, and those of properties when a value first has them, unless there are defaults. Defaults
 * that exceed the budget for nested defaults remain as declared.
 */
export function normalForms(names: Names): ReadNormalForm {
  const cache = { declared: new Map(), items: new Map(), all: new Map() } satisfies {
    [keeps in Keeps]: Map<Structural, NormalForm>;
  };
  const walk: Walk = { names, dropped: false, lenient: true, room: maxDefaultedInSchema };
  const read: ReadNormalForm = (schema, keeps = 'declared') => {
    let form: NormalForm | undefined = cache[keeps].get(schema);
    if (form === undefined) {
      form = withDefault(readForm(schema, keeps, read), schema.default, walk);
      cache[keeps].set(schema, form);
    }
    return form;
  };
  return read;
}

/** The normal form of a large schema, in steps: `read`, of {@link normalForms}, has read what is below a schema before it. */
export function* normalFormInSteps(schema: Structural, read: ReadNormalForm): Steps<NormalForm> {
  function* readFromBelow(schema: Structural, keeps: Keeps): Steps<NormalForm> {
    yield;
    if (!schema.has.defaults || !isLarge(schema.schema)) return read(schema, keeps);
    const { properties, additionalProperties: additional, items } = schema;
    const below = keepsBelow(schema, keeps);
    for (const [name, property] of properties) yield* readFromBelow(property, below.property(name));
    if (typeof additional === 'object') yield* readFromBelow(additional, below.values);
    if (items !== undefined) yield* readFromBelow(items, below.items);
    return read(schema, keeps);
  }
  return yield* readFromBelow(schema, 'declared');
}

/** Whether a schema keeps unknown fields, and where those below it do. */
function keepsBelow({ preserveUnknownFields, embeddedResource }: Structural, keeps: Keeps) {
  const keepsUnknown = preserveUnknownFields || keeps !== 'declared';
  const values: Keeps = keeps === 'all' ? 'all' : 'declared';
  const items: Keeps = keepsUnknown && values === 'declared' ? 'items' : values;
  const property = (name: string): Keeps => (embeddedResource && name === 'metadata' ? 'all' : values);
  return { keepsUnknown, values, items, property };
}

function readForm(schema: Structural, keeps: Keeps, read: ReadNormalForm): NormalForm {
  const { embeddedResource: embedded, additionalProperties: additional } = schema;
  const below = keepsBelow(schema, keeps);
  const { keepsUnknown } = below;
  if (isScalar(schema) && !keepsUnknown) return scalarForms[schema.nullable ? 1 : 0];
  const formOf = (name: string, property: Structural) => read(property, below.property(name));
  const values = additional === true ? withoutSchema : additional && read(additional, below.values);
  const items = schema.items ? read(schema.items, below.items) : keepsUnknown ? undefined : withoutSchema;
  const { properties, defaulted, defaultsLargely } = schema.has.defaults
    ? propertiesWithDefaults(schema, formOf, [values, items])
    : propertiesOnUse(schema, formOf);
  return {
    properties,
    additional: values,
    items,
    keepsUnknown,
    embedded,
    nullable: schema.nullable,
    typed: schema.type !== '' || schema.intOrString,
    default: undefined,
    defaulted,
    defaultsLargely,
  };
}

type FormOfProperty = (name: string, property: Structural) => NormalForm;
type Properties = Pick<NormalForm, 'properties' | 'defaulted' | 'defaultsLargely'>;

/** Without defaults at any depth: the form of a property is read when a value first has it. */
function propertiesOnUse({ schema, properties }: Structural, formOf: FormOfProperty): Properties {
  const { defaulted } = withoutSchema;
  const declared = getKey(schema, 'properties');
  if (!isJsonObject(declared)) return { properties: withoutSchema.properties, defaulted, defaultsLargely: false };
  const forms = new Members(declared, (_, name) => formOf(name, properties.get(name) as Structural));
  return { properties: forms, defaulted, defaultsLargely: false };
}

/** `others`: the forms of items and of further properties. */
function propertiesWithDefaults(
  schema: Structural,
  formOf: FormOfProperty,
  others: readonly (NormalForm | undefined)[],
): Properties {
  const properties = new Map<string, NormalForm>();
  for (const [name, property] of schema.properties) properties.set(name, formOf(name, property));
  const defaulted = defaultsOf(properties);
  const size = defaulted.reduce((sum, [, value]) => sum + value.size, 0);
  const isAnyLarge = [...others, ...properties.values()].some((form) => form?.defaultsLargely === true);
  return { properties, defaulted, defaultsLargely: size > largeDefaults || isAnyLarge };
}

function withDefault(form: NormalForm, defaultValue: Json | undefined, walk: Walk): NormalForm {
  if (defaultValue === undefined || defaultValue === null) return form;
  let value: Json = defaultValue;
  try {
    value = normalize(form, defaultValue, walk);
  } catch (error) {
    if (!(error instanceof DefaultsTooLarge)) throw error;
  }
  const size = jsonSize(value);
  const { properties, additional, items, keepsUnknown, embedded, nullable, typed, defaulted } = form;
  const defaultsLargely = form.defaultsLargely || size > largeDefaults;
  // A copy by a spread would take half as much again.
  const own = { value, size };
  const above = { embedded, nullable, typed, default: own };
  return { properties, additional, items, keepsUnknown, ...above, defaulted, defaultsLargely };
}

/** The size of the JSON of a value (bytes). */
function jsonSize(value: Json): number {
  if (typeof value === 'string') return Buffer.byteLength(JSON.stringify(value));
  if (typeof value !== 'object' || value === null) return String(value).length;
  let size = 2;
  if (Array.isArray(value)) for (const item of value) size += jsonSize(item) + 1;
  else for (const key in value) size += jsonSize(key) + jsonSize(value[key] as Json) + 2;
  return size;
}

function defaultsOf(properties: ReadonlyMap<string, NormalForm>): NormalForm['defaulted'] {
  const defaulted: (readonly [name: string, value: Default])[] = [];
  for (const [name, { default: value }] of properties) {
    if (value !== undefined) defaulted.push([name, { ...value, size: value.size + jsonSize(name) + 2 }]);
  }
  return defaulted.length === 0 ? withoutSchema.defaulted : defaulted;
}

/**
 * The normal form of a value: the value itself when nothing changes, otherwise a copy that shares what does not change.
 * @throws Malformed, DefaultsTooLarge
 */
export function normalize(form: NormalForm, value: Json, walk: Walk): Json {
  if (typeof value !== 'object' || value === null) return value;
  return Array.isArray(value) ? normalList(form, value, walk) : normalObject(form, value, walk);
}

function normalList({ items }: NormalForm, list: Json[], walk: Walk): Json[] {
  if (items === undefined) return list;
  let out: Json[] | undefined;
  for (let i = 0; i < list.length; i++) {
    const item = list[i] as Json;
    let normal = item;
    if (item === null) normal = items.nullable ? null : (defaultOf(items, walk) ?? null);
    else if (typeof item === 'object') normal = normalize(items, item, walk);
    if (normal !== item) out ??= list.slice(0, i);
    out?.push(normal);
  }
  return out ?? list;
}

function normalObject(form: NormalForm, object: JsonObject, walk: Walk): JsonObject {
  let out: JsonObject | undefined;
  for (const key in object) {
    const item = object[key] as Json;
    const normal = normalMember(form, key, item, walk);
    if (normal !== item) out ??= membersBefore(object, key);
    if (out !== undefined && normal !== undefined) setKey(out, key, normal);
  }
  for (const [name, value] of walk.prunesOnly === true ? [] : form.defaulted) {
    if (Object.hasOwn(object, name)) continue;
    out ??= { ...object };
    const isMetadata = form.embedded && name === 'metadata';
    setKey(out, name, isMetadata ? defaultedMetadata(fresh(value, walk), walk) : fresh(value, walk));
  }
  return out ?? object;
}

/** The normal form of a member; undefined when it is removed. */
export function normalMember(form: NormalForm, key: string, item: Json, walk: Walk): Json | undefined {
  const source = form.embedded ? typeMember(key, item, walk) : item;
  const member = memberForm(form, key);
  if (member === undefined) {
    if (form.keepsUnknown || (form.embedded && isTypeMember(key))) return source;
    walk.dropped = true;
    return undefined;
  }
  if (source === null) return member.nullable ? null : (defaultOf(member, walk) ?? nullWithoutDefault(member, walk));
  if (typeof source !== 'object') return source;
  const normal = normalize(member, source, walk);
  return normal !== source && form.embedded && key === 'metadata' ? defaultedMetadata(normal, walk) : normal;
}

/** The form of a member; undefined: the schema does not declare it. */
export const memberForm = (form: NormalForm, key: string): NormalForm | undefined =>
  form.properties.get(key) ?? (form.embedded && isTypeMember(key) ? undefined : form.additional);

/** The replacement of a null: null itself, where a default is only set later. */
function defaultOf({ default: value }: NormalForm, walk: Walk): Json | undefined {
  if (value === undefined) return undefined;
  return walk.prunesOnly === true ? null : fresh(value, walk);
}

/** What becomes of a null that is neither allowed nor defaulted; undefined: it is removed. */
export const nullWithoutDefault = ({ typed }: NormalForm, { keepsNulls }: Walk): null | undefined =>
  typed && keepsNulls === true ? null : undefined;

/** Whether it is a field of every resource, which no schema needs to declare. */
export const isTypeMember = (key: string): boolean => key === 'apiVersion' || key === 'kind' || key === 'metadata';

/** A member of an embedded resource, its metadata decoded. @throws Malformed */
function typeMember(key: string, item: Json, walk: Walk): Json {
  if (key === 'metadata') return embeddedMetadata(item, walk);
  if ((key === 'apiVersion' || key === 'kind') && typeof item !== 'string' && !walk.lenient) throw malformed;
  return item;
}

function embeddedMetadata(item: Json, walk: Walk): Json {
  try {
    const { value, unknown } = compile(ObjectMeta, walk.names).decode(item ?? {});
    if (unknown.length > 0 && !walk.lenient) walk.dropped = true;
    return jsonEqual(value, item) ? item : value;
  } catch (error) {
    if (walk.lenient) return item;
    throw error instanceof StatusError ? malformed : error;
  }
}

/** Metadata with defaults, which may have unknown fields: without those. */
const defaultedMetadata = (value: Json, walk: Walk): Json => embeddedMetadata(value, { ...walk, lenient: true });

/** A copy of the members before `end`. */
function membersBefore(object: JsonObject, end: string): JsonObject {
  const out: JsonObject = {};
  for (const key in object) {
    if (key === end) break;
    setKey(out, key, object[key] as Json);
  }
  return out;
}

/** A default as a value that an object may own. @throws DefaultsTooLarge */
export function fresh(defaultValue: Default, walk: Walk): Json {
  spend(defaultValue, walk);
  const { value } = defaultValue;
  return typeof value === 'object' ? jsonCopy(value) : value;
}

/** Counts a default that is set. @throws DefaultsTooLarge */
export function spend({ size }: Default, walk: Walk): void {
  walk.room -= size;
  if (walk.room < 0) throw defaultsTooLarge;
}
