import { Budget } from '../../cel/index.ts';
import type { ApiObject, FieldError, Steps } from '../../meta/index.ts';
import { Correlation } from '../objects/correlation.ts';
import type { Structural } from '../structural.ts';
import { maxObjectCost, rulesNotChecked, ruleValidator } from './evaluate.ts';

export interface RuledWrite {
  readonly object: ApiObject;
  readonly old: ApiObject | undefined;
  /** A rule that an update breaks in what it does not change is a warning. */
  readonly ratcheting: boolean;
  /** The errors of all other validation. */
  readonly errors: readonly FieldError[];
  readonly warn: (text: string) => void;
}

/** Validates an object by the rules of its schema. */
export function* validateByRules(structural: Structural, write: RuledWrite): Steps<FieldError[]> {
  const validate = ruleValidator(structural);
  if (validate === undefined) return [];
  const { object, old, ratcheting, errors, warn } = write;
  const blocked = rulesNotChecked(errors);
  if (blocked.length > 0) return blocked;
  const correlation = old && new Correlation(object, old, structural);
  return yield* validate(object, correlation, ratcheting ? { warn } : {});
}

/** The budget of the rules of all defaults of a schema. */
export const budgetOfDefaults = (): Budget => new Budget(maxObjectCost);

/** The errors of a default by the rules of its schema: as a value that is kept, and as a new one. */
export function* validateDefaultByRules(structural: Structural, path: string, budget: Budget): Steps<FieldError[]> {
  const value = structural.default ?? null;
  const validate = value === null ? undefined : ruleValidator(structural, structural.embeddedResource);
  if (validate === undefined) return [];
  const retained = yield* validate(value, new Correlation(value, value, structural), { path, budget });
  return retained.length > 0 ? retained : yield* validate(value, undefined, { path, budget });
}
