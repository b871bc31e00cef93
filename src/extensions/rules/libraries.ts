import { baseLibraries, librariesOfNew, librariesOfStored } from '../../cel/index.ts';
import { defaultFeatures } from '../../meta/index.ts';

/** The only library with a feature gate adds functions of the authorizer, a variable that rules do not have. */
const libraries = baseLibraries(defaultFeatures);

/** The libraries of rules that a definition stores already. */
export const storedExpressionLibraries = librariesOfStored(libraries);
/** The libraries of new rules: those of the release of the server. */
export const newExpressionLibraries = librariesOfNew(libraries, '1.33');
