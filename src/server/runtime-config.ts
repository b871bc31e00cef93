import { formatGroupVersion } from '../meta/index.ts';
import { didYouMean } from './suggest.ts';

const stages = ['api/all', 'api/ga', 'api/beta', 'api/alpha'];

/** What is wrong with the form of a key of `--runtime-config`; undefined when nothing is. */
export function checkRuntimeKey(key: string): string | undefined {
  const parts = key.split('/');
  const wellFormed =
    parts.every((part) => part !== '') &&
    (parts[0] === 'api' ? stages.includes(key) : parts.length === 1 ? isVersion(key) : parts.length <= 3);
  return wellFormed ? undefined : `names ${JSON.stringify(key)}, which is no part of an API${didYouMean(key, stages)}`;
}

/** The few facts about a resource that switch it. */
interface Served {
  readonly group: string;
  readonly plural: string;
  readonly versions: readonly { readonly version: string }[];
}

/**
 * Whether a resource is served in a version: the narrowest key that names it decides; without one, every version is.
 */
export function isServed(
  config: ReadonlyMap<string, boolean>,
  group: string,
  version: string,
  plural: string,
): boolean {
  const groupVersion = formatGroupVersion({ group, version });
  const resource = `${groupVersion}/${plural}`;
  const stage = version.includes('alpha') ? 'api/alpha' : version.includes('beta') ? 'api/beta' : 'api/ga';
  return config.get(resource) ?? config.get(groupVersion) ?? config.get(stage) ?? config.get('api/all') ?? true;
}

/** Messages about keys that name nothing the server has. Groups are spelled with the names in force. */
export function unknownRuntimeKeys(config: ReadonlyMap<string, boolean>, served: readonly Served[]): string[] {
  const known = new Set(stages);
  for (const { group, plural, versions } of served) {
    for (const { version } of versions) {
      const groupVersion = formatGroupVersion({ group, version });
      known.add(groupVersion).add(`${groupVersion}/${plural}`);
    }
  }
  return [...config.keys()]
    .filter((key) => !known.has(key))
    .map((key) => `names ${JSON.stringify(key)}, which this server does not have${didYouMean(key, [...known])}`);
}

const isVersion = (text: string) => /^v\d+((alpha|beta)\d+)?$/.test(text);
