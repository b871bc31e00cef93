/** Validation of the rules in the schemas of custom resources. */

import { expressionsOf, structuralInSteps, validateRules } from '../../extensions/index.ts';
import {
  type FieldError,
  fieldErrorsInSteps,
  type Json,
  type JsonObject,
  jsonEqualInSteps,
  type Names,
  Pace,
  type Steps,
} from '../../meta/index.ts';
import type { StrategyContext } from '../../registry/index.ts';
import type { ObjectOf } from '../../schema/index.ts';
import type { CustomResourceDefinition } from '../../types/apiextensions-v1.ts';
import { placesOf } from './custom-resource-definitions.validation.ts';
import { extensionsOf, itemsOf, propertiesOf, type Schema, valuesOf } from './json-schema.ts';
import { isNonStructural, validateStructural } from './structural-schema.validation.ts';

type Definition = ObjectOf<typeof CustomResourceDefinition>;

/**
 * Validates the rules of schemas that are valid themselves: `errors` are those of all other validation. On an update,
 * those of schemas that did not change remain as they are, and stored expressions may use what newer servers have
 * written them with.
 */
export function* validateSchemaRules(
  definition: Definition,
  old: Definition | undefined,
  ruleErrors: readonly FieldError[],
  { names, compatible }: Pick<StrategyContext, 'names' | 'compatible'>,
): Steps<FieldError[]> {
  const errors: FieldError[][] = [];
  let stored: Stored | undefined;
  const before = new Map((old?.spec?.versions ?? []).map(({ name, schema }) => [name, schema?.openAPIV3Schema]));
  for (const [version, at] of placesOf(definition.spec?.versions ?? [], 'schema')) {
    const schema = version.schema?.openAPIV3Schema;
    if (schema === undefined || !(yield* hasRules(schema, names))) continue;
    if (yield* jsonEqualInSteps(schema as Json, before.get(version.name) as Json | undefined)) continue;
    const path = `${at}.openAPIV3Schema`;
    if (yield* isNonStructural(schema)) continue;
    if ((yield* fieldErrorsInSteps(validateStructural(schema, path, names))).length > 0) continue;
    const invalid = ruleErrors.map(({ field }) => field).filter((field) => isWithin(field, path));
    if (invalid.some((field) => /\.(?:pattern|default(?:[.[].*)?)$/.test(field))) continue;
    const isInvalid = (within: string) => invalid.some((field) => isWithin(field, within));
    stored ??= yield* storedIn(before.values(), names);
    const validation = { names, isInvalid, stored, compatible };
    errors.push(yield* validateRules(yield* structuralInSteps(schema as JsonObject, names), path, validation));
  }
  return errors.flat();
}

interface Stored {
  readonly rules: Set<string>;
  readonly messages: Set<string>;
}

/** The expressions of stored schemas. */
function* storedIn(schemas: Iterable<Schema | undefined>, names: Names): Steps<Stored> {
  const stored = { rules: new Set<string>(), messages: new Set<string>() };
  for (const schema of schemas) {
    if (schema === undefined || !(yield* hasRules(schema, names))) continue;
    const { rules, messages } = expressionsOf(yield* structuralInSteps(schema as JsonObject, names));
    for (const rule of rules) stored.rules.add(rule);
    for (const message of messages) stored.messages.add(message);
  }
  return stored;
}

const isWithin = (field: string, path: string): boolean =>
  field.startsWith(path) && (field.length === path.length || '.['.includes(field.charAt(path.length)));

function* hasRules(schema: Schema, names: Names, pace = new Pace()): Steps<boolean> {
  if (pace.over()) yield;
  if ((extensionsOf(schema, names).validations ?? []).length > 0) return true;
  for (const [, property] of propertiesOf(schema)) if (yield* hasRules(property, names, pace)) return true;
  for (const part of [itemsOf(schema), valuesOf(schema)]) {
    if (part !== undefined && (yield* hasRules(part, names, pace))) return true;
  }
  return false;
}
