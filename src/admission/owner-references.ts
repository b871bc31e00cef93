import { formatGroupVersion, jsonEqual, type OwnerReference, parseGroupVersion } from '../meta/index.ts';
import { forbidden } from './fields.ts';
import type { AdmissionPlugin, AdmissionRequest, PluginInitializer, ResourceAttributes } from './types.ts';

type World = Pick<PluginInitializer, 'authorize' | 'findKind'>;

/**
 * Who changes the owners of an object may also delete it, and who lets it hold up the deletion of its owner may also
 * set finalizers there: both come to the same.
 */
export function ownerReferencesPermission(world: World): AdmissionPlugin {
  return {
    name: 'OwnerReferencesPermissionEnforcement',
    handles: ({ operation, resource, subresource }) =>
      (operation === 'CREATE' || operation === 'UPDATE') && !(resource === 'pods' && subresource === 'status'),
    validate: (request) => {
      const before = request.oldObject?.metadata.ownerReferences ?? [];
      const after = request.object?.metadata.ownerReferences ?? [];
      if (jsonEqual(before, after)) return;
      return check(world, request, before, after);
    },
  };
}

async function check(
  { authorize, findKind }: World,
  request: AdmissionRequest,
  before: readonly OwnerReference[],
  after: readonly OwnerReference[],
): Promise<void> {
  const refuseUnless = async (wish: ResourceAttributes, rule: string) => {
    const { allowed, reason } = await authorize(request.user, wish);
    if (!allowed) throw forbidden(request, `${rule}: ${reason}, <nil>`);
  };
  const { resource, subresource, namespace, name, operation } = request;
  if (operation !== 'CREATE') {
    const wish = { ...resource, verb: 'delete', subresource, namespace, name };
    await refuseUnless(wish, "cannot set an ownerRef on a resource you can't delete");
  }
  for (const owner of newlyBlocking(before, after)) {
    const { apiVersion, kind } = owner;
    const place = findKind(apiVersion, kind);
    if (place === undefined) {
      const why = `no matches for kind ${JSON.stringify(kind)} in version ${JSON.stringify(told(apiVersion))}`;
      const what = `cannot find RESTMapping for APIVersion ${apiVersion} Kind ${kind}`;
      throw forbidden(request, `cannot set blockOwnerDeletion in this case because ${what}: ${why}`);
    }
    const { group, version } = place;
    const wish = { verb: 'update', group, version, resource: place.resource, subresource: 'finalizers' };
    const rule = "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on";
    await refuseUnless({ ...wish, namespace: place.namespaced ? namespace : '', name: owner.name }, rule);
  }
}

const told = (apiVersion: string): string => {
  const parsed = parseGroupVersion(apiVersion);
  return parsed === undefined ? apiVersion : formatGroupVersion(parsed);
};

const newlyBlocking = (before: readonly OwnerReference[], after: readonly OwnerReference[]): OwnerReference[] => {
  const blocked = new Set(before.filter(blocks).map(({ uid }) => uid));
  return after.filter((owner) => blocks(owner) && !blocked.has(owner.uid));
};

const blocks = (owner: OwnerReference): boolean => owner['blockOwnerDeletion'] === true;
