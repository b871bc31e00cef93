import { expandNamesIn, type Features, type Names } from '../../meta/index.ts';
import type { PolicyRule, Subject } from '../../types/rbac-v1.ts';
import { withoutAbsent } from './absent.ts';
import { componentRoles } from './component-roles.ts';
import { controllerRoles } from './controller-roles.ts';
import type { DefaultNamespacedRole, DefaultRole, DefaultSubject } from './declare.ts';
import { namespacedRoles } from './namespaced-roles.ts';
import type { BindingObject, PolicyMetadata, PolicyObject, RoleObject, Text } from './objects.ts';
import { metricsReader, userRoles } from './user-roles.ts';

/** The annotation that, when it is `false`, keeps an object from being reconciled. */
export const autoUpdate = ({ labels }: Names): string => `rbac.authorization.${labels}/autoupdate`;

/**
 * The default roles and bindings. `hasMetrics`: also the role for the usage of nodes and pods. `absent`: the built-in
 * resources that the server does not have.
 */
export function bootstrapPolicy(
  names: Names,
  features: Features,
  hasMetrics = false,
  absent: ReadonlySet<string> = new Set(),
): PolicyObject[] {
  const clusterRoles = [
    ...userRoles,
    ...componentRoles,
    ...controllerRoles,
    ...(hasMetrics ? [metricsReader] : []),
  ].filter(({ needs }) => needs === undefined || !absent.has(needs));
  const objects = [
    ...clusterRoles.flatMap((role) => objectsOf(role, names, features)),
    ...namespacedRoles.flatMap((role) => namespacedObjectsOf(role, names, features)),
  ];
  return withoutAbsent(expandNamesIn(objects, names), absent);
}

/** The cluster role and its binding. */
function objectsOf(role: DefaultRole, names: Names, features: Features): PolicyObject[] {
  if (role.gate !== undefined && !features[role.gate]) return [];
  const { name, aggregates, aggregateTo, boundTo } = role;
  const labels = aggregateTo === undefined ? {} : { [aggregationLabel(aggregateTo)]: 'true' };
  const clusterRole: RoleObject = {
    ...header('ClusterRole', { name }, labels),
    ...(aggregates === undefined
      ? { rules: rulesOf(role, features) }
      : { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [aggregationLabel(aggregates)]: 'true' } }] } }),
  };
  if (boundTo === undefined) return [clusterRole];
  return [clusterRole, bindingOf('ClusterRoleBinding', { name }, clusterRole, boundTo, names)];
}

function namespacedObjectsOf(role: DefaultNamespacedRole, names: Names, features: Features): PolicyObject[] {
  const { name, binding = name, boundTo } = role;
  const namespace = role.namespace === 'system' ? names.systemNamespace : names.publicNamespace;
  const object: RoleObject = { ...header('Role', { name, namespace }), rules: rulesOf(role, features) };
  if (boundTo === undefined) return [object];
  return [object, bindingOf('RoleBinding', { name: binding, namespace }, object, boundTo, names)];
}

function bindingOf(
  kind: string,
  place: PolicyMetadata,
  role: RoleObject,
  subjects: readonly DefaultSubject[],
  { systemNamespace }: Names,
): BindingObject {
  return {
    ...header(kind, place),
    ...(subjects.length === 0 ? {} : { subjects: subjects.map((subject) => subjectOf(subject, systemNamespace)) }),
    roleRef: { apiGroup, kind: role.kind, name: role.metadata.name },
  };
}

const subjectOf = ({ kind, name }: DefaultSubject, namespace: string): Subject =>
  kind === 'ServiceAccount' ? { kind, name, namespace } : { kind, apiGroup, name };

const apiGroup = 'rbac.authorization.{domain}';

const aggregationLabel = (role: string) => `${apiGroup}/aggregate-to-${role}`;

const header = (kind: string, place: PolicyMetadata, labels: Text = {}) => ({
  apiVersion: `${apiGroup}/v1`,
  kind,
  metadata: {
    ...place,
    labels: { '{labels}/bootstrapping': 'rbac-defaults', ...labels },
    annotations: { 'rbac.authorization.{labels}/autoupdate': 'true' },
  },
});

const rulesOf = ({ rules = [] }: DefaultRole, features: Features): PolicyRule[] =>
  rules.flatMap((rule) => ('gate' in rule ? (features[rule.gate] ? rule.rule : []) : rule));
