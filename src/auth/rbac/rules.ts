import { type ApiObject, isJsonObject, type Json } from '../../meta/index.ts';

/** A policy rule as evaluated: every list is present. */
export interface Rule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames: readonly string[];
  readonly nonResourceURLs: readonly string[];
}

/** An action that a request needs, or one combination that a rule grants. */
export interface Action {
  readonly verb: string;
  /** Undefined for an action on a resource. */
  readonly path: string | undefined;
  readonly group: string;
  /** The entries of a rule that match the resource: all, its name with the subresource, and the subresource of all. */
  readonly resources: readonly string[];
  /** The name of the object, empty when the request has none. Undefined: objects of every name. */
  readonly name: string | undefined;
}

export const resourceAction = (
  verb: string,
  group: string,
  resource: string,
  subresource: string,
  name: string | undefined,
): Action => {
  const resources = subresource === '' ? ['*', resource] : ['*', `${resource}/${subresource}`, `*/${subresource}`];
  return { verb, path: undefined, group, resources, name };
};

export const pathAction = (verb: string, path: string): Action => ({ verb, path, group: '', resources: [], name: '' });

/** Entries of a list of a rule; undefined: everything. */
type Entries = readonly string[] | ReadonlySet<string> | undefined;

interface ResourcePermission {
  readonly verbs: Entries;
  readonly groups: Entries;
  readonly names: Entries;
}

interface PathPermission {
  readonly prefix: string;
  readonly verbs: Entries;
}

/** The rules of a role, indexed by resource and path. Takes memory linear in the rules. */
export interface CompiledRules {
  readonly rules: readonly Rule[];
  readonly byResource: ReadonlyMap<string, readonly ResourcePermission[]>;
  readonly byPath: ReadonlyMap<string, readonly Entries[]>;
  readonly byPrefix: readonly PathPermission[];
}

/** The rules of a stored Role or ClusterRole. What is not of the declared type is ignored. */
export function rulesOf(role: ApiObject): Rule[] {
  return listOf(role['rules'])
    .filter(isJsonObject)
    .map((rule) => ({
      verbs: textsOf(rule['verbs']),
      apiGroups: textsOf(rule['apiGroups']),
      resources: textsOf(rule['resources']),
      resourceNames: textsOf(rule['resourceNames']),
      nonResourceURLs: textsOf(rule['nonResourceURLs']),
    }));
}

const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);
const textsOf = (value: Json | undefined): string[] => listOf(value).filter((text) => typeof text === 'string');

export function compileRules(rules: readonly Rule[]): CompiledRules {
  const byResource = new Map<string, ResourcePermission[]>();
  const byPath = new Map<string, Entries[]>();
  const byPrefix: PathPermission[] = [];
  for (const { verbs: listed, apiGroups, resources, resourceNames, nonResourceURLs } of rules) {
    const verbs = entriesOf(listed);
    const names = resourceNames.length === 0 ? undefined : searchable(resourceNames);
    const permission = { verbs, groups: entriesOf(apiGroups), names };
    for (const resource of resources.includes('*') ? ['*'] : new Set(resources))
      append(byResource, resource, permission);
    for (const url of new Set(nonResourceURLs)) {
      if (url.endsWith('*')) byPrefix.push({ prefix: url.replace(/\*+$/, ''), verbs });
      else append(byPath, url, verbs);
    }
  }
  return { rules, byResource, byPath, byPrefix };
}

function append<T>(lists: Map<string, T[]>, key: string, value: T): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

const entriesOf = (texts: readonly string[]): Entries => (texts.includes('*') ? undefined : searchable(texts));

/** Longer lists are searched as sets. */
const maxScanned = 16;
const searchable = (texts: readonly string[]) => (texts.length > maxScanned ? new Set(texts) : texts);

function includes(entries: Entries, text: string): boolean {
  if (entries === undefined) return true;
  return entries instanceof Set ? entries.has(text) : (entries as readonly string[]).includes(text);
}

/** Whether one of the rules allows the action. */
export function rulesAllow({ byResource, byPath, byPrefix }: CompiledRules, action: Action): boolean {
  const { verb, path, group, resources, name } = action;
  if (path !== undefined) {
    if (byPath.get(path)?.some((verbs) => includes(verbs, verb)) === true) return true;
    return byPrefix.some(({ prefix, verbs }) => path.startsWith(prefix) && includes(verbs, verb));
  }
  for (const resource of resources) {
    const permissions = byResource.get(resource);
    if (permissions === undefined) continue;
    for (const { verbs, groups, names } of permissions) {
      if (!includes(verbs, verb) || !includes(groups, group)) continue;
      if (names === undefined || (name !== undefined && includes(names, name))) return true;
    }
  }
  return false;
}

/** How many permissions a decision about the action looks at. */
export function weightOf({ byResource, byPath, byPrefix }: CompiledRules, { path, resources }: Action): number {
  if (path !== undefined) return (byPath.get(path)?.length ?? 0) + byPrefix.length;
  let weight = 1;
  for (const resource of resources) weight += byResource.get(resource)?.length ?? 0;
  return weight;
}
