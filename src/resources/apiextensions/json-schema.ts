/** Accessors of the OpenAPI v3 schemas of custom resources. */
import type { FieldError, Json, Names } from '../../meta/index.ts';
import type { JSONSchemaProps, ValidationRule } from '../../types/apiextensions-v1.ts';

export type Schema = JSONSchemaProps;
export type Rule = (schema: Schema, path: string) => FieldError[];

/** The schema extensions, without the domain in their names. */
interface Extensions {
  readonly preserve?: boolean;
  readonly embedded?: boolean;
  readonly intOrString?: boolean;
  readonly mapKeys?: string[];
  readonly listType?: string;
  readonly mapType?: string;
  readonly validations?: ValidationRule[];
}

const suffixes = {
  preserve: 'preserve-unknown-fields',
  embedded: 'embedded-resource',
  intOrString: 'int-or-string',
  mapKeys: 'list-map-keys',
  listType: 'list-type',
  mapType: 'map-type',
  validations: 'validations',
} as const;

type ExtensionNames = { readonly [part in keyof typeof suffixes]: string };
const namesOf = new WeakMap<Names, ExtensionNames>();

function extensionNames(names: Names): ExtensionNames {
  let cached = namesOf.get(names);
  if (cached === undefined) {
    const all = Object.entries(suffixes).map(([part, suffix]) => [part, names.extension + suffix]);
    cached = Object.fromEntries(all) as ExtensionNames;
    namesOf.set(names, cached);
  }
  return cached;
}

export const extensionName = (part: keyof typeof suffixes, names: Names): string => extensionNames(names)[part];

/** Called for each schema of a definition several times. */
export function extensionsOf(schema: Schema, names: Names): Extensions {
  const fields = schema as { readonly [name: string]: unknown };
  const name = extensionNames(names);
  // The decoder has checked the type of each.
  return {
    preserve: fields[name.preserve],
    embedded: fields[name.embedded],
    intOrString: fields[name.intOrString],
    mapKeys: fields[name.mapKeys],
    listType: fields[name.listType],
    mapType: fields[name.mapType],
    validations: fields[name.validations],
  } as Extensions;
}

/** The schema of list items; undefined also when `items` is a list of schemas. */
export const itemsOf = ({ items }: Schema): Schema | undefined => (Array.isArray(items) ? undefined : items);

/** The schema of map values. */
export const valuesOf = ({ additionalProperties: values }: Schema): Schema | undefined =>
  typeof values === 'object' ? values : undefined;

/** The properties, one after the other: there may be tens of thousands. */
export function* propertiesOf({ properties = {} }: Schema): Generator<readonly [name: string, schema: Schema]> {
  for (const name of Object.keys(properties)) yield [name, properties[name] as Schema];
}

export function hasProperties({ properties = {} }: Schema): boolean {
  for (const _ in properties) return true;
  return false;
}

export const propertyOf = ({ properties = {} }: Schema, name: string): Schema | undefined =>
  Object.hasOwn(properties, name) ? properties[name] : undefined;

/** The schemas of `allOf`, `anyOf`, `oneOf` and `not`, with their paths. */
export function junctorsOf(schema: Schema, path: string): [schema: Schema, path: string][] {
  const lists = (['allOf', 'anyOf', 'oneOf'] as const).flatMap((junctor) =>
    (schema[junctor] ?? []).map((part, i): [Schema, string] => [part, `${path}.${junctor}[${i}]`]),
  );
  return schema.not === undefined ? lists : [...lists, [schema.not, `${path}.not`]];
}

export const isSet = (value: Json | undefined): boolean => value !== undefined && value !== null;
