import type { Budget } from '../../cel/index.ts';
import { type FieldError, fieldError, type Names } from '../../meta/index.ts';
import { budgetOfDefaults, validateDefaultByRules } from '../rules/index.ts';
import type { Structural } from '../structural.ts';
import { validateEmbedded } from './embedded.ts';
import { isTypeMember, normalFormOf, normalize } from './normal-form.ts';
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
  inMetadata = false,
): FieldError[] {
  const { items, properties, embeddedResource: embedded } = schema;
  const given = schema.default !== undefined && schema.default !== null;
  // In the metadata of an embedded resource, unknown fields are those that no resource has.
  const inOwn = inMetadata && !embedded;
  return [
    ...(given && !inOwn ? validateFields(schema, path, names) : []),
    ...(given ? validateDefault(schema, path, names, budget) : []),
    ...(items === undefined ? [] : validateDefaults(items, `${path}.items`, names, budget, inOwn)),
    ...[...properties].flatMap(([name, property]) => {
      const below = inOwn || (embedded && isTypeMember(name));
      return validateDefaults(property, `${path}.properties[${name}]`, names, budget, below);
    }),
  ];
}

function validateFields(schema: Structural, path: string, names: Names): FieldError[] {
  const { default: value = null } = schema;
  const walk = { names, dropped: false, lenient: true };
  normalize(normalFormOf({ ...schema, default: undefined }, names), value, walk);
  return walk.dropped ? [fieldError.invalid(`${path}.default`, value, 'must not have unknown fields')] : [];
}

function validateDefault(schema: Structural, path: string, names: Names, budget: Budget): FieldError[] {
  const { default: value = null } = schema;
  const at = `${path}.default`;
  const embedded = validateEmbedded(schema, value, names, at);
  if (embedded.length > 0) return embedded;
  const invalid = validateValue(valueSchemaOf(schema.schema, names), value, at);
  return invalid.length > 0 ? invalid : validateDefaultByRules(schema, at, budget);
}
