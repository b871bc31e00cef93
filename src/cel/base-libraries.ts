/** The libraries of the expressions in API objects. */
import { librariesOfNew, librariesOfStored, type Release, type VersionedLibrary } from './check/versions.ts';
import { optionalsLibrary } from './library/optionals.ts';
import { standardLibrary } from './library/standard.ts';
import { twoVariablesLibrary } from './library/two-variables.ts';
import { kubeLibraries } from './library/versions.ts';

/** The release whose language this server speaks. */
const release: Release = '1.33';

const libraries: readonly VersionedLibrary[] = [
  { library: standardLibrary, since: '1.0' },
  { library: optionalsLibrary, since: '1.28' },
  { library: twoVariablesLibrary, since: '1.32' },
  ...kubeLibraries.map(({ library, since }) => ({ library, since: since as Release })),
];

export const newExpressionLibraries = librariesOfNew(libraries, release);
export const storedExpressionLibraries = librariesOfStored(libraries);
