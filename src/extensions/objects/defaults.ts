import type { Budget } from '../../cel/index.ts';
import { type FieldError, fieldError, type Names } from '../../meta/index.ts';
import { budgetOfDefaults, validateDefaultByRules } from '../rules/index.ts';
import type { Structural } from '../structural.ts';
import { validateEmbedded } from './embedded.ts';
import { normalFormOf, normalize } from './normal-form.ts';
import { validateValue } from './validate.ts';
import { valueSchemaOf } from './value-schema.ts';

/**
 * The errors of the defaults of a schema: each has the declared fields only, and is valid. `path` is that of the schema.
 */
export function validateDefaults(
  schema: Structural,
  path: string,
  names: Names,
  budget = budgetOfDefaults(),
): FieldError[] {
  const { items, properties } = schema;
  return [
    ...(schema.default === undefined || schema.default === null ? [] : validateDefault(schema, path, names, budget)),
    ...(items === undefined ? [] : validateDefaults(items, `${path}.items`, names, budget)),
    ...[...properties].flatMap(([name, property]) =>
      validateDefaults(property, `${path}.properties[${name}]`, names, budget),
    ),
  ];
}

function validateDefault(schema: Structural, path: string, names: Names, budget: Budget): FieldError[] {
  const { default: value = null } = schema;
  const at = `${path}.default`;
  const found: FieldError[] = [];
  const form = normalFormOf({ ...schema, default: undefined }, names);
  const walk = { names, dropped: false, lenient: true };
  normalize(form, value, walk);
  if (walk.dropped) found.push(fieldError.invalid(at, value, 'must not have unknown fields'));
  const embedded = validateEmbedded(schema, value, names, at);
  if (embedded.length > 0) return [...found, ...embedded];
  const invalid = validateValue(valueSchemaOf(schema.schema, names), value, at);
  return [...found, ...(invalid.length > 0 ? invalid : validateDefaultByRules(schema, at, budget))];
}
