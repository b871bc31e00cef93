import { jsonEqual } from '../../meta/index.ts';
import type { PolicyRule } from '../../types/rbac-v1.ts';

/**
 * The rights in `wanted` that `held` lacks, as rules of one verb, one group, one resource and one name each, or of one verb
 * and one URL.
 */
export const missingRules = (held: readonly PolicyRule[], wanted: readonly PolicyRule[]): PolicyRule[] =>
  wanted
    // Stored roles mostly have the rules as they are declared: these need not be broken down.
    .filter((rule, i) => !jsonEqual(held[i], rule))
    .flatMap(breakDown)
    .filter((single) => !held.some((rule) => covers(rule, single)));

type SingleRule = ResourceRule | UrlRule;
type ResourceRule = {
  verbs: [string];
  apiGroups: [string];
  resources: [string];
  resourceNames?: [string];
  nonResourceURLs?: never;
};
type UrlRule = { verbs: [string]; nonResourceURLs: [string] };

function breakDown(rule: PolicyRule): SingleRule[] {
  const { verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  const names =
    resourceNames.length === 0 ? [{}] : resourceNames.map((name) => ({ resourceNames: [name] as [string] }));
  return [
    ...apiGroups.flatMap((group) =>
      resources.flatMap((resource) =>
        verbs.flatMap((verb) =>
          names.map((name): SingleRule => ({ verbs: [verb], apiGroups: [group], resources: [resource], ...name })),
        ),
      ),
    ),
    ...nonResourceURLs.flatMap((url) => verbs.map((verb): SingleRule => ({ verbs: [verb], nonResourceURLs: [url] }))),
  ];
}

function covers(rule: PolicyRule, single: SingleRule): boolean {
  if (!hasOrAll(rule.verbs, single.verbs[0])) return false;
  if (single.nonResourceURLs !== undefined) {
    const [url] = single.nonResourceURLs;
    return (rule.nonResourceURLs ?? []).some((held) => urlCovers(held, url));
  }
  const [name] = single.resourceNames ?? [];
  const names = rule.resourceNames ?? [];
  return (
    hasOrAll(rule.apiGroups, single.apiGroups[0]) &&
    resourceCovers(rule.resources ?? [], single.resources[0]) &&
    (names.length === 0 || (name !== undefined && names.includes(name)))
  );
}

const hasOrAll = (held: readonly string[] = [], wanted: string) => held.includes('*') || held.includes(wanted);

/** `*` covers all resources, `*` before a slash the subresource of all. */
function resourceCovers(held: readonly string[], wanted: string): boolean {
  if (hasOrAll(held, wanted)) return true;
  const slash = wanted.indexOf('/');
  return slash >= 0 && held.includes(`*${wanted.slice(slash)}`);
}

const urlCovers = (held: string, wanted: string) =>
  held === wanted || (held.endsWith('*') && wanted.startsWith(held.replace(/\*+$/, '')));
