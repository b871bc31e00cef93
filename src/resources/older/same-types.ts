/** Beta versions whose fields are those of the stable version. */
import type { Lifecycle } from '../../registry/index.ts';
import type { StructSchema } from '../../schema/index.ts';
import * as apiregistrationV1 from '../../types/apiregistration-v1.ts';
import * as batchV1 from '../../types/batch-v1.ts';
import * as coordinationV1 from '../../types/coordination-v1.ts';
import * as nodeV1 from '../../types/node-v1.ts';
import * as rbacV1 from '../../types/rbac-v1.ts';
import * as schedulingV1 from '../../types/scheduling-v1.ts';
import * as storageV1 from '../../types/storage-v1.ts';
import type { OlderKind } from './declare.ts';
import { typesIn } from './types.ts';

type Releases = readonly [Lifecycle['introduced'], Lifecycle['introduced'], Lifecycle['introduced']];

/** A beta version of a kind, and the releases that introduce, deprecate and remove it. */
function v1beta1(group: string, plural: string, schema: StructSchema, releases: Releases): OlderKind {
  const [introduced, deprecated, removed] = releases;
  return { group, plural, versions: [{ version: 'v1beta1', schema, lifecycle: { introduced, deprecated, removed } }] };
}

const apiregistration = typesIn('apiregistration/v1beta1');
const batch = typesIn('batch/v1beta1', {}, [batchV1.JobSpec]);
const coordination = typesIn('coordination/v1beta1');
const node = typesIn('node/v1beta1');
const scheduling = typesIn('scheduling/v1beta1');
const { volumeLifecycleModes } = storageV1.CSIDriverSpec.fields;
const storage = typesIn('storage/v1beta1', {
  CSIDriverSpec: {
    ...storageV1.CSIDriverSpec.fields,
    volumeLifecycleModes: { ...volumeLifecycleModes, listType: 'atomic' },
  },
});

const rbacGroup = 'rbac.authorization.{domain}';
const rbac = typesIn('rbac/v1beta1', { Subject: rbacV1.Subject.fields, RoleRef: rbacV1.RoleRef.fields });

const storageGroup = 'storage.{domain}';

export const sameTypes: readonly OlderKind[] = [
  v1beta1('apiregistration.{domain}', 'apiservices', apiregistration(apiregistrationV1.APIService), [
    '1.7',
    '1.19',
    '1.22',
  ]),
  v1beta1('batch', 'cronjobs', batch(batchV1.CronJob), ['1.8', '1.21', '1.25']),
  v1beta1('coordination.{domain}', 'leases', coordination(coordinationV1.Lease), ['1.12', '1.19', '1.22']),
  v1beta1('node.{domain}', 'runtimeclasses', node(nodeV1.RuntimeClass), ['1.13', '1.22', '1.25']),
  v1beta1(rbacGroup, 'clusterrolebindings', rbac(rbacV1.ClusterRoleBinding), ['1.6', '1.17', '1.22']),
  v1beta1(rbacGroup, 'clusterroles', rbac(rbacV1.ClusterRole), ['1.6', '1.17', '1.22']),
  v1beta1(rbacGroup, 'rolebindings', rbac(rbacV1.RoleBinding), ['1.6', '1.17', '1.22']),
  v1beta1(rbacGroup, 'roles', rbac(rbacV1.Role), ['1.6', '1.17', '1.22']),
  v1beta1('scheduling.{domain}', 'priorityclasses', scheduling(schedulingV1.PriorityClass), ['1.11', '1.14', '1.22']),
  v1beta1(storageGroup, 'csidrivers', storage(storageV1.CSIDriver), ['1.14', '1.19', '1.22']),
  v1beta1(storageGroup, 'csinodes', storage(storageV1.CSINode), ['1.14', '1.17', '1.22']),
  v1beta1(storageGroup, 'csistoragecapacities', storage(storageV1.CSIStorageCapacity), ['1.21', '1.24', '1.27']),
  v1beta1(storageGroup, 'storageclasses', storage(storageV1.StorageClass), ['1.4', '1.19', '1.22']),
  v1beta1(storageGroup, 'volumeattachments', storage(storageV1.VolumeAttachment), ['1.10', '1.19', '1.22']),
];
