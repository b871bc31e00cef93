import type { VersionedLibrary } from './check/versions.ts';
import { listsLibrary } from './library/lists.ts';
import { optionalsLibrary } from './library/optionals.ts';
import { regexLibrary } from './library/regex.ts';
import { setsLibrary } from './library/sets.ts';
import { standardLibrary } from './library/standard.ts';
import { stringsLibrary } from './library/strings.ts';
import { twoVariablesLibrary } from './library/two-variables.ts';
import { kubeLibraries, type LibraryGates } from './library/versions.ts';

/** The libraries of all expressions in API objects. */
export const baseLibraries = (features: LibraryGates): readonly VersionedLibrary[] => [
  { library: standardLibrary, since: '1.0' },
  { library: stringsLibrary, since: '1.0' },
  { library: listsLibrary, since: '1.0' },
  { library: regexLibrary, since: '1.0' },
  { library: optionalsLibrary, since: '1.28' },
  { library: setsLibrary, since: '1.29' },
  { library: twoVariablesLibrary, since: '1.32' },
  ...kubeLibraries(features),
];
