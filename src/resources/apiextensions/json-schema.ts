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

export const extensionName = (part: keyof typeof suffixes, { extension }: Names): string =>
  `${extension}${suffixes[part]}`;

export function extensionsOf(schema: Schema, names: Names): Extensions {
  const fields = schema as { readonly [name: string]: unknown };
  const parts = Object.keys(suffixes) as (keyof typeof suffixes)[];
  // The decoder has checked the type of each.
  return Object.fromEntries(parts.map((part) => [part, fields[extensionName(part, names)]])) as Extensions;
}

/** The schema of list items; undefined also when `items` is a list of schemas. */
export const itemsOf = ({ items }: Schema): Schema | undefined => (Array.isArray(items) ? undefined : items);

/** The schema of map values. */
export const valuesOf = ({ additionalProperties: values }: Schema): Schema | undefined =>
  typeof values === 'object' ? values : undefined;

export const propertiesOf = ({ properties = {} }: Schema): [name: string, schema: Schema][] =>
  Object.entries(properties);

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
