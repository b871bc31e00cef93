/** The libraries that are special to API objects, and the release in which each was added. */
import type { Features } from '../../meta/index.ts';
import type { VersionedLibrary } from '../check/versions.ts';
import { authorizerLibrary, authorizerSelectorsLibrary } from './authorizer.ts';
import { cidrLibrary } from './cidr.ts';
import { formatLibrary } from './format.ts';
import { ipLibrary } from './ip.ts';
import { quantityLibrary } from './quantity.ts';
import { semverLibrary } from './semver.ts';
import { urlLibrary } from './url.ts';

/** The feature gates that decide which libraries new expressions may use. */
export type LibraryGates = Pick<Features, 'AuthorizeWithSelectors'>;

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
