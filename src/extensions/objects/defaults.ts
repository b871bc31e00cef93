import { type FieldError, fieldError, type Names } from '../../meta/index.ts';
import type { Structural } from '../structural.ts';
import { validateEmbedded } from './embedded.ts';
import { normalFormOf, normalize } from './normal-form.ts';
import { validateValue } from './validate.ts';
import { valueSchemaOf } from './value-schema.ts';

/**
 * The errors of the defaults of a schema: each has the declared fields only, and is valid. `path` is that of the schema.
 */
export function validateDefaults(schema: Structural, path: string, names: Names): FieldError[] {
  const { items, properties } = schema;
  return [
    ...(schema.default === undefined || schema.default === null ? [] : validateDefault(schema, path, names)),
    ...(items === undefined ? [] : validateDefaults(items, `${path}.items`, names)),
    ...[...properties].flatMap(([name, property]) => validateDefaults(property, `${path}.properties[${name}]`, names)),
  ];
}

function validateDefault(schema: Structural, path: string, names: Names): FieldError[] {
  const { default: value = null } = schema;
  const at = `${path}.default`;
  const found: FieldError[] = [];
  const form = normalFormOf({ ...schema, default: undefined }, names);
  const walk = { names, dropped: false, lenient: true };
  normalize(form, value, walk);
  if (walk.dropped) found.push(fieldError.invalid(at, value, 'must not have unknown fields'));
  const embedded = validateEmbedded(schema, value, names, at);
  return [
    ...found,
    ...(embedded.length > 0 ? embedded : validateValue(valueSchemaOf(schema.schema, names), value, at)),
  ];
}
