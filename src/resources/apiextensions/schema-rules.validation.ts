/** Validation of the rules in the schemas of custom resources. */
import { expressionsOf, structuralInSteps, validateRules } from '../../extensions/index.ts';
import { type FieldError, fieldErrorsInSteps, type JsonObject, type Names, type Steps } from '../../meta/index.ts';
import type { CustomResourceDefinition } from '../../types/apiextensions-v1.ts';
import type { ObjectOf } from '../shared/define.ts';
import { same } from '../shared/field-rules.ts';
import { placesOf } from './custom-resource-definitions.validation.ts';
import { extensionsOf, itemsOf, type Schema, valuesOf } from './json-schema.ts';
import { isNonStructural, validateStructural } from './structural-schema.validation.ts';

type Definition = ObjectOf<typeof CustomResourceDefinition>;

/**
 * Validates the rules of schemas that are valid themselves: `found` are the errors of all other validation. On an update,
 * those of schemas that did not change remain as they are, and stored expressions may use what newer servers have
 * written them with.
 */
export function* validateSchemaRules(
  definition: Definition,
  old: Definition | undefined,
  found: readonly FieldError[],
  names: Names,
): Steps<FieldError[]> {
  const errors: FieldError[][] = [];
  const before = new Map((old?.spec?.versions ?? []).map(({ name, schema }) => [name, schema?.openAPIV3Schema]));
  for (const [version, at] of placesOf(definition.spec?.versions ?? [], 'schema')) {
    const schema = version.schema?.openAPIV3Schema;
    if (schema === undefined || !hasRules(schema, names) || same(schema, before.get(version.name))) continue;
    const path = `${at}.openAPIV3Schema`;
    if (isNonStructural(schema)) continue;
    if ((yield* fieldErrorsInSteps(validateStructural(schema, path, names))).length > 0) continue;
    const invalid = found.map(({ field }) => field).filter((field) => isWithin(field, path));
    if (invalid.some((field) => /\.(?:pattern|default(?:[.[].*)?)$/.test(field))) continue;
    const isInvalid = (within: string) => invalid.some((field) => isWithin(field, within));
    const validation = { names, isInvalid, stored: yield* storedIn(before.values(), names) };
    errors.push(yield* validateRules(yield* structuralInSteps(schema as JsonObject, names), path, validation));
  }
  return errors.flat();
}

interface StoredExpressions {
  readonly rules: Set<string>;
  readonly messages: Set<string>;
}

/** The expressions of stored schemas. */
function* storedIn(schemas: Iterable<Schema | undefined>, names: Names): Steps<StoredExpressions> {
  const stored = { rules: new Set<string>(), messages: new Set<string>() };
  for (const schema of schemas) {
    if (schema === undefined || !hasRules(schema, names)) continue;
    const { rules, messages } = expressionsOf(yield* structuralInSteps(schema as JsonObject, names));
    for (const rule of rules) stored.rules.add(rule);
    for (const message of messages) stored.messages.add(message);
  }
  return stored;
}

const isWithin = (field: string, path: string): boolean =>
  field.startsWith(path) && (field.length === path.length || '.['.includes(field.charAt(path.length)));

function hasRules(schema: Schema, names: Names): boolean {
  if ((extensionsOf(schema, names).validations ?? []).length > 0) return true;
  const { properties = {} } = schema;
  for (const name in properties) if (hasRules(properties[name] as Schema, names)) return true;
  return [itemsOf(schema), valuesOf(schema)].some((part) => part !== undefined && hasRules(part, names));
}
