/** The core group is the empty string. */
export interface GroupVersion {
  readonly group: string;
  readonly version: string;
}
export interface GroupVersionKind extends GroupVersion {
  readonly kind: string;
}
export interface GroupResource {
  readonly group: string;
  /** Plural name as in the URL, such as `pods`. */
  readonly resource: string;
}

/** As in `apiVersion`: `v1`, `apps/v1`. */
export function formatGroupVersion({ group, version }: GroupVersion): string {
  return group === '' ? version : `${group}/${version}`;
}

/** Parses `v1` or `apps/v1`; undefined when there is more than one slash. */
export function parseGroupVersion(apiVersion: string): GroupVersion | undefined {
  const slash = apiVersion.indexOf('/');
  if (slash < 0) return { group: '', version: apiVersion };
  if (apiVersion.includes('/', slash + 1)) return undefined;
  return { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) };
}

/** A resource as shown in messages: `pods`, `deployments.apps`. */
export function formatGroupResource({ group, resource }: GroupResource): string {
  return group === '' ? resource : `${resource}.${group}`;
}

/** Orders versions, best first: `v2`, `v1`, `v2beta1`, `v1beta2`, `v1alpha1`, then all else by name. */
export function compareVersions(a: string, b: string): number {
  const x = weigh(a);
  const y = weigh(b);
  for (let i = 0; i < 3; i++) {
    const difference = (y[i] as number) - (x[i] as number);
    if (difference !== 0) return difference;
  }
  return a < b ? -1 : a > b ? 1 : 0;
}

function weigh(version: string): readonly [stage: number, major: number, minor: number] {
  const match = /^v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?$/.exec(version);
  if (match === null) return [0, 0, 0];
  const stage = match[2] === undefined ? 3 : match[2] === 'beta' ? 2 : 1;
  return [stage, Number(match[1]), Number(match[3] ?? 0)];
}
