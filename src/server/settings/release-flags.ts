import {
  apiRelease,
  compareReleases,
  formatRelease,
  oldestEmulation,
  type Release,
  releaseBefore,
} from '../../meta/index.ts';
import { flag, type SettingsOf } from './flag.ts';
import type { FlagType } from './flag-types.ts';

/** The component to which the reference server assigns the releases and gates of the API. */
const component = 'kube';

/** A minor release, also in the spellings `v1.32`, `1.32.0` and `kube=1.32` of the reference server. */
const release: FlagType<Release | undefined> = {
  placeholder: 'release',
  optionType: 'string',
  form: 'A minor release.',
  parse: (value) => {
    if (value === '') return { value: undefined };
    if (value.includes(',')) return { problem: `must be one release; ${JSON.stringify(value)} has several` };
    const [, of = component, version = ''] = /^(?:([^=]*)=)?(.*)$/.exec(value) ?? [];
    if (of !== component) return { problem: `names the unknown component ${JSON.stringify(of)}: leave it out` };
    const [, major = '', minor = '', patch = '0'] = /^v?(\d{1,3})\.(\d{1,3})(?:\.(\d{1,3}))?$/.exec(version) ?? [];
    if (minor === '') return { problem: `must be a release such as 1.32; ${JSON.stringify(value)} is not` };
    if (Number(patch) !== 0)
      return { problem: `must be a minor release; ${JSON.stringify(value)} has a patch version` };
    return { value: { major: Number(major), minor: Number(minor) } };
  },
  format: (value) => (value === undefined ? '' : formatRelease(value)),
};

/** The flags of the API release that is served. */
export const releaseFlags = {
  emulatedVersion: flag(
    'API',
    release,
    undefined,
    `API release to serve: its versions, fields, gates and defaults, from ${formatRelease(oldestEmulation)} to ${formatRelease(apiRelease)} ([versions.md](versions.md#an-earlier-release)). If not set, it is ${formatRelease(apiRelease)}.`,
  ),
  minCompatibilityVersion: flag(
    'API',
    release,
    undefined,
    'Oldest API release to which the control plane can be rolled back. Expressions that are written may use functions of this release only; `/version` and the metrics show it. If not set, it is the release before `--emulated-version`.',
  ),
};

export type ReleaseSettings = SettingsOf<typeof releaseFlags>;

/** The release that is served, and the oldest one to which the control plane can be rolled back. */
export interface ServedReleases {
  readonly emulated: Release;
  readonly compatible: Release;
}

/** The releases of the settings. By default the server can be rolled back by one release, as far as that can be emulated. */
export function servedReleases({ emulatedVersion, minCompatibilityVersion }: ReleaseSettings): ServedReleases {
  const emulated = emulatedVersion ?? apiRelease;
  const before = releaseBefore(emulated);
  const byDefault = compareReleases(before, oldestEmulation) < 0 ? oldestEmulation : before;
  return { emulated, compatible: minCompatibilityVersion ?? byDefault };
}

/** The problems of releases that this server cannot serve. */
export function releaseProblems(settings: ReleaseSettings, nameOf: (key: keyof ReleaseSettings) => string): string[] {
  const { emulated, compatible } = servedReleases(settings);
  const check = (key: keyof ReleaseSettings, value: Release, latest: Release): string[] =>
    compareReleases(value, oldestEmulation) >= 0 && compareReleases(value, latest) <= 0
      ? []
      : [
          `${nameOf(key)} must be from ${formatRelease(oldestEmulation)} to ${formatRelease(latest)}; ${formatRelease(value)} is not`,
        ];
  const problems = check('emulatedVersion', emulated, apiRelease);
  return problems.length > 0 ? problems : check('minCompatibilityVersion', compatible, emulated);
}
