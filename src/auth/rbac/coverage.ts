import { quote, scheduler, shorten, type Turns, type User } from '../../meta/index.ts';
import type { RbacIndex } from './rbac-index.ts';
import { type Action, pathAction, type Rule, resourceAction } from './rules.ts';

/** One combination of the entries of a rule: it is granted by one rule, or not at all. */
interface Combination {
  readonly rule: Rule;
  readonly action: Action;
}

/** More combinations are not compared. Default roles have a few thousand. */
const maxCombinations = 50_000;
/** The most text of missing permissions in a message (characters). */
const maxMissing = 8 * 1024;

/**
 * The permissions of `rules` that the user does not hold in the namespace, as messages show them: a sorted line for each.
 * Empty when the user holds all.
 */
export async function missingPermissions(
  index: RbacIndex,
  user: User,
  namespace: string,
  rules: readonly Rule[],
  turns: Turns = scheduler.turns(user.name),
): Promise<readonly string[]> {
  const missing: Rule[] = [];
  let [compared, size] = [0, 0];
  for (const { rule, action } of combinationsOf(rules)) {
    if (compared === maxCombinations) {
      return [`more than ${maxCombinations} combinations, which are not compared: several smaller roles must be used`];
    }
    compared += 1;
    if (turns.over) await turns.next();
    if ((await index.findGrant(user, namespace, action)) !== undefined) continue;
    missing.push(rule);
    size += Object.values(rule).flat().join().length;
    if (size > maxMissing) return [...linesOf(missing), '…'];
  }
  return linesOf(missing);
}

/** The atomic permissions that rules grant, made one by one: there may be very many. */
function* combinationsOf(rules: readonly Rule[]): Iterable<Combination> {
  for (const { verbs, apiGroups, resources, resourceNames, nonResourceURLs } of rules) {
    const names = resourceNames.length === 0 ? [undefined] : resourceNames;
    for (const group of apiGroups) {
      for (const resource of resources) {
        const slash = resource.indexOf('/');
        const [plural, subresource] =
          slash < 0 ? [resource, ''] : [resource.slice(0, slash), resource.slice(slash + 1)];
        for (const verb of verbs) {
          for (const name of names) {
            const action = resourceAction(verb, group, plural, subresource, name);
            yield { rule: resourceRule(verb, group, resource, name), action };
          }
        }
      }
    }
    for (const url of nonResourceURLs) {
      for (const verb of verbs)
        yield { rule: { ...nothing, verbs: [verb], nonResourceURLs: [url] }, action: pathAction(verb, url) };
    }
  }
}

const nothing: Rule = { verbs: [], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: [] };

const resourceRule = (verb: string, group: string, resource: string, name: string | undefined): Rule => ({
  ...nothing,
  verbs: [verb],
  apiGroups: [group],
  resources: [resource],
  resourceNames: name === undefined ? [] : [name],
});

/** A line for each group, resource and name with all its verbs, and for each path and verb; sorted. */
function linesOf(rules: readonly Rule[]): string[] {
  const compacted = new Map<string, Rule>();
  for (const rule of rules) {
    const { verbs, nonResourceURLs, ...of } = rule;
    const key = JSON.stringify(nonResourceURLs.length > 0 ? rule : of);
    const before = compacted.get(key);
    if (before === undefined) compacted.set(key, { ...rule, verbs: [...verbs] });
    else if (nonResourceURLs.length === 0) (before.verbs as string[]).push(...verbs);
  }
  return [...new Set([...compacted.values()].map(formatRule))].sort();
}

const labels = [
  ['APIGroups', 'apiGroups'],
  ['Resources', 'resources'],
  ['NonResourceURLs', 'nonResourceURLs'],
  ['ResourceNames', 'resourceNames'],
  ['Verbs', 'verbs'],
] as const;

const formatRule = (rule: Rule): string =>
  `{${labels.flatMap(([label, field]) => (rule[field].length === 0 ? [] : [`${label}:${formatTexts(rule[field])}`])).join(', ')}}`;

/** Texts in quotes, as messages show a list. */
export const formatTexts = (texts: readonly string[]): string =>
  `[${texts.map((text) => quote(shorten(text))).join(' ')}]`;
