/** The libraries of expressions. */
import type { Features } from '../meta/index.ts';
import type { VersionedLibrary } from './check/versions.ts';
import { authorizerLibrary, authorizerSelectorsLibrary } from './library/authorizer.ts';
import { cidrLibrary } from './library/cidr.ts';
import { formatLibrary } from './library/format.ts';
import { ipLibrary } from './library/ip.ts';
import { listsLibrary } from './library/lists.ts';
import { optionalsLibrary } from './library/optionals.ts';
import { quantityLibrary } from './library/quantity.ts';
import { regexLibrary } from './library/regex.ts';
import { semverLibrary } from './library/semver.ts';
import { setsLibrary } from './library/sets.ts';
import { standardLibrary } from './library/standard.ts';
import { stringsLibrary } from './library/strings.ts';
import { twoVariablesLibrary } from './library/two-variables.ts';
import { urlLibrary } from './library/url.ts';

/** The feature gates that decide which libraries new expressions may use. */
type LibraryGates = Pick<Features, 'AuthorizeWithSelectors'>;

/** The libraries that are special to API objects, and the release that added each. */
export const kubeLibraries = (features: LibraryGates): readonly VersionedLibrary[] => [
  { library: urlLibrary, since: '1.0' },
  { library: authorizerLibrary, since: '1.27' },
  { library: quantityLibrary, since: '1.28' },
  { library: ipLibrary, since: '1.30' },
  { library: cidrLibrary, since: '1.30' },
  { library: formatLibrary, since: '1.31' },
  { library: authorizerSelectorsLibrary, since: '1.31', enabled: features.AuthorizeWithSelectors },
  { library: semverLibrary, since: '1.33' },
];

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
