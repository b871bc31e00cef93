/** Only users who may read the parameters of a policy or binding may write it. */
import type { PluginInitializer } from '../../admission/index.ts';
import { type Authorizer, systemMasters } from '../../auth/index.ts';
import { type ApiObject, fieldError, jsonEqual, type Names, parseGroupVersion, type User } from '../../meta/index.ts';
import type { CheckedWrite, ReferenceCheck, Registry } from '../../registry/index.ts';
import type { Infer } from '../../schema/index.ts';
import type { ParamKind, ParamRef } from '../../types/admissionregistration-v1.ts';

interface CheckOptions {
  readonly authorize: Authorizer;
  readonly names: Names;
  readonly findKind: PluginInitializer['findKind'];
  readonly backend: { readonly registry: Pick<Registry, 'objects'> };
}

interface Spec {
  readonly paramKind?: Infer<typeof ParamKind>;
  readonly paramRef?: Infer<typeof ParamRef>;
  readonly policyName?: string;
}

const specOf = (object: ApiObject | undefined): Spec => (object as { readonly spec?: Spec } | undefined)?.spec ?? {};

/** The checks of policies and bindings, by resource. */
export function parameterChecks(options: CheckOptions): ReadonlyMap<string, ReferenceCheck> {
  const group = `admissionregistration.${options.names.domain}`;
  const ofPolicy: ReferenceCheck = (write) => checkPolicy(options, write);
  const ofBinding =
    (policies: string): ReferenceCheck =>
    (write) =>
      checkBinding(options, write, `${policies}.${group}`);
  return new Map([
    [`validatingadmissionpolicies.${group}`, ofPolicy],
    [`mutatingadmissionpolicies.${group}`, ofPolicy],
    [`validatingadmissionpolicybindings.${group}`, ofBinding('validatingadmissionpolicies')],
    [`mutatingadmissionpolicybindings.${group}`, ofBinding('mutatingadmissionpolicies')],
  ]);
}

/** All objects of a new `paramKind` must be readable. */
async function checkPolicy(options: CheckOptions, { requester, object, oldObject }: CheckedWrite) {
  const { paramKind } = specOf(object);
  if (paramKind === undefined || requester.groups.includes(systemMasters)) return [];
  if (jsonEqual(paramKind, specOf(oldObject).paramKind)) return [];
  const { place } = placeOf(options, paramKind);
  const resource = { ...place, subresource: '', namespace: '*', name: '*' };
  const { allowed } = await options.authorize({ user: requester, verb: 'get', resource, path: '' });
  if (allowed) return [];
  const { kind = '', apiVersion = '' } = paramKind;
  const of = `the referenced paramKind (kind=${kind}, apiVersion=${apiVersion})`;
  const why = `user ${userText(requester)} must have "get" permission on all objects of ${of}`;
  return [fieldError.forbidden('spec.paramKind', why)];
}

/**
 * The objects of `paramRef` must be readable, also for an update that does not change it. When the policy does not tell their
 * kind, objects of all kinds must be.
 */
async function checkBinding(options: CheckOptions, { requester, object }: CheckedWrite, policies: string) {
  const { paramRef, policyName = '' } = specOf(object);
  if (paramRef === undefined || requester.groups.includes(systemMasters)) return [];
  const reading = options.backend.registry.objects.read(policies, '', policyName);
  const policy = await reading.catch(() => undefined);
  const { paramKind } = specOf(policy);
  const { place, unknown } = paramKind === undefined ? { place: anything } : placeOf(options, paramKind);
  const { name = '', namespace = '' } = paramRef;
  const verb = name === '' ? 'list' : 'get';
  const resource = { ...place, subresource: '', namespace, name };
  const { allowed } = await options.authorize({ user: requester, verb, resource, path: '' });
  if (allowed) return [];
  const user = userText(requester);
  const minimum = `to determine minimum required permissions and user ${user} does not have "${verb}" permission for all groups, versions and resources`;
  // The reference server swaps the two for mutating policies.
  const [who, what] = policies.startsWith('mutating') ? [verb, user] : [user, verb];
  const why =
    policy === undefined
      ? `unable to get policy ${policyName} ${minimum}`
      : unknown === true
        ? `unable to resolve paramKind &{${paramKind?.apiVersion} ${paramKind?.kind}} ${minimum}`
        : `user ${who} does not have "${what}" permission on the object referenced by paramRef`;
  return [fieldError.forbidden('spec.paramRef', why)];
}

const anything = { group: '*', version: '*', resource: '*' };

/** The resource of a kind of parameters; `unknown`: the kind is not served. */
function placeOf({ findKind }: CheckOptions, { apiVersion = '', kind = '' }: Infer<typeof ParamKind>) {
  const kindPlace = findKind(apiVersion, kind);
  const { group, version, resource } = kindPlace ?? { ...anything, ...parseGroupVersion(apiVersion) };
  return { place: { group, version, resource }, unknown: kindPlace === undefined };
}

/** Formats a user like the reference server. */
function userText({ name, uid = '', groups, extra = {} }: User): string {
  const entries = Object.entries(extra)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, values]) => `${key}:[${values.join(' ')}]`);
  return `&{${name} ${uid} [${groups.join(' ')}] map[${entries.join(' ')}]}`;
}
