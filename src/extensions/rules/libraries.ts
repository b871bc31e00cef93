import { baseLibraries, librariesOfNew, librariesOfStored } from '../../cel/index.ts';
import { defaultFeatures } from '../../meta/index.ts';

/** Feature gates decide about functions of the authorizer only, which rules do not have. */
const libraries = baseLibraries(defaultFeatures);

/** What rules can call that a definition stores already. */
export const storedExpressionLibraries = librariesOfStored(libraries);
/** What new rules can call: what servers of the version before know too, so that such a server can take over again. */
export const newExpressionLibraries = librariesOfNew(libraries, '1.33');
