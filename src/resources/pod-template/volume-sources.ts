import { dns1123Label, dns1123Subdomain, type FieldError, fieldError, parseQuantity } from '../../meta/index.ts';
import type { Infer } from '../../schema/index.ts';
import {
  type CSIVolumeSource,
  type FCVolumeSource,
  hostPathTypes,
  type ISCSIVolumeSource,
  type KeyToPath,
  type QuobyteVolumeSource,
  type StorageOSVolumeSource,
  type VolumeSource,
} from '../../types/core-v1.ts';
import {
  byRule,
  descendingPath,
  eachOf,
  fileMode,
  localPath,
  noBacksteps,
  oneOf,
  type PodSpecContext,
  within,
} from '../shared/field-rules.ts';
import { validateDownwardFile, validateProjected } from './projected-volumes.ts';
import { validateClaimTemplate } from './volume-claim-template.ts';

export type SourceName = keyof VolumeSource;

/** In the order in which validation looks for the source. */
export const sourceNames: readonly SourceName[] = [
  'emptyDir',
  'hostPath',
  'gitRepo',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'secret',
  'nfs',
  'iscsi',
  'glusterfs',
  'flocker',
  'persistentVolumeClaim',
  'rbd',
  'cinder',
  'cephfs',
  'quobyte',
  'downwardAPI',
  'fc',
  'flexVolume',
  'configMap',
  'azureFile',
  'vsphereVolume',
  'photonPersistentDisk',
  'portworxVolume',
  'azureDisk',
  'storageos',
  'projected',
  'scaleIO',
  'csi',
  'ephemeral',
  'image',
];

type Rules = {
  readonly [N in SourceName]?: (
    source: NonNullable<VolumeSource[N]>,
    path: string,
    context: PodSpecContext,
  ) => FieldError[];
};

const pullPolicies = ['Always', 'IfNotPresent', 'Never'];

/** The validation of each volume source beyond its schema. */
export const sourceRules: Rules = {
  emptyDir: ({ sizeLimit }, path) =>
    sizeLimit !== undefined && parseQuantity(sizeLimit).nano < 0n
      ? [fieldError.forbidden(`${path}.sizeLimit`, 'SizeLimit field must be a valid resource quantity')]
      : [],
  hostPath: ({ path = '', type = '' }, at) =>
    path === '' ? [] : [...noBacksteps(`${at}.path`, path), ...oneOf(`${at}.type`, type, hostPathTypes)],
  gitRepo: ({ directory = '' }, path) => descendingPath(`${path}.directory`, directory),
  gcePersistentDisk: ({ pdName = '', partition = 0 }, path) => {
    // The reference server reports this source under another field name.
    const at = path.replace(/[^.]*$/, 'persistentDisk');
    return [...(pdName === '' ? [fieldError.required(`${at}.pdName`)] : []), ...validatePartition(partition, at)];
  },
  awsElasticBlockStore: ({ partition = 0 }, path) => validatePartition(partition, path),
  secret: ({ secretName = '', defaultMode, items }, path) => [
    ...(secretName === '' ? [fieldError.required(`${path}.secretName`)] : []),
    ...fileMode(`${path}.defaultMode`, defaultMode),
    ...validateItems(items, `${path}.items`),
  ],
  configMap: ({ name = '', defaultMode, items }, path) => [
    ...(name === '' ? [fieldError.required(`${path}.name`)] : []),
    ...fileMode(`${path}.defaultMode`, defaultMode),
    ...validateItems(items, `${path}.items`),
  ],
  nfs: ({ path = '' }, at) =>
    path.startsWith('/') ? [] : [fieldError.invalid(`${at}.path`, path, 'must be an absolute path')],
  iscsi: (source, path) => validateIscsi(source, path),
  flocker: ({ datasetName = '', datasetUUID = '' }, path) => {
    const errors: FieldError[] = [];
    if (datasetName === '' && datasetUUID === '') {
      errors.push(fieldError.required(path, 'one of datasetName and datasetUUID is required'));
    }
    if (datasetName !== '' && datasetUUID !== '') {
      const why = 'datasetName and datasetUUID can not be specified simultaneously';
      errors.push(fieldError.invalid(path, 'resource', why));
    }
    if (datasetName.includes('/')) {
      errors.push(fieldError.invalid(`${path}.datasetName`, datasetName, "must not contain '/'"));
    }
    return errors;
  },
  cinder: ({ secretRef }, path) => validateSecretRef(secretRef, `${path}.secretRef`),
  quobyte: validateQuobyte,
  downwardAPI: ({ defaultMode, items }, path) => [
    ...fileMode(`${path}.defaultMode`, defaultMode),
    ...(items ?? []).flatMap((file) => validateDownwardFile(file, path)),
  ],
  fc: validateFibre,
  flexVolume: ({ options }, path, { names }) =>
    Object.keys(options ?? {}).flatMap((key) => {
      const domain = `.${(key.split('/', 1)[0] as string).toLowerCase()}`;
      const reserved = [names.labels, names.domain];
      if (!reserved.some((own) => domain.endsWith(`.${own}`))) return [];
      return [fieldError.invalid(`${path}.options[${key}]`, key, `${reserved.join(' and ')} namespaces are reserved`)];
    }),
  azureDisk: ({ kind = '', diskURI = '' }, path) => {
    const managed = kind === 'Managed';
    const prefix = managed ? '/subscriptions/' : 'https://';
    const form = managed
      ? '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}'
      : 'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd';
    return diskURI.startsWith(prefix) ? [] : [fieldError.notSupported(`${path}.diskURI`, diskURI, [form])];
  },
  storageos: validateStorageOs,
  projected: validateProjected,
  scaleIO: ({ volumeName = '' }, path) => (volumeName === '' ? [fieldError.required(`${path}.volumeName`)] : []),
  csi: validateCsi,
  ephemeral: ({ volumeClaimTemplate: template }, path, { names }) =>
    template === undefined
      ? [fieldError.required(`${path}.volumeClaimTemplate`)]
      : validateClaimTemplate(template, `${path}.volumeClaimTemplate`, names),
  image: ({ reference = '', pullPolicy = '' }, path, { pod }) => [
    ...(reference === '' && pod !== undefined ? [fieldError.required(`${path}.reference`)] : []),
    ...oneOf(`${path}.pullPolicy`, pullPolicy, pullPolicies),
  ],
};

const validatePartition = (partition: number, path: string): FieldError[] =>
  partition === 0 ? [] : within(`${path}.partition`, partition, 1, 255);

/** Validates `items`: keys and their paths. */
const validateItems = (items: readonly Infer<typeof KeyToPath>[] | undefined, path: string): FieldError[] =>
  eachOf(items, path, ({ path: file = '', mode }, at) => [
    ...localPath(`${at}.path`, file),
    ...fileMode(`${at}.mode`, mode),
  ]);

const validateSecretRef = (ref: { name?: string } | undefined, path: string): FieldError[] =>
  ref !== undefined && !ref.name ? [fieldError.required(`${path}.name`)] : [];

const initiators: readonly (readonly [prefix: string, form: RegExp])[] = [
  ['iqn', /iqn\.\d{4}-\d{2}\.([a-zA-Z0-9.-]+)(:[^,;*&$|\s]+)$/],
  ['eui', /^eui.[a-zA-Z0-9]{16}$/],
  ['naa', /^naa.[a-zA-Z0-9]{32}$/],
];

function validateInitiator(name: string, path: string, unknown: string): FieldError[] {
  const form = initiators.find(([prefix]) => name.startsWith(prefix));
  if (form === undefined) return [fieldError.invalid(path, name, unknown)];
  return name.length <= 1024 && form[1].test(name) ? [] : [fieldError.invalid(path, name, 'must be valid format')];
}

/**
 * Validates an iSCSI source, of a pod or of a persistent volume; `unknown` is the message for an IQN of no known
 * format.
 */
export function validateIscsi(
  source: Infer<typeof ISCSIVolumeSource>,
  path: string,
  unknown = 'must be valid format starting with iqn, eui, or naa',
): FieldError[] {
  const { iqn = '', initiatorName: initiator } = source;
  const errors = iqn === '' ? [] : validateInitiator(iqn, `${path}.iqn`, unknown);
  if ((source.chapAuthDiscovery === true || source.chapAuthSession === true) && source.secretRef === undefined) {
    errors.push(fieldError.required(`${path}.secretRef`));
  }
  return initiator === undefined
    ? errors
    : [...errors, ...validateInitiator(initiator, `${path}.initiatorname`, unknown)];
}

function validateQuobyte(
  { registry = '', tenant = '' }: Infer<typeof QuobyteVolumeSource>,
  path: string,
): FieldError[] {
  const why = 'must be a host:port pair or multiple pairs separated by commas';
  if (registry === '') return [fieldError.required(`${path}.registry`, why)];
  if (Buffer.byteLength(tenant) >= 65) {
    return [fieldError.required(`${path}.tenant`, 'must be a UUID and may not exceed a length of 64 characters')];
  }
  return registry
    .split(',')
    .filter((pair) => !/^(?:[^:[\]]*|\[[^[\]]*\]):[^:[\]]*$/.test(pair))
    .map(() => fieldError.invalid(`${path}.registry`, registry, why));
}

function validateFibre({ targetWWNs = [], wwids = [], lun }: Infer<typeof FCVolumeSource>, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (targetWWNs.length === 0 && wwids.length === 0) {
    errors.push(fieldError.required(`${path}.targetWWNs`, 'must specify either targetWWNs or wwids, but not both'));
  }
  if (targetWWNs.length > 0 && wwids.length > 0) {
    const why = 'targetWWNs and wwids can not be specified simultaneously';
    errors.push(fieldError.invalid(`${path}.targetWWNs`, targetWWNs, why));
  }
  if (targetWWNs.length === 0) return errors;
  if (lun === undefined) errors.push(fieldError.required(`${path}.lun`, 'lun is required if targetWWNs is specified'));
  else errors.push(...within(`${path}.lun`, lun, 0, 255));
  return errors;
}

function validateStorageOs(source: Infer<typeof StorageOSVolumeSource>, path: string): FieldError[] {
  const { volumeName = '', volumeNamespace = '' } = source;
  return [
    ...(volumeName === ''
      ? [fieldError.required(`${path}.volumeName`)]
      : byRule(`${path}.volumeName`, volumeName, dns1123Label)),
    ...(volumeNamespace === '' ? [] : byRule(`${path}.volumeNamespace`, volumeNamespace, dns1123Label)),
    ...validateSecretRef(source.secretRef, `${path}.secretRef`),
  ];
}

const MAX_DRIVER = 63;

function validateCsi(
  { driver = '', nodePublishSecretRef: ref }: Infer<typeof CSIVolumeSource>,
  path: string,
): FieldError[] {
  const errors: FieldError[] = [];
  if (Buffer.byteLength(driver) > MAX_DRIVER) errors.push(fieldError.tooLong(`${path}.driver`, MAX_DRIVER));
  if (driver !== '') {
    for (const why of dns1123Subdomain(driver.toLowerCase())) {
      errors.push(fieldError.invalid(`${path}.driver`, driver, why));
    }
  }
  errors.push(...validateSecretRef(ref, `${path}.nodePublishSecretRef`));
  return ref?.name ? [...errors, ...byRule(`${path}.name`, ref.name, dns1123Subdomain)] : errors;
}
