import { allContainers } from '../../rules/index.ts';
import type { Container, EphemeralContainer, PersistentVolumeSpec, Pod, PodSpec, Volume } from '../../types/core-v1.ts';
import type { Reference, ReferencedResource } from './node-graph.ts';

type Names = readonly (string | undefined)[];

/** The objects that a pod references, which its node may read. Mirror pods reference nothing. */
export function podReferences(
  { metadata, spec = {}, status }: Pick<Pod, 'metadata' | 'spec' | 'status'>,
  mirrorAnnotation: string,
): Reference[] {
  const { namespace = '', name: pod = '', annotations = {} } = metadata ?? {};
  if (Object.hasOwn(annotations, mirrorAnnotation)) return [];
  const { volumes = [], serviceAccountName, imagePullSecrets = [], resourceClaims = [] } = spec;
  const containers = allContainers(spec as PodSpec);
  const sources = volumes.flatMap(({ projected }) => projected?.sources ?? []);
  const created = new Map((status?.resourceClaimStatuses ?? []).map((one) => [one.name, one.resourceClaimName]));
  const all = (resource: ReferencedResource, names: Names): Reference[] =>
    names.flatMap((name) => (name ? [{ resource, namespace, name }] : []));
  return [
    ...all('serviceaccounts', [serviceAccountName]),
    ...all('secrets', [
      ...imagePullSecrets.map(({ name }) => name),
      ...containers.flatMap(secretsOfContainer),
      ...volumes.flatMap(secretsOfVolume),
      ...sources.map(({ secret }) => secret?.name),
    ]),
    ...all('configmaps', [
      ...containers.flatMap(configMapsOfContainer),
      ...volumes.map(({ configMap }) => configMap?.name),
      ...sources.map(({ configMap }) => configMap?.name),
    ]),
    ...all(
      'persistentvolumeclaims',
      volumes.map((volume) => claimOf(volume, pod)),
    ),
    ...all(
      'resourceclaims',
      resourceClaims.map(({ name, resourceClaimName }) => resourceClaimName ?? created.get(name)),
    ),
  ];
}

const secretsOfContainer = ({ env = [], envFrom = [] }: Container | EphemeralContainer): Names => [
  ...env.map(({ valueFrom }) => valueFrom?.secretKeyRef?.name),
  ...envFrom.map(({ secretRef }) => secretRef?.name),
];

const configMapsOfContainer = ({ env = [], envFrom = [] }: Container | EphemeralContainer): Names => [
  ...env.map(({ valueFrom }) => valueFrom?.configMapKeyRef?.name),
  ...envFrom.map(({ configMapRef }) => configMapRef?.name),
];

const secretsOfVolume = (volume: Volume): Names => {
  const { azureFile, cephfs, cinder, csi, flexVolume, iscsi, rbd, scaleIO, secret, storageos } = volume;
  const references = [cephfs, cinder, flexVolume, iscsi, rbd, scaleIO, storageos].map((source) => source?.secretRef);
  return [
    secret?.secretName,
    azureFile?.secretName,
    csi?.nodePublishSecretRef?.name,
    ...references.map((one) => one?.name),
  ];
};

/** The claim of a volume; a generic ephemeral volume has one that is named after the pod. */
const claimOf = ({ name, persistentVolumeClaim, ephemeral }: Volume, pod: string): string | undefined =>
  ephemeral ? `${pod}-${name}` : persistentVolumeClaim?.claimName;

/** The claim for which a volume is, and the secrets with which a node mounts it. */
export function volumeReferences(spec: PersistentVolumeSpec): {
  readonly claim: Reference | undefined;
  readonly secrets: readonly Reference[];
} {
  const { namespace = '', name = '' } = spec.claimRef ?? {};
  if (name === '') return { claim: undefined, secrets: [] };
  const { azureFile, cephfs, cinder, csi, flexVolume, iscsi, rbd, scaleIO, storageos } = spec;
  const found = [
    azureFile && { name: azureFile.secretName, namespace: azureFile.secretNamespace ?? undefined },
    ...[cephfs, cinder, flexVolume, iscsi, rbd, scaleIO, storageos].map((source) => source?.secretRef),
    ...[csi?.nodePublishSecretRef, csi?.nodeStageSecretRef, csi?.nodeExpandSecretRef],
  ];
  const secrets = found.flatMap((secret) =>
    secret?.name ? [{ resource: 'secrets' as const, namespace: secret.namespace || namespace, name: secret.name }] : [],
  );
  return { claim: { resource: 'persistentvolumeclaims', namespace, name }, secrets };
}
