import type { Budget } from '../../cel/index.ts';
import { type FieldError, fieldError, type Json, type Names, Pace, type Steps } from '../../meta/index.ts';
import { budgetOfDefaults, validateDefaultByRules } from '../rules/index.ts';
import type { Structural } from '../structural.ts';
import { validateEmbedded } from './embedded.ts';
import {
  DefaultsTooLarge,
  isTypeMember,
  maxDefaultedInSchema,
  normalFormInSteps,
  normalForms,
  normalize,
  type ReadNormalForm,
} from './normal-form.ts';
import { validateValue } from './validate.ts';
import { valueSchemaOf } from './value-schema.ts';

/** The state that the validations of all defaults of a schema share. */
interface Shared {
  readonly names: Names;
  readonly formOf: ReadNormalForm;
  /** The remaining cost of the rules. */
  readonly budget: Budget;
  /** The remaining size of defaults that are set in defaults (bytes). */
  room: number;
}

/**
 * The errors of the defaults of a schema: each has the declared fields only, and is valid, and they do not multiply.
 * `path` is that of the schema.
 */
export function* validateDefaults(schema: Structural, path: string, names: Names): Steps<FieldError[]> {
  const shared: Shared = {
    names,
    formOf: normalForms(names),
    budget: budgetOfDefaults(),
    room: maxDefaultedInSchema,
  };
  const errors: FieldError[] = [];
  const pace = new Pace();
  function* visit(schema: Structural, path: string, inMetadata: boolean): Steps<void> {
    if (!schema.has.defaults) return;
    if (pace.over()) yield;
    const { default: value = null, items, properties, embeddedResource: embedded } = schema;
    // In the metadata of an embedded resource, unknown fields are those that no resource has.
    const inOwn = inMetadata && !embedded;
    if (value !== null) {
      for (const error of yield* validateDefault(schema, value, path, shared, inOwn)) errors.push(error);
    }
    if (items !== undefined) yield* visit(items, `${path}.items`, inOwn);
    for (const [name, property] of properties) {
      yield* visit(property, `${path}.properties[${name}]`, inOwn || (embedded && isTypeMember(name)));
    }
  }
  yield* normalFormInSteps(schema, shared.formOf);
  // The default of the root is an object of its own, too.
  yield* visit({ ...schema, embeddedResource: true, has: { ...schema.has, embedded: true } }, path, false);
  return errors;
}

function* validateDefault(
  schema: Structural,
  value: Json,
  path: string,
  shared: Shared,
  mayHaveUnknown: boolean,
): Steps<FieldError[]> {
  const { names, formOf, budget } = shared;
  const at = `${path}.default`;
  const errors: FieldError[] = [];
  const walk = { names, dropped: false, lenient: true, room: shared.room };
  yield;
  const form = formOf(schema);
  yield;
  try {
    normalize(form, value, walk);
  } catch (error) {
    if (!(error instanceof DefaultsTooLarge)) throw error;
    const why = `defaults within the defaults of a schema must take no more than ${maxDefaultedInSchema} bytes in all`;
    return [fieldError.forbidden(at, why)];
  }
  shared.room = walk.room;
  if (walk.dropped && !mayHaveUnknown) errors.push(fieldError.invalid(at, value, 'must not have unknown fields'));
  yield;
  const embedded = yield* validateEmbedded(schema, value, names, at);
  if (embedded.length > 0) return [...errors, ...embedded];
  const invalid = yield* validateValue(valueSchemaOf(schema.schema, names), value, at);
  return [...errors, ...(invalid.length > 0 ? invalid : yield* validateDefaultByRules(schema, at, budget))];
}
