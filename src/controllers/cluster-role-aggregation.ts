import type { ClusterRole, PolicyRule } from '../types/rbac-v1.ts';
import type { Named } from './shared/kind.ts';
import * as kinds from './shared/kinds.ts';
import { selectorIn } from './shared/selection.ts';
import type { Controller } from './types.ts';

type Role = ClusterRole & Named;

const nameOf = ({ metadata: { name = '' } }: Named): string => name;

const selectorsOf = ({ aggregationRule }: Role) => (aggregationRule?.clusterRoleSelectors ?? []).map(selectorIn);

/** The rules of the other roles that an aggregated role selects: by selector and name, each rule once. */
export function aggregatedRules(role: Role, roles: readonly Role[]): PolicyRule[] {
  const others = roles.filter((other) => nameOf(other) !== nameOf(role));
  others.sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  const byKey = new Map<string, PolicyRule>();
  for (const selector of selectorsOf(role)) {
    for (const { metadata, rules } of others) {
      if (!selector.matches(metadata.labels)) continue;
      for (const rule of rules ?? []) {
        const key = keyOfRule(rule);
        if (!byKey.has(key)) byKey.set(key, rule);
      }
    }
  }
  return [...byKey.values()];
}

const sameRules = (a: readonly PolicyRule[], b: readonly PolicyRule[]): boolean =>
  a.length === b.length && a.every((rule, i) => keyOfRule(rule) === keyOfRule(b[i] ?? {}));

/** The keys of rules, which every reconcile asks for again. */
const keys = new WeakMap<PolicyRule, string>();

/** Equal for equal rules; an empty list is equal to an absent one. */
function keyOfRule(rule: PolicyRule): string {
  let key = keys.get(rule);
  if (key === undefined) {
    const { verbs, apiGroups, resources, resourceNames, nonResourceURLs } = rule;
    key = JSON.stringify([verbs, apiGroups, resources, resourceNames, nonResourceURLs].map((list) => list ?? []));
    keys.set(rule, key);
  }
  return key;
}

/** The name of the controller, of its service account, and of its field manager. */
const name = 'clusterrole-aggregation-controller';

/** Gives cluster roles with an aggregation rule the rules of the roles that it selects. */
export const clusterRoleAggregationController: Controller = {
  name,
  account: name,
  needs: [kinds.clusterRoles],
  start({ client, informers, queue }) {
    const roles = informers.of(kinds.clusterRoles);
    const aggregated = roles.indexBy('aggregated', ({ aggregationRule }) => (aggregationRule ? [''] : []));
    const reconcile = async (key: string) => {
      const role = roles.getByKey(key);
      if (!role?.aggregationRule) return;
      const rules = aggregatedRules(role, roles.list());
      if (sameRules(rules, role.rules ?? [])) return;
      const { uid } = role.metadata;
      // Without the uid a role that has been deleted by now would be created.
      const metadata = { name: key, ...(uid === undefined ? {} : { uid }) };
      await client.kind(kinds.clusterRoles).apply({ metadata, rules }, { fieldManager: name, force: true });
    };
    // One worker: roles that select each other do not exchange their rules for ever.
    const work = queue('ClusterRoleAggregator', reconcile, { workers: 1 });
    roles.onChange((role, old) => {
      for (const other of aggregated.get('')) {
        const selectors = selectorsOf(other);
        const selects = ({ metadata }: Role) => selectors.some((selector) => selector.matches(metadata.labels));
        if (other === role || (role && selects(role)) || (old && selects(old))) work.add(nameOf(other));
      }
    });
  },
};
