import { isLarge, type JsonObject, type Names, type Steps } from '../../meta/index.ts';
import { type Structural, structuralInSteps, structuralOf } from '../structural.ts';
import { type NormalForm, normalFormInSteps, normalForms } from './normal-form.ts';
import { type ValueSchema, valueSchemaOf } from './value-schema.ts';

/** The parsed schema of a version: parsed on first use, or before that in steps. */
export interface ReadSchema {
  readonly structural: () => Structural;
  readonly form: () => NormalForm;
  readonly values: () => ValueSchema;
  /** Reads what cannot be read part by part; undefined where nothing is left that takes long. */
  readonly readInSteps: () => Steps<void> | undefined;
}

/** `preserves`: unknown fields are kept everywhere. */
export function readSchema(schema: JsonObject, names: Names, preserves: boolean): ReadSchema {
  let cachedSchema: Structural | undefined;
  let form: NormalForm | undefined;
  let values: ValueSchema | undefined;
  const structural = () => {
    cachedSchema ??= structuralOf(schema, names, preserves);
    return cachedSchema;
  };
  // Others may read the same between two steps: what is known first stays.
  function* steps(): Steps<void> {
    const read = cachedSchema ?? (yield* structuralInSteps(schema, names, preserves));
    cachedSchema ??= read;
    const normalForm = form ?? (yield* normalFormInSteps(cachedSchema, normalForms(names)));
    form ??= normalForm;
  }
  return {
    structural,
    form: () => {
      form ??= normalForms(names)(structural());
      return form;
    },
    values: () => {
      values ??= valueSchemaOf(schema, names);
      return values;
    },
    readInSteps: () => (form !== undefined || !isLarge(schema) ? undefined : steps()),
  };
}
