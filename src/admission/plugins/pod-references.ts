// References of pods to other objects of the API.

import { allContainers } from '../../rules/index.ts';
import type { Container, EphemeralContainer, PodSpec, Volume } from '../../types/core-v1.ts';

/** The secrets that the environment of a container references, and how, as messages name it. */
export function secretsOfContainer({
  env = [],
  envFrom = [],
}: Container | EphemeralContainer): { readonly secret: string; readonly how: string }[] {
  const variables = env.flatMap(({ name = '', valueFrom }) => {
    const secret = valueFrom?.secretKeyRef?.name;
    return secret === undefined ? [] : [{ secret, how: `envVar ${name}` }];
  });
  const whole = envFrom.flatMap(({ secretRef }) =>
    secretRef === undefined ? [] : [{ secret: secretRef.name ?? '', how: 'envFrom' }],
  );
  return [...variables, ...whole];
}

/** Whether the source of a volume references a secret. */
const namesSecret = (volume: Volume): boolean => {
  const { azureFile, cephfs, cinder, csi, flexVolume, iscsi, rbd, scaleIO, secret, storageos } = volume;
  const withReference = [cephfs, cinder, flexVolume, iscsi, rbd, scaleIO, storageos];
  return (
    [secret?.secretName, azureFile?.secretName, csi?.nodePublishSecretRef].some((name) => name !== undefined) ||
    withReference.some((source) => source?.secretRef !== undefined)
  );
};

/** Whether a volume, a container or the pull of an image references a secret. */
export const referencesSecret = (spec: PodSpec): boolean =>
  (spec.volumes ?? []).some(namesSecret) ||
  sourcesOf(spec).some(({ secret }) => secret !== undefined) ||
  (spec.imagePullSecrets ?? []).length > 0 ||
  allContainers(spec).some((container) => secretsOfContainer(container).length > 0);

const sourcesOf = ({ volumes = [] }: PodSpec) => volumes.flatMap(({ projected }) => projected?.sources ?? []);

const referencesConfigMap = (spec: PodSpec): boolean =>
  (spec.volumes ?? []).some(({ configMap }) => configMap !== undefined) ||
  sourcesOf(spec).some(({ configMap }) => configMap !== undefined) ||
  allContainers(spec).some(
    ({ env = [], envFrom = [] }) =>
      env.some(({ valueFrom }) => valueFrom?.configMapKeyRef !== undefined) ||
      envFrom.some(({ configMapRef }) => configMapRef !== undefined),
  );

/** The object that a volume references, by the name of its source. */
const volumeReferences = {
  csi: 'csidrivers (via CSI volumes)',
  glusterfs: 'endpoints (via glusterFS volumes)',
  persistentVolumeClaim: 'persistentvolumeclaims',
  ephemeral: 'persistentvolumeclaims (via ephemeral volumes)',
  azureFile: 'secrets (via azureFile volumes)',
} as const;

/** The resource of an object that a pod references; undefined when it needs no object of the API. */
export function apiReference(spec: PodSpec): string | undefined {
  if (spec.serviceAccountName) return 'serviceaccounts';
  if (referencesSecret(spec)) return 'secrets';
  if (referencesConfigMap(spec)) return 'configmaps';
  if ((spec.resourceClaims ?? []).length > 0) return 'resourceclaims';
  for (const volume of spec.volumes ?? []) {
    for (const [source, reference] of Object.entries(volumeReferences)) {
      if (volume[source as keyof typeof volumeReferences] !== undefined) return reference;
    }
    for (const { serviceAccountToken, clusterTrustBundle } of volume.projected?.sources ?? []) {
      if (serviceAccountToken !== undefined) return 'serviceaccounts (via projected volumes)';
      if (clusterTrustBundle !== undefined) return 'clustertrustbundles';
    }
  }
  return undefined;
}
