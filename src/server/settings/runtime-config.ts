import { formatGroupVersion } from '../../meta/index.ts';
import { didYouMean } from './suggest.ts';

const stages = ['api/all', 'api/ga', 'api/beta', 'api/alpha'];

/** The syntax error of a setting of `--runtime-config`; undefined when it is well-formed. */
export function checkRuntimeKey(key: string, _on: boolean, text: string): string | undefined {
  if (key === 'api/all' && !['', 'true', 'false'].includes(text)) {
    return `has ${JSON.stringify(text)} for api/all, which takes true or false only`;
  }
  const parts = key.split('/');
  const wellFormed =
    parts.every((part) => part !== '') &&
    (parts[0] === 'api' ? stages.includes(key) : parts.length === 1 ? isVersion(key) : parts.length <= 3);
  return wellFormed ? undefined : `names ${JSON.stringify(key)}, which is not part of an API${didYouMean(key, stages)}`;
}

/** The names of a resource. */
interface Served {
  readonly group: string;
  readonly plural: string;
  readonly versions: readonly { readonly version: string }[];
}

/** A resource in a version. */
interface ServedVersion {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  /** Whether the served release does not have it any more: only a key of its own serves it. */
  readonly removed?: boolean;
  /** Whether it is served by default, although it is a beta version. */
  readonly onByDefault?: boolean | undefined;
}

/**
 * Whether a resource is served in a version: the most specific key decides. By default stable versions are served, alpha and
 * beta versions mostly are not.
 */
export function isServed(config: ReadonlyMap<string, boolean>, served: ServedVersion): boolean {
  const { group, version, plural, removed = false, onByDefault = false } = served;
  const groupVersion = formatGroupVersion({ group, version });
  const resource = `${groupVersion}/${plural}`;
  const stage = version.includes('alpha') ? 'alpha' : version.includes('beta') ? 'beta' : 'ga';
  const keys = removed ? [resource, groupVersion] : [resource, groupVersion, `api/${stage}`, 'api/all'];
  const setting = keys.map((key) => config.get(key)).find((on) => on !== undefined);
  return setting ?? (stage === 'ga' || (onByDefault && !removed));
}

/** The error of keys that match no resource of the server, or of a configuration that serves nothing; undefined when valid. */
export function runtimeProblem(config: ReadonlyMap<string, boolean>, served: readonly Served[]): string | undefined {
  if (config.size === 1 && config.get('api/all') === false) {
    return 'leaves nothing to serve: with api/all=false it must enable what to serve, such as v1';
  }
  const validKeys = new Set(stages);
  for (const { group, plural, versions } of served) {
    for (const { version } of versions) {
      const groupVersion = formatGroupVersion({ group, version });
      validKeys.add(groupVersion).add(`${groupVersion}/${plural}`);
    }
  }
  const unknown = [...config.keys()].find((key) => !validKeys.has(key));
  if (unknown === undefined) return undefined;
  const ofGroup = [...validKeys].filter((key) => key.startsWith(unknown.slice(0, unknown.indexOf('/') + 1) || '/'));
  const suggestion =
    ofGroup.length === 0 ? didYouMean(unknown, [...validKeys]) : didYouMean(unknown, ofGroup, Number.POSITIVE_INFINITY);
  return `names ${JSON.stringify(unknown)}, which this server does not have${suggestion}`;
}

const isVersion = (text: string) => /^v\d+((alpha|beta)\d+)?$/.test(text);
