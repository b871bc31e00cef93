/** Generators of roles and their bindings. */
import { type Json, type JsonObject, parseLabelSelector, StatusError } from '../../../meta/index.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { Command, CommandContext } from '../../command.ts';
import { CommandError } from '../../errors.ts';
import { list, repeatable, text, type ValuesOf } from '../../flags/flag.ts';
import { resourceOf } from '../../objects/targets.ts';
import { generator, objectOf } from './generator.ts';

const ruleFlags = {
  resource: list('Resource that the rule applies to.'),
  resourceName: repeatable('Resource in the white list that the rule applies to, repeat this flag for multiple items.'),
  verb: list('Verb that applies to the resources contained in the rule.'),
};

const groupOf = (domain: string) => `rbac.authorization.${domain}`;

/** One rule for each API group of the resources. @throws CommandError */
async function rulesOf(
  { verb, resource, resourceName }: ValuesOf<typeof ruleFlags>,
  cluster: CommandContext<unknown>['cluster'],
): Promise<JsonObject[]> {
  if (verb.length === 0) throw new CommandError('at least one verb must be specified');
  if (resource.length === 0) throw new CommandError('at least one resource must be specified');
  const verbs = verb.includes('*') ? ['*'] : [...new Set(verb)];
  const groups = new Map<string, string[]>();
  for (const item of resource) {
    const [type = '', subresource] = item.split('/');
    const { group, name } = type === '*' ? { group: '', name: '*' } : await resourceOfRule(await cluster(), type);
    const names = groups.get(group) ?? [];
    names.push(subresource === undefined ? name : `${name}/${subresource}`);
    groups.set(group, names);
  }
  return [...groups].map(([group, resources]) => ({
    apiGroups: [group],
    ...(resourceName.length === 0 ? {} : { resourceNames: [...resourceName] }),
    resources: [...new Set(resources)],
    verbs,
  }));
}

/** @throws CommandError, whose message has no prefix in the reference client either */
const resourceOfRule = (cluster: Cluster, type: string) =>
  resourceOf(cluster, type).catch((error: unknown) => {
    throw error instanceof CommandError ? new CommandError(error.message, { prefixed: false }) : error;
  });

const role = generator({
  name: 'role',
  summary: 'Create a role with single rule',
  usage: 'NAME --verb=verb --resource=resource.group/subresource [--resource-name=resourcename]',
  example: 'role pod-reader --verb=get --verb=list --verb=watch --resource=pods',
  flags: ruleFlags,
  build: async ({ name, flags, context, names }) => {
    const rules = await rulesOf(flags, context.cluster);
    return objectOf(`${groupOf((await names()).domain)}/v1`, 'Role', name, { rules });
  },
});

const clusterRole = generator({
  name: 'clusterrole',
  summary: 'Create a cluster role',
  usage: 'NAME --verb=verb --resource=resource.group [--resource-name=resourcename]',
  example: 'clusterrole pod-reader --verb=get,list,watch --resource=pods',
  flags: {
    ...ruleFlags,
    aggregationRule: text('', 'An aggregation label selector for combining ClusterRoles.'),
    nonResourceUrl: list('A partial url that user should have access to.'),
  },
  isClusterScoped: true,
  build: async ({ name, flags, context, names }) => {
    const apiVersion = `${groupOf((await names()).domain)}/v1`;
    if (flags.aggregationRule !== '') {
      const clusterRoleSelectors: Json = [{ matchLabels: labelsOf(flags.aggregationRule) }];
      return objectOf(apiVersion, 'ClusterRole', name, { aggregationRule: { clusterRoleSelectors }, rules: null });
    }
    const paths = [...flags.nonResourceUrl];
    const rules =
      paths.length > 0 && flags.resource.length === 0
        ? [{ nonResourceURLs: paths, verbs: [...flags.verb] }]
        : await rulesOf(flags, context.cluster);
    return objectOf(apiVersion, 'ClusterRole', name, { rules });
  },
});

/** The labels of a selector of equality requirements. @throws CommandError */
function labelsOf(selector: string): JsonObject {
  try {
    const { requirements } = parseLabelSelector(selector);
    return Object.fromEntries(requirements.map(({ key, values }) => [key, [...values][0] ?? '']));
  } catch (error) {
    if (error instanceof StatusError) throw new CommandError(error.message, { cause: error });
    throw error;
  }
}

const subjectFlags = {
  clusterrole: text('', 'ClusterRole this binding should reference.'),
  group: repeatable('Groups to bind to the role. The flag can be repeated to add multiple groups.'),
  serviceaccount: repeatable('Service accounts to bind to the role, in the format <namespace>:<name>.'),
  user: repeatable('Usernames to bind to the role. The flag can be repeated to add multiple users.'),
};

function subjectsOf({ user, group, serviceaccount }: ValuesOf<typeof subjectFlags>, apiGroup: string): JsonObject {
  const subjects: JsonObject[] = [
    ...user.map((name) => ({ apiGroup, kind: 'User', name })),
    ...group.map((name) => ({ apiGroup, kind: 'Group', name })),
    ...serviceaccount.map((account) => {
      const [namespace = '', name = '', ...more] = account.split(':');
      if (namespace === '' || name === '' || more.length > 0) {
        throw new CommandError('serviceaccount must be <namespace>:<name>');
      }
      return { kind: 'ServiceAccount', name, namespace };
    }),
  ];
  return subjects.length === 0 ? {} : { subjects };
}

const roleBinding = generator({
  name: 'rolebinding',
  summary: 'Create a role binding for a particular role or cluster role',
  usage:
    'NAME --clusterrole=NAME|--role=NAME [--user=username] [--group=groupname] [--serviceaccount=namespace:serviceaccountname]',
  example: 'rolebinding admin --clusterrole=admin --user=user1 --user=user2 --group=group1',
  flags: { ...subjectFlags, role: text('', 'Role this binding should reference.') },
  build: async ({ name, flags, names }) => {
    if ((flags.clusterrole === '') === (flags.role === '')) {
      throw new CommandError('exactly one of clusterrole or role must be specified');
    }
    const apiGroup = groupOf((await names()).domain);
    const roleRef =
      flags.role === ''
        ? { apiGroup, kind: 'ClusterRole', name: flags.clusterrole }
        : { apiGroup, kind: 'Role', name: flags.role };
    return objectOf(`${apiGroup}/v1`, 'RoleBinding', name, { roleRef, ...subjectsOf(flags, apiGroup) });
  },
});

const clusterRoleBinding = generator({
  name: 'clusterrolebinding',
  summary: 'Create a cluster role binding for a particular cluster role',
  usage:
    'NAME --clusterrole=NAME [--user=username] [--group=groupname] [--serviceaccount=namespace:serviceaccountname]',
  example: 'clusterrolebinding cluster-admin --clusterrole=cluster-admin --user=user1',
  flags: subjectFlags,
  required: ['clusterrole'],
  isClusterScoped: true,
  build: async ({ name, flags, names }) => {
    const apiGroup = groupOf((await names()).domain);
    const roleRef = { apiGroup, kind: 'ClusterRole', name: flags.clusterrole };
    return objectOf(`${apiGroup}/v1`, 'ClusterRoleBinding', name, { roleRef, ...subjectsOf(flags, apiGroup) });
  },
});

export const rbacGenerators: readonly Command[] = [clusterRole, clusterRoleBinding, role, roleBinding];
