import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../meta/index.ts';
import { createChain, runMutating } from '../chain.ts';
import { fakeInitializer, old, outcome, podOf, requestFor, stored } from '../testing/initializer.ts';
import { serviceAccount } from './service-account.ts';

const create = (pod: JsonObject, account: JsonObject = {}, name = 'default') =>
  outcome(serviceAccount(fakeInitializer([stored('serviceaccounts', name, account, 'n')])), requestFor('pods', pod));
const mount = {
  name: 'kube-api-access-bbbbb',
  readOnly: true,
  mountPath: '/var/run/secrets/kubernetes.io/serviceaccount',
};

describe('ServiceAccount', () => {
  it('sets the default service account and mounts its token into all containers', async () => {
    expect(await create(podOf({}, { initContainers: [{ name: 'i' }] }))).toMatchObject({
      spec: {
        serviceAccountName: 'default',
        serviceAccount: 'default',
        containers: [{ volumeMounts: [mount] }],
        initContainers: [{ volumeMounts: [mount] }],
        volumes: [
          {
            name: 'kube-api-access-bbbbb',
            projected: {
              defaultMode: 420,
              sources: [
                { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
                { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
                {
                  downwardAPI: {
                    items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
                  },
                },
              ],
            },
          },
        ],
      },
    });
  });

  it('mounts no token when the pod, or else the account, disables automounting', async () => {
    const volumes = async (said: JsonObject, account: JsonObject) =>
      ((await create(podOf({}, said), account)) as { spec: JsonObject }).spec['volumes'] !== undefined;
    expect(await volumes({ automountServiceAccountToken: false }, {})).toBe(false);
    expect(await volumes({}, { automountServiceAccountToken: false })).toBe(false);
    expect(await volumes({ automountServiceAccountToken: true }, { automountServiceAccountToken: false })).toBe(true);
  });

  it('skips a container that already mounts something at the path', async () => {
    const own = { name: 'mine', mountPath: mount.mountPath };
    const pod = podOf({ volumeMounts: [own] }, { volumes: [{ name: 'mine', emptyDir: {} }] });
    expect(await create(pod)).toMatchObject({
      spec: { containers: [{ volumeMounts: [own] }], volumes: [{ name: 'mine', emptyDir: {} }] },
    });
  });

  it('rejects a service account that does not exist', async () => {
    const missing = 'error looking up service account n/other: serviceaccount "other" not found';
    expect(await create(podOf({}, { serviceAccountName: 'other' }))).toBe(missing);
  });

  it('rejects a service account that no object can be', async () => {
    const wrong = `error looking up service account n/a/%: invalid resource name "a/%": [may not contain '/' may not contain '%']`;
    expect(await create(podOf({}, { serviceAccountName: 'a/%' }))).toBe(wrong);
  });

  it('copies the image pull secrets of the account unless the pod has some', async () => {
    const account = { imagePullSecrets: [{ name: 'theirs' }] };
    expect(await create(podOf(), account)).toMatchObject({ spec: { imagePullSecrets: [{ name: 'theirs' }] } });
    const own = podOf({}, { imagePullSecrets: [{ name: 'mine' }] });
    expect(await create(own, account)).toMatchObject({ spec: { imagePullSecrets: [{ name: 'mine' }] } });
  });

  it.each([
    [{ serviceAccountName: 'default' }, 'a mirror pod may not reference service accounts'],
    [{ volumes: [{ name: 'v', secret: { secretName: 's' } }] }, 'a mirror pod may not reference secrets'],
    [
      { volumes: [{ name: 'v', csi: { driver: 'd', nodePublishSecretRef: { name: 's' } } }] },
      'a mirror pod may not reference secrets',
    ],
    [
      { volumes: [{ name: 'v', projected: { sources: [{ serviceAccountToken: {} }] } }] },
      'a mirror pod may not use ServiceAccountToken volume projections',
    ],
  ])('rejects references of a mirror pod: %j', async (spec, message) => {
    const metadata = { annotations: { 'kubernetes.io/config.mirror': '' } };
    expect(await create({ metadata, ...podOf({}, spec) })).toBe(message);
    expect(await create({ metadata, ...podOf() })).not.toHaveProperty('spec.serviceAccountName');
  });

  const denied = (what: string, word = 'secret') =>
    `${what} is not allowed because service account default does not reference that ${word}`;
  it.each([
    [{ volumes: [{ name: 'v', secret: { secretName: 's' } }] }, {}, denied('volume with secret.secretName="s"')],
    [
      {},
      { env: [{ name: 'E', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }] },
      denied('container c with envVar E referencing secret.secretName="s"'),
    ],
    [
      {},
      { envFrom: [{ secretRef: { name: 's' } }] },
      denied('container c with envFrom referencing secret.secretName="s"'),
    ],
    [
      { imagePullSecrets: [{ name: 'own' }, { name: 's' }] },
      {},
      denied('imagePullSecrets[1].name="s"', 'imagePullSecret'),
    ],
  ])('enforces the mountable secrets of the account: %j %j', async (spec, container, message) => {
    const annotations = { 'kubernetes.io/enforce-mountable-secrets': 'true' };
    const account = { metadata: { annotations }, secrets: [{ name: 'own' }], imagePullSecrets: [{ name: 'own' }] };
    expect(await create(podOf(container, spec), account)).toBe(message);
    expect(await create(podOf(container, spec), {})).toBeTypeOf('object');
  });

  const listing = { metadata: { annotations: { 'kubernetes.io/enforce-mountable-secrets': 'true' } } };

  it('enforces mountable secrets in the mutating phase', async () => {
    const chain = createChain([serviceAccount(fakeInitializer([stored('serviceaccounts', 'default', listing, 'n')]))]);
    const pod = podOf({}, { volumes: [{ name: 'v', secret: { secretName: 's' } }] });
    await expect(runMutating(chain, requestFor('pods', pod))).rejects.toMatchObject({ code: 403 });
  });

  it('checks the secrets of ephemeral containers', async () => {
    const env = [{ name: 'E', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }];
    const add = (serviceAccountName: string) => {
      const pod = podOf({ env }, { serviceAccountName, ephemeralContainers: [{ name: 'e', env }] });
      const part = { subresource: 'ephemeralcontainers', oldObject: old(pod) };
      const initializer = fakeInitializer([stored('serviceaccounts', 'default', listing, 'n')]);
      return outcome(serviceAccount(initializer), requestFor('pods', pod, part));
    };
    expect(await add('default')).toBe(denied('ephemeral container e with envVar E referencing secret.secretName="s"'));
    expect(await add('')).toBe('no service account specified for pod n/x');
  });
});
