/**
 * The conversion between an older version of a kind and its storage version, made from data so that it loses nothing.
 * What the other version has no field for is carried in an annotation (see `losses.ts`): in the stored object what the
 * storage version lacks, in the object of a request what the older version lacks.
 */
import {
  type ApiObject,
  expandNames,
  type FieldError,
  getKey,
  isLarge,
  type JsonObject,
  jsonCopyInSteps,
  type Names,
  type ObjectMeta,
  parseGroupVersion,
  StatusError,
  type Steps,
  statusError,
} from '../../meta/index.ts';
import { compile, type StructSchema } from '../../schema/index.ts';
import { type AnnotatedField, annotationsToFields, fieldsToAnnotations } from './annotated-fields.ts';
import { changeFields, type Direction, type FieldChange } from './fields.ts';
import { type Loss, lossesIn, readLosses, restoreLosses, writeLosses } from './losses.ts';

/** A version of a kind as a conversion sees it. */
export interface ConvertedVersion {
  /** `networking.{domain}/v1`. */
  readonly apiVersion: string;
  readonly schema: StructSchema;
}

export interface ConversionRules {
  readonly older: ConvertedVersion;
  readonly stored: ConvertedVersion;
  readonly changes: readonly FieldChange[];
  /** Sets those defaults of the older version that depend on other fields, in place; metadata is replaced, not changed. */
  readonly defaults?: (object: ApiObject, names: Names) => void;
  /** The errors of an object of the older version, with its defaults. */
  readonly check?: (object: ApiObject) => readonly FieldError[];
  /** Annotations that objects of the older version have where a condition holds for the stored object; never stored. */
  readonly marks?: readonly Mark[];
  /** Fields of the older version that are annotations of the stored object. */
  readonly annotated?: readonly AnnotatedField[];
}

export interface Mark {
  readonly annotation: string;
  readonly when: (stored: ApiObject) => boolean;
}

/** Copies an object into the other version, in steps for the sake of large objects. */
export type Convert = (object: ApiObject, names: Names) => Steps<ApiObject>;

/** @throws StatusError 422 for the errors of the check */
export function toStoredBy(rules: ConversionRules): Convert {
  return function* (object, names) {
    const defaulted: ApiObject = { ...object, ...(yield* jsonCopyInSteps(contentOf(object))) };
    rules.defaults?.(defaulted, names);
    const errors = rules.check?.(defaulted) ?? [];
    if (errors.length > 0)
      throw statusError.invalid(kindOf(rules.stored, object, names), object.metadata.name ?? '', errors);
    const marks = (rules.marks ?? []).map(({ annotation }) => expandNames(annotation, names));
    const stripped = withoutAnnotations(defaulted, marks);
    return yield* convert(rules, 'toStored', fieldsToAnnotations(stripped, rules.annotated ?? []), names);
  };
}

export function toOlderBy(rules: ConversionRules): Convert {
  return function* (object, names) {
    const converted = annotationsToFields(yield* convert(rules, 'toOlder', object, names), rules.annotated ?? []);
    const marks = (rules.marks ?? []).filter(({ when }) => when(object));
    return marks.reduce(
      (marked, { annotation }) => withAnnotation(marked, expandNames(annotation, names), ''),
      converted,
    );
  };
}

function* convert(rules: ConversionRules, direction: Direction, object: ApiObject, names: Names): Steps<ApiObject> {
  const [from, to] = direction === 'toStored' ? [rules.older, rules.stored] : [rules.stored, rules.older];
  const carrier = annotationOf(to, names);
  const text = object.metadata.annotations?.[carrier];
  const losses = text === undefined ? undefined : yield* readLosses(text);
  const source = contentOf(object);
  const plain = yield* convertContent(rules, direction, source, names);
  const content = losses === undefined ? plain : yield* restored(plain, losses, to.schema, names);

  const back = yield* convertContent(rules, direction === 'toStored' ? 'toOlder' : 'toStored', content, names);
  const lost = yield* lossesIn(back, source);
  const bare = withoutAnnotations(object, losses === undefined ? [] : [carrier]);
  const apiVersion = expandNames(to.apiVersion, names);
  const converted = { kind: object.kind, apiVersion, metadata: bare.metadata, ...content } as ApiObject;
  return lost.length === 0 ? converted : withAnnotation(converted, annotationOf(from, names), yield* writeLosses(lost));
}

/** The content of an object in the other version, as far as that has fields for it. */
function* convertContent(
  { older, stored, changes }: ConversionRules,
  direction: Direction,
  content: JsonObject,
  names: Names,
): Steps<JsonObject> {
  const changed = yield* jsonCopyInSteps(content);
  yield* changeFields(changed, changes, direction, names);
  return yield* decode(changed, (direction === 'toStored' ? stored : older).schema, names);
}

/** The content with what an annotation carries for it; unchanged where that does not fit the type. */
function* restored(
  content: JsonObject,
  losses: readonly Loss[],
  schema: StructSchema,
  names: Names,
): Steps<JsonObject> {
  try {
    return yield* decode(yield* restoreLosses(content, losses), schema, names);
  } catch (error) {
    if (error instanceof StatusError) return content;
    throw error;
  }
}

function kindOf({ apiVersion }: ConvertedVersion, { kind }: ApiObject, names: Names) {
  const { group = '' } = parseGroupVersion(expandNames(apiVersion, names)) ?? {};
  return { group, kind };
}

/** All fields but those that are the same in every version. */
function contentOf(object: JsonObject): JsonObject {
  const { kind: _, apiVersion: __, metadata: ___, ...content } = object;
  return content;
}

function* decode(content: JsonObject, schema: StructSchema, names: Names): Steps<JsonObject> {
  const type = compile(schema, names);
  const bare = contentOf(content);
  return contentOf((isLarge(bare) ? yield* type.decodeInSteps(bare) : type.decode(bare)).value);
}

/** The prefix of the annotations that carry losses. */
export const carrierPrefix = ({ domain }: Names): string => `conversion.${domain}/`;

/** The annotation for what only this version has: `conversion.<domain>/autoscaling.v2`. */
function annotationOf({ apiVersion }: ConvertedVersion, names: Names): string {
  const { group = '', version = '' } = parseGroupVersion(apiVersion) ?? {};
  return `${carrierPrefix(names)}${group.split('.')[0] || 'core'}.${version}`;
}

function withAnnotation(object: ApiObject, key: string, value: string): ApiObject {
  return withAnnotations(object, { ...object.metadata.annotations, [key]: value });
}

function withoutAnnotations(object: ApiObject, keys: readonly string[]): ApiObject {
  const { annotations = {} } = object.metadata;
  const present = keys.filter((key) => getKey(annotations, key) !== undefined);
  if (present.length === 0) return object;
  const rest = Object.fromEntries(Object.entries(annotations).filter(([key]) => !present.includes(key)));
  return withAnnotations(object, rest);
}

/** A copy with these annotations, in the order of their keys. */
function withAnnotations(object: ApiObject, annotations: { readonly [key: string]: string }): ApiObject {
  const entries = Object.entries(annotations).sort(([a], [b]) => (a < b ? -1 : 1));
  const { annotations: _, ...rest } = object.metadata;
  const metadata = entries.length === 0 ? rest : { ...rest, annotations: Object.fromEntries(entries) };
  return { ...object, metadata: metadata as ObjectMeta & JsonObject };
}
