import { baseLibraries, librariesOfNew, librariesOfStored } from '../../cel/index.ts';
import { defaultFeatures } from '../../meta/index.ts';

/** Feature gates decide about functions of the authorizer only, which rules do not have. */
const libraries = baseLibraries(defaultFeatures);

/** What rules can call that a definition stores already. */
export const storedExpressionLibraries = librariesOfStored(libraries);
/** What new rules can call. */
export const newExpressionLibraries = librariesOfNew(libraries);
