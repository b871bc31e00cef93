import { aggregateMessages } from '../../meta/index.ts';
import type { ObjectOf } from '../../schema/index.ts';
import { PersistentVolume, PersistentVolumeClaim, type Pod, type Volume } from '../../types/core-v1.ts';
import { CSIDriver } from '../../types/storage-v1.ts';
import { forbidden } from '../request.ts';
import type { AdmissionRequest, PluginInitializer } from '../types.ts';

type Initializer = Pick<PluginInitializer, 'names' | 'objects' | 'authorize'>;
type PodObject = ObjectOf<typeof Pod>;

/** The CSI drivers that volumes of earlier types are migrated to. */
const migrated = {
  awsElasticBlockStore: 'ebs.csi.aws.com',
  azureDisk: 'disk.csi.azure.com',
  azureFile: 'file.csi.azure.com',
  cinder: 'cinder.csi.openstack.org',
  gcePersistentDisk: 'pd.csi.storage.gke.io',
  portworxVolume: 'pxd.portworx.com',
  vsphereVolume: 'csi.vsphere.vmware.com',
} as const;
type Migrated = { readonly [source in keyof typeof migrated]?: unknown };

const driverOfMigrated = (volume: Migrated): string | undefined =>
  Object.entries(migrated).find(([source]) => volume[source as keyof Migrated] !== undefined)?.[1];

/**
 * A node may ask for a token of one audience: that of a token volume of the pod, of the CSI driver of one of its volumes,
 * or one for which the node has the verb `request-serviceaccounts-token-audience`. @throws StatusError 403 otherwise
 */
export async function requireAudience(
  initializer: Initializer,
  request: AdmissionRequest,
  pod: PodObject,
  audiences: readonly string[],
): Promise<void> {
  if (audiences.length > 1) throw forbidden(request, 'node may only request 0 or 1 audiences');
  const [audience = ''] = audiences;
  const audienceText = JSON.stringify(audience);
  const faults: string[] = [];
  for (const volume of pod.spec?.volumes ?? []) {
    const tokens = (volume.projected?.sources ?? []).flatMap(({ serviceAccountToken }) => serviceAccountToken ?? []);
    if (tokens.some((token) => (token.audience ?? '') === audience)) return;
    const found = await hasAudience(initializer, pod, volume, audience);
    if (found === true) return;
    if (found !== false) faults.push(found);
  }
  if (faults.length > 0) {
    throw forbidden(request, `error validating audience ${audienceText}: ${aggregateMessages(faults)}`);
  }
  const { user, namespace, name } = request;
  const verb = 'request-serviceaccounts-token-audience';
  const place = { group: '', version: 'v1', resource: audience, subresource: '', namespace, name };
  if ((await initializer.authorize(user, { verb, ...place })).allowed) return;
  const why = `${user.name} is not authorized to request tokens for this audience`;
  throw forbidden(request, `audience ${audienceText} not found in pod spec volume, ${why}`);
}

/** Whether the CSI driver of a volume gets tokens of the audience; a text: why that is not known. */
async function hasAudience(
  { objects, names }: Initializer,
  { metadata }: PodObject,
  volume: Volume,
  audience: string,
): Promise<boolean | string> {
  const claimed =
    volume.ephemeral?.volumeClaimTemplate === undefined
      ? volume.persistentVolumeClaim?.claimName
      : `${metadata.name ?? ''}-${volume.name ?? ''}`;
  let driver = volume.csi?.driver ?? driverOfMigrated(volume);
  if (claimed !== undefined) {
    const claim = await objects.get(PersistentVolumeClaim, metadata.namespace ?? '', claimed);
    if (claim === undefined) return `persistentvolumeclaim ${JSON.stringify(claimed)} not found`;
    const name = claim.spec?.volumeName ?? '';
    const persistent = await objects.get(PersistentVolume, '', name);
    if (persistent === undefined) return `persistentvolume ${JSON.stringify(name)} not found`;
    driver = persistent.spec?.csi?.driver ?? driverOfMigrated(persistent.spec ?? {});
  }
  if (!driver) return false;
  const found = await objects.get(CSIDriver, '', driver);
  if (found === undefined) return `csidriver.storage.${names.domain} ${JSON.stringify(driver)} not found`;
  return (found.spec?.tokenRequests ?? []).some((token) => (token.audience ?? '') === audience);
}
