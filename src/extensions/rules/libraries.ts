import { baseLibraries, expressionLibraries } from '../../cel/index.ts';
import { defaultFeatures } from '../../meta/index.ts';

/** The libraries of rules. Feature gates concern functions of the authorizer only, which rules do not have. */
export const ruleLibraries = expressionLibraries(baseLibraries(defaultFeatures));
