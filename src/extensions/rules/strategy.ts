import type { FieldError, JsonObject, Steps } from '../../meta/index.ts';
import type { Strategy } from '../../registry/index.ts';
import { Correlation } from '../objects/correlation.ts';
import type { Structural } from '../structural.ts';
import { rulesNotChecked, ruleValidator } from './evaluate.ts';

/**
 * The validation of objects by the rules of their schema; undefined when it has none. With `ratcheting`, a rule that an
 * update breaks in what it does not change is a warning.
 */
export function validateByRules(structural: Structural, ratcheting: boolean): Strategy['validateInSteps'] {
  const validate = ruleValidator(structural);
  if (validate === undefined) return undefined;
  return function* (object, old, { warnings }, found): Steps<FieldError[]> {
    const blocked = rulesNotChecked(found);
    if (blocked.length > 0) return blocked;
    const value = object as unknown as JsonObject;
    const correlation = old && new Correlation(value, old as unknown as JsonObject, structural);
    return yield* validate(value, correlation, ratcheting ? { warn: (text) => warnings.add(text) } : {});
  };
}
