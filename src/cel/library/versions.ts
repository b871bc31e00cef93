/** Since when the libraries of this project are part of the language: a stored expression keeps those of its version. */
import type { FeatureName } from '../../meta/index.ts';
import type { Library } from '../library.ts';
import { authorizerLibrary, authorizerSelectorsLibrary } from './authorizer.ts';
import { cidrLibrary } from './cidr.ts';
import { formatLibrary } from './format.ts';
import { ipLibrary } from './ip.ts';
import { quantityLibrary } from './quantity.ts';
import { semverLibrary } from './semver.ts';
import { urlLibrary } from './url.ts';

/** A library and the releases that have it. */
export interface LibraryVersion {
  readonly library: Library;
  /** The first release. */
  readonly since: string;
  /** The first release without it. */
  readonly until?: string;
  /** The feature gate that must be on. */
  readonly gate?: FeatureName;
}

export const kubeLibraries: readonly LibraryVersion[] = [
  { library: urlLibrary, since: '1.0' },
  { library: authorizerLibrary, since: '1.27' },
  { library: quantityLibrary, since: '1.28' },
  { library: ipLibrary, since: '1.30' },
  { library: cidrLibrary, since: '1.30' },
  { library: formatLibrary, since: '1.31' },
  { library: authorizerSelectorsLibrary, since: '1.31', gate: 'AuthorizeWithSelectors' },
  { library: semverLibrary, since: '1.33' },
];
