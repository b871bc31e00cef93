import { describe, expect, it } from 'vitest';
import type { PersistentVolumeSpec, PodSpec } from '../../types/core-v1.ts';
import { podReferences, volumeReferences } from './references.ts';

const mirror = 'kubernetes.io/config.mirror';
/** The references of a pod `p` in the namespace `a`, as text. */
const of = (spec: PodSpec, more: object = {}) =>
  podReferences({ metadata: { namespace: 'a', name: 'p' }, spec, ...more }, mirror).map(
    ({ resource, namespace, name }) => `${resource} ${namespace}/${name}`,
  );
const container = (more: object) => ({ containers: [{ name: 'c', ...more }] }) as PodSpec;
const volume = (source: object) => ({ containers: [], volumes: [{ name: 'v', ...source }] }) as PodSpec;

describe('a pod refers to', () => {
  it.each<[string, PodSpec, string[]]>([
    ['its account', { containers: [], serviceAccountName: 'bot' }, ['serviceaccounts a/bot']],
    ['secrets for images', { containers: [], imagePullSecrets: [{ name: 's' }] }, ['secrets a/s']],
    [
      'a secret in a variable',
      container({ env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 's' } } }] }),
      ['secrets a/s'],
    ],
    ['a secret as variables', container({ envFrom: [{ secretRef: { name: 's' } }] }), ['secrets a/s']],
    [
      'a config map in a variable',
      container({ env: [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'm' } } }] }),
      ['configmaps a/m'],
    ],
    ['a config map as variables', container({ envFrom: [{ configMapRef: { name: 'm' } }] }), ['configmaps a/m']],
    [
      'a secret of an init container and of an ephemeral container',
      {
        containers: [],
        initContainers: [{ name: 'i', envFrom: [{ secretRef: { name: 's' } }] }],
        ephemeralContainers: [{ name: 'e', envFrom: [{ secretRef: { name: 't' } }] }],
      } as PodSpec,
      ['secrets a/s', 'secrets a/t'],
    ],
    ['a secret volume', volume({ secret: { secretName: 's' } }), ['secrets a/s']],
    ['a config map volume', volume({ configMap: { name: 'm' } }), ['configmaps a/m']],
    [
      'the sources of a projected volume',
      volume({
        projected: {
          sources: [{ secret: { name: 's' } }, { configMap: { name: 'm' } }, { serviceAccountToken: { path: 't' } }],
        },
      }),
      ['secrets a/s', 'configmaps a/m'],
    ],
    ['a claim', volume({ persistentVolumeClaim: { claimName: 'c' } }), ['persistentvolumeclaims a/c']],
    ['the claim of an ephemeral volume', volume({ ephemeral: {} }), ['persistentvolumeclaims a/p-v']],
    ['nothing by an empty name', volume({ secret: { secretName: '' } }), []],
    ...['cephfs', 'cinder', 'flexVolume', 'iscsi', 'rbd', 'scaleIO', 'storageos'].map(
      (source): [string, PodSpec, string[]] => [
        `the secret of ${source}`,
        volume({ [source]: { secretRef: { name: 's' } } }),
        ['secrets a/s'],
      ],
    ),
    ['the secret of azureFile', volume({ azureFile: { secretName: 's' } }), ['secrets a/s']],
    ['the secret of csi', volume({ csi: { nodePublishSecretRef: { name: 's' } } }), ['secrets a/s']],
  ])('%s', (_, spec, expected) => {
    expect(of(spec)).toEqual(expected);
  });

  it('the claims of devices that it names, and those that were made for it', () => {
    const spec = {
      containers: [],
      resourceClaims: [{ name: 'a', resourceClaimName: 'x' }, { name: 'b' }, { name: 'c' }],
    };
    const status = { resourceClaimStatuses: [{ name: 'b', resourceClaimName: 'made' }] };
    expect(of(spec, { status })).toEqual(['resourceclaims a/x', 'resourceclaims a/made']);
  });

  it('nothing as a mirror pod', () => {
    const metadata = { namespace: 'a', name: 'p', annotations: { [mirror]: 'x' } };
    expect(of({ containers: [], imagePullSecrets: [{ name: 's' }] }, { metadata })).toEqual([]);
  });
});

describe('a volume has', () => {
  const claimRef = { namespace: 'a', name: 'c' };
  const secretsOf = (spec: object) =>
    volumeReferences({ claimRef, ...spec } as PersistentVolumeSpec).secrets.map(
      ({ namespace, name }) => `${namespace}/${name}`,
    );

  it.each([
    ['the namespace of its claim', { rbd: { secretRef: { name: 's' } } }, ['a/s']],
    ['a namespace of its own', { rbd: { secretRef: { name: 's', namespace: 'b' } } }, ['b/s']],
    ['azureFile', { azureFile: { secretName: 's', secretNamespace: 'b' } }, ['b/s']],
    ['azureFile without a namespace', { azureFile: { secretName: 's' } }, ['a/s']],
    [
      'csi: those for the node only',
      {
        csi: {
          nodePublishSecretRef: { name: 'p', namespace: 'b' },
          nodeStageSecretRef: { name: 's', namespace: 'b' },
          nodeExpandSecretRef: { name: 'e', namespace: 'b' },
          controllerPublishSecretRef: { name: 'x', namespace: 'b' },
          controllerExpandSecretRef: { name: 'y', namespace: 'b' },
        },
      },
      ['b/p', 'b/s', 'b/e'],
    ],
  ])('the secrets of its source: %s', (_, spec, expected) => {
    expect(secretsOf(spec)).toEqual(expected);
  });

  it('its claim, and nothing without one', () => {
    expect(volumeReferences({ claimRef } as PersistentVolumeSpec).claim).toEqual({
      resource: 'persistentvolumeclaims',
      ...claimRef,
    });
    const spec = { rbd: { secretRef: { name: 's' } } };
    expect(volumeReferences(spec as PersistentVolumeSpec)).toEqual({ claim: undefined, secrets: [] });
  });
});
