/** Volumes are provisioned and deleted by external provisioners; the built-in ones of the reference are known by name. */
import { annotationOf } from '../../../meta/index.ts';
import * as kinds from '../../shared/kinds.ts';
import { messageOf } from '../../shared/pod-control.ts';
import type { Claim } from '../pod-claims.ts';
import { annotated, annotationsOf, type Binder } from './binder.ts';
import type { PersistentVolume } from './matching.ts';

/** Former built-in provisioners, below the prefix of built-in ones, and the drivers that have taken their place. */
const successors = new Map([
  ['aws-ebs', 'ebs.csi.aws.com'],
  ['azure-disk', 'disk.csi.azure.com'],
  ['azure-file', 'file.csi.azure.com'],
  ['cinder', 'cinder.csi.openstack.org'],
  ['gce-pd', 'pd.csi.storage.gke.io'],
  ['portworx-volume', 'pxd.portworx.com'],
  ['vsphere-volume', 'csi.vsphere.vmware.com'],
]);

/** The name of a built-in provisioner without its prefix; undefined for an external one. */
function builtIn({ names }: Binder, provisioner: string): string | undefined {
  const prefix = `${names.labels}/`;
  return provisioner.startsWith(prefix) ? provisioner.slice(prefix.length) : undefined;
}

/** Hands the claim over to the provisioner of its class, or says why there is none. */
export async function provision(binder: Binder, claim: Claim, className: string): Promise<void> {
  const { classes, events, names } = binder;
  const fail = (message: string) => events.record(claim, 'Warning', 'ProvisioningFailed', message);
  const storageClass = classes.get('', className);
  if (storageClass === undefined) return fail(`storageclass.storage.${names.domain} "${className}" not found`);
  const { provisioner = '' } = storageClass;
  const name = builtIn(binder, provisioner);
  const driver = name === undefined ? undefined : successors.get(name);
  if (name === 'nfs') return fail('no provisionable volume plugin matched');
  if (name !== undefined && name !== 'host-path' && driver === undefined) {
    return fail(`no volume plugin matched name: ${provisioner}`);
  }
  try {
    await setProvisioner(binder, claim, driver ?? provisioner);
  } catch (error) {
    if (name !== 'host-path') fail(`Error saving claim: ${messageOf(error)}`);
    throw error;
  }
  if (name === 'host-path') {
    return fail(`Failed to create provisioner: provisioning in volume plugin "${provisioner}" is disabled`);
  }
  const message =
    `Waiting for a volume to be created either by the external provisioner '${driver ?? provisioner}' ` +
    'or manually by the system administrator. If volume creation is delayed, please verify that ' +
    'the provisioner is running and correctly registered.';
  events.record(claim, 'Normal', 'ExternalProvisioning', message);
}

async function setProvisioner({ client, names }: Binder, claim: Claim, provisioner: string): Promise<void> {
  const { provisioners } = annotationsOf(names);
  if (annotationOf(claim, provisioners.at(-1) ?? '') === provisioner) return;
  const changes = Object.fromEntries(provisioners.map((key) => [key, provisioner]));
  await client.kind(kinds.persistentVolumeClaims).update(annotated(claim, changes));
}

/**
 * Why a released volume cannot be deleted here; 'external': its driver deletes it, undefined: nothing remains of it but
 * the object.
 */
export function deletionOf(binder: Binder, volume: PersistentVolume): 'external' | Error | undefined {
  const { provisionedBy, migratedTo } = annotationsOf(binder.names);
  const provisioner = annotationOf(volume, provisionedBy) ?? '';
  const name = builtIn(binder, provisioner);
  if (provisioner !== '') {
    if (name === undefined) return 'external';
    if (name === 'nfs') return new Error('no deletable volume plugin matched');
    if (name !== 'host-path') return new Error(`no volume plugin matched name: ${provisioner}`);
  } else {
    if (annotationOf(volume, migratedTo) !== undefined || volume.spec?.csi !== undefined) return 'external';
    const reason = volume.spec?.nfs ? 'no deletable volume plugin matched' : 'no volume plugin matched';
    const text = `error getting deleter volume plugin for volume "${volume.metadata.name}": ${reason}`;
    if (!volume.spec?.hostPath) return new Error(text);
  }
  const { path = '' } = volume.spec?.hostPath ?? {};
  if (/^\/tmp\/.+/.test(path)) return undefined;
  return new Error(`host_path deleter only supports /tmp/.+ but received provided ${path}`);
}
