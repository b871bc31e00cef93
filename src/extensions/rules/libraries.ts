import { baseLibraries, expressionLibraries } from '../../cel/index.ts';
import { defaultFeatures } from '../../meta/index.ts';

/** What rules can call. Feature gates decide about functions of the authorizer only, which rules do not have. */
export const ruleLibraries = expressionLibraries(baseLibraries(defaultFeatures));
