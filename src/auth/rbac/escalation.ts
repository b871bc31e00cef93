import {
  type ApiObject,
  type CheckedWrite,
  isJsonObject,
  type JsonObject,
  jsonEqual,
  type Names,
  quote,
  statusError,
  type User,
  type WriteCheck,
} from '../../meta/index.ts';
import { systemMasters } from '../groups.ts';
import type { Authorizer } from '../types.ts';
import { formatTexts, missingPermissions } from './coverage.ts';
import { unresolvedRoles } from './rbac-authorizer.ts';
import { type RbacIndex, refOf } from './rbac-index.ts';
import { type Rule, rulesOf } from './rules.ts';

export interface EscalationOptions {
  readonly index: RbacIndex;
  /** The whole chain: whoever may `escalate` or `bind` needs no other permission. */
  readonly authorize: Authorizer;
  readonly names: Names;
  /** Resolves once the index holds every write of any server that was answered before the call. */
  readonly synced: () => Promise<void>;
}

/** Everything that can be granted. */
const fullAuthority: readonly Rule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'], resourceNames: [], nonResourceURLs: [] },
  { verbs: ['*'], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: ['*'] },
];

const resourceOf = { Role: 'roles', ClusterRole: 'clusterroles' } as const;

/**
 * Privilege escalation prevention, by resource: nobody grants a permission through a role or a binding without holding it
 * in the same scope. Passed are members of `system:masters`, users who may `escalate` the role or `bind` the referenced
 * one, and updates that change nothing but owner references and finalizers. A label counts as a change: it can make a
 * ClusterRole part of an aggregated one.
 */
export function escalationChecks(options: EscalationOptions): ReadonlyMap<string, WriteCheck> {
  const group = `rbac.authorization.${options.names.domain}`;
  const checks = (['roles', 'clusterroles'] as const).map((resource): [string, WriteCheck] => [
    resource,
    (write) => checkRole(options, { group, resource }, write),
  ]);
  for (const resource of ['rolebindings', 'clusterrolebindings']) {
    checks.push([resource, (write) => checkBinding(options, { group, resource }, write)]);
  }
  return new Map(checks.map(([resource, check]) => [`${resource}.${group}`, check]));
}

interface GroupResource {
  readonly group: string;
  readonly resource: string;
}

async function checkRole(options: EscalationOptions, id: GroupResource, write: CheckedWrite): Promise<void> {
  const { requester, namespace, requestName, object, oldObject } = write;
  if (requester.groups.includes(systemMasters)) return;
  if (oldObject !== undefined && onlyOwnersDiffer(object, oldObject)) return;
  await options.synced();
  if (await mayDo(options, requester, 'escalate', { ...id, namespace, name: requestName })) return;
  await confirmHeld(options, id, write, rulesOf(object));
  if (!isAggregated(object) && !isAggregated(oldObject)) return;
  const missing = await missingPermissions(options.index, requester, namespace, fullAuthority);
  if (missing.length === 0) return;
  const why = 'must have cluster-admin privileges to use the aggregationRule';
  throw statusError.forbidden(id, object.metadata.name ?? '', why);
}

async function checkBinding(options: EscalationOptions, id: GroupResource, write: CheckedWrite): Promise<void> {
  const { requester, namespace, object, oldObject } = write;
  if (requester.groups.includes(systemMasters)) return;
  if (oldObject !== undefined && onlyOwnersDiffer(object, oldObject)) return;
  const { kind, name } = refOf(object);
  // Validation refuses other references.
  if ((kind !== 'ClusterRole' && (kind !== 'Role' || namespace === '')) || name === '') return;
  const role = { group: id.group, resource: resourceOf[kind] };
  await options.synced();
  if (await mayDo(options, requester, 'bind', { ...role, namespace, name })) return;
  const referenced = options.index.rulesOf(kind, namespace, name);
  if (referenced === undefined) throw statusError.notFound(role, name);
  await confirmHeld(options, id, write, referenced.rules);
}

async function mayDo(
  { authorize }: EscalationOptions,
  user: User,
  verb: string,
  place: GroupResource & { readonly namespace: string; readonly name: string },
): Promise<boolean> {
  const resource = { ...place, version: '*', subresource: '' };
  return (await authorize({ user, verb, resource, path: '' })).allowed;
}

/** @throws StatusError 403 that names every permission of the rules that the requester does not hold */
async function confirmHeld(
  { index, names }: EscalationOptions,
  id: GroupResource,
  { requester, namespace, object }: CheckedWrite,
  rules: readonly Rule[],
): Promise<void> {
  const missing = await missingPermissions(index, requester, namespace, rules);
  if (missing.length === 0) return;
  const { name, groups } = requester;
  const what = 'is attempting to grant RBAC permissions not currently held';
  const errors = unresolvedRoles(index, requester, namespace, (kind) => `${kind.toLowerCase()}s`, names);
  const resolution = errors === '' ? '' : `; resolution errors: [${errors}]`;
  const why = `user ${quote(name)} (groups=${formatTexts(groups)}) ${what}:\n${missing.join('\n')}${resolution}`;
  throw statusError.forbidden(id, object.metadata.name ?? '', why);
}

function isAggregated(role: ApiObject | undefined): boolean {
  const rule = role?.['aggregationRule'];
  const selectors = isJsonObject(rule) ? rule['clusterRoleSelectors'] : undefined;
  return Array.isArray(selectors) && selectors.length > 0;
}

/** Whether an update changes nothing but what the garbage collector needs to change. */
const onlyOwnersDiffer = (object: ApiObject, old: ApiObject): boolean => jsonEqual(granting(object), granting(old));

/** The object without owner references, finalizers and managed fields. */
function granting({ metadata, ...object }: ApiObject): JsonObject {
  const { ownerReferences: _, finalizers: __, managedFields: ___, ...rest } = metadata as JsonObject;
  return { ...object, metadata: rest } as JsonObject;
}
