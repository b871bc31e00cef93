import { formatGroupVersion, jsonEqual, type OwnerReference, parseGroupVersion } from '../../meta/index.ts';
import { forbidden } from '../request.ts';
import type { AdmissionPlugin, AdmissionRequest, PluginInitializer, ResourceAttributes } from '../types.ts';

type Initializer = Pick<PluginInitializer, 'authorize' | 'findKind'>;

/**
 * Changing owner references needs the permission to delete the object; setting `blockOwnerDeletion` needs the
 * permission to update the finalizers of the owner.
 */
export function ownerReferencesPermission(initializer: Initializer): AdmissionPlugin {
  return {
    name: 'OwnerReferencesPermissionEnforcement',
    handles: ({ operation, resource, subresource }) =>
      (operation === 'CREATE' || operation === 'UPDATE') && !(resource === 'pods' && subresource === 'status'),
    validate: (request) => {
      const before = request.oldObject?.metadata.ownerReferences ?? [];
      const after = request.object?.metadata.ownerReferences ?? [];
      if (jsonEqual(before, after)) return;
      return check(initializer, request, before, after);
    },
  };
}

async function check(
  { authorize, findKind }: Initializer,
  request: AdmissionRequest,
  before: readonly OwnerReference[],
  after: readonly OwnerReference[],
): Promise<void> {
  const requirePermission = async (attributes: ResourceAttributes, rule: string) => {
    const { allowed, reason } = await authorize(request.user, attributes);
    if (!allowed) throw forbidden(request, `${rule}: ${reason}, <nil>`);
  };
  const { resource, subresource, namespace, name, operation } = request;
  if (operation !== 'CREATE') {
    const attributes = { ...resource, verb: 'delete', subresource, namespace, name };
    await requirePermission(attributes, "cannot set an ownerRef on a resource you can't delete");
  }
  for (const owner of newBlockingReferences(before, after)) {
    const { apiVersion, kind } = owner;
    const place = findKind(apiVersion, kind);
    if (place === undefined) {
      const why = `no matches for kind ${JSON.stringify(kind)} in version ${JSON.stringify(formatApiVersion(apiVersion))}`;
      const what = `cannot find RESTMapping for APIVersion ${apiVersion} Kind ${kind}`;
      throw forbidden(request, `cannot set blockOwnerDeletion in this case because ${what}: ${why}`);
    }
    const { group, version } = place;
    const attributes = { verb: 'update', group, version, resource: place.resource, subresource: 'finalizers' };
    const rule = "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on";
    await requirePermission({ ...attributes, namespace: place.namespaced ? namespace : '', name: owner.name }, rule);
  }
}

const formatApiVersion = (apiVersion: string): string => {
  const parsed = parseGroupVersion(apiVersion);
  return parsed === undefined ? apiVersion : formatGroupVersion(parsed);
};

const newBlockingReferences = (
  before: readonly OwnerReference[],
  after: readonly OwnerReference[],
): OwnerReference[] => {
  const blocked = new Set(before.filter(blocksOwnerDeletion).map(({ uid }) => uid));
  return after.filter((owner) => blocksOwnerDeletion(owner) && !blocked.has(owner.uid));
};

const blocksOwnerDeletion = (owner: OwnerReference): boolean => owner['blockOwnerDeletion'] === true;
