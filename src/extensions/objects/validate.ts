import type { FieldError, Json, JsonObject, Steps } from '../../meta/index.ts';
import type { Structural } from '../structural.ts';
import { maxChecks, maxExplained, withinChecks } from './checks.ts';
import type { Correlation } from './correlation.ts';
import { explainWhole } from './explain.ts';
import { validateListTypes } from './list-types.ts';
import { errorOf } from './schema-violations.ts';
import { isValid } from './valid.ts';
import type { ValueSchema } from './value-schema.ts';

/**
 * The errors of a value by its schema. `base` is its path, empty for a whole object. With `correlation` what is unchanged
 * is not rejected.
 */
export function* validateValue(
  schema: ValueSchema,
  value: Json,
  base: string,
  correlation?: Correlation,
): Steps<FieldError[]> {
  const valid = yield* withinChecks(maxChecks, (checks) => isValid(schema, value, checks));
  if (valid === true) return [];
  const refused = (why: string) => [errorOf({ kind: 'whole', why }, base)];
  if (valid === undefined)
    return refused(`takes more than ${maxChecks} comparisons of values with schemas to validate`);
  const outcome = yield* withinChecks(maxExplained, (checks) => explainWhole(schema, value, correlation, checks));
  if (outcome === undefined) return refused('does not match its schema, which takes too many comparisons to explain');
  return Array.from(outcome.violations, (violation) => errorOf(violation, base));
}

/** The errors of the lists of an object that were unique before: none when those of the old object were not. */
export function* validateLists(
  schema: Structural,
  object: JsonObject,
  old: JsonObject | undefined,
): Steps<FieldError[]> {
  const errors = yield* validateListTypes(schema, object);
  const wereInvalid = errors.length > 0 && old !== undefined && (yield* validateListTypes(schema, old)).length > 0;
  return wereInvalid ? [] : errors;
}
