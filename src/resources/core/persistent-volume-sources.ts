/** Validation of the sources of persistent volumes. */
import { dns1123Label, dns1123Subdomain, type FieldError, fieldError } from '../../meta/index.ts';
import type { Infer } from '../../schema/index.ts';
import type { PersistentVolumeSource } from '../../types/core-v1.ts';
import { sourceRules, validateIscsi } from '../pod-template/volume-sources.ts';
import { refusedAs } from '../pod-template/volumes.ts';
import { byRule, noBacksteps, type PodSpecContext } from '../shared/field-rules.ts';

type Source = Infer<typeof PersistentVolumeSource>;
export type SourceName = keyof Source;
type Rule = (source: never, path: string, context: VolumeContext) => FieldError[];

/** The context of the validation of a source. */
interface VolumeContext extends PodSpecContext {
  /** Name of the volume; empty for an inline volume. */
  readonly volume: string;
  /** Whether the volume has a node affinity. */
  readonly bound: boolean;
}

/** In the order in which validation looks for the source. */
export const persistentSources: readonly SourceName[] = [
  'hostPath',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'glusterfs',
  'flocker',
  'nfs',
  'rbd',
  'quobyte',
  'cephfs',
  'iscsi',
  'cinder',
  'fc',
  'flexVolume',
  'azureFile',
  'vsphereVolume',
  'photonPersistentDisk',
  'portworxVolume',
  'azureDisk',
  'scaleIO',
  'local',
  'storageos',
  'csi',
];
const MAX_PORTAL = 64;
const MAX_DRIVER = 63;

const required = (value: string | undefined, path: string): FieldError[] => (value ? [] : [fieldError.required(path)]);

interface SecretReference {
  name?: string;
  namespace?: string;
}

/** Validates a secret reference: name and namespace are required. */
const secret = (ref: SecretReference | undefined, path: string): FieldError[] =>
  ref === undefined ? [] : [...required(ref.name, `${path}.name`), ...required(ref.namespace, `${path}.namespace`)];

/** Validates a secret reference with valid names. */
const namedSecret = (ref: SecretReference | undefined, path: string): FieldError[] => [
  ...secret(ref, path),
  ...(ref?.name ? byRule(`${path}.name`, ref.name, dns1123Subdomain) : []),
  ...(ref?.namespace ? byRule(`${path}.namespace`, ref.namespace, dns1123Label) : []),
];

type OwnRules = {
  readonly [N in SourceName]?: (source: NonNullable<Source[N]>, path: string, context: VolumeContext) => FieldError[];
};

/** The validation of sources that differ from those of pods. */
const own: OwnRules = {
  cinder: ({ secretRef }, path) => secret(secretRef, `${path}.secretRef`),
  glusterfs: ({ endpointsNamespace: namespace }, path) => {
    const at = `${path}.endpointsNamespace`;
    if (namespace === undefined) return [];
    if (namespace !== '') return byRule(at, namespace, dns1123Label);
    return [fieldError.invalid(at, '', 'if the endpointnamespace is set, it must be a valid namespace name')];
  },
  iscsi: (source, path, { volume }) => {
    const { targetPortal: portal = '', initiatorName, secretRef } = source;
    const errors: FieldError[] = [];
    if (initiatorName !== undefined && Buffer.byteLength(`${volume}:${portal}`) > MAX_PORTAL) {
      const why =
        'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.';
      errors.push(fieldError.invalid(`${path}.targetportal`, portal, why));
    }
    errors.push(...validateIscsi(source, path, 'must be valid format'));
    return secretRef === undefined ? errors : [...errors, ...required(secretRef.name, `${path}.secretRef.name`)];
  },
  azureFile: ({ secretNamespace: namespace }, path) =>
    namespace === '' ? [fieldError.required(`${path}.secretNamespace`)] : [],
  local: ({ path = '' }, at) => noBacksteps(`${at}.path`, path),
  storageos: ({ secretRef, volumeName = '', volumeNamespace = '' }, path) => [
    ...required(volumeName, `${path}.volumeName`),
    ...(volumeName === '' ? [] : byRule(`${path}.volumeName`, volumeName, dns1123Label)),
    ...(volumeNamespace === '' ? [] : byRule(`${path}.volumeNamespace`, volumeNamespace, dns1123Label)),
    ...secret(secretRef, `${path}.secretRef`),
  ],
  csi: (source, path) => [
    ...validateDriverName(source.driver ?? '', `${path}.driver`),
    ...namedSecret(source.controllerPublishSecretRef, `${path}.controllerPublishSecretRef`),
    ...namedSecret(source.controllerExpandSecretRef, `${path}.controllerExpandSecretRef`),
    ...namedSecret(source.nodePublishSecretRef, `${path}.nodePublishSecretRef`),
    ...namedSecret(source.nodeExpandSecretRef, `${path}.nodeExpandSecretRef`),
  ],
};

/** Validates the name of a CSI driver, unless it is empty. */
export function validateDriverName(name: string, path: string): FieldError[] {
  if (name === '') return [];
  const errors = Buffer.byteLength(name) > MAX_DRIVER ? [fieldError.tooLong(path, MAX_DRIVER)] : [];
  for (const why of dns1123Subdomain(name.toLowerCase())) errors.push(fieldError.invalid(path, name, why));
  return errors;
}

/** Requires exactly one source; every source after the first is rejected. */
export function validateSources(spec: Source, path: string, context: VolumeContext): FieldError[] {
  const [first, ...more] = persistentSources.filter((name) => spec[name] !== undefined);
  if (first === undefined) return [fieldError.required(path, 'must specify a volume type')];
  const rule = (own[first] ?? sourceRules[first as keyof typeof sourceRules]) as Rule | undefined;
  return [
    ...(rule?.(spec[first] as never, `${path}.${first}`, context) ?? []),
    ...(first === 'local' && !context.bound
      ? [fieldError.required(`${path}.nodeAffinity`, 'Local volume requires node affinity')]
      : []),
    ...more.map((name) =>
      fieldError.forbiddenSubtree(
        `${path}.${refusedAs[name] ?? name}`,
        'may not specify more than 1 volume type',
        `${path}.${name}`,
      ),
    ),
  ];
}
