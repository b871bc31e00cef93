import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../meta/index.ts';
import { createChain, runMutating } from './chain.ts';
import { serviceAccount } from './service-account.ts';
import { fakeWorld, held, old, outcome, podOf, requestFor } from './testing/world.ts';

const create = (pod: JsonObject, account: JsonObject = {}, name = 'default') =>
  outcome(serviceAccount(fakeWorld([held('serviceaccounts', name, account, 'n')])), requestFor('pods', pod));
const mount = {
  name: 'kube-api-access-bbbbb',
  readOnly: true,
  mountPath: '/var/run/secrets/kubernetes.io/serviceaccount',
};

describe('service account', () => {
  it('runs as the default one, which shows itself to all containers', async () => {
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

  it('mounts nothing when the pod, or else the account, says so', async () => {
    const volumes = async (said: JsonObject, account: JsonObject) =>
      ((await create(podOf({}, said), account)) as { spec: JsonObject }).spec['volumes'] !== undefined;
    expect(await volumes({ automountServiceAccountToken: false }, {})).toBe(false);
    expect(await volumes({}, { automountServiceAccountToken: false })).toBe(false);
    expect(await volumes({ automountServiceAccountToken: true }, { automountServiceAccountToken: false })).toBe(true);
  });

  it('leaves a container alone that mounts something there', async () => {
    const own = { name: 'mine', mountPath: mount.mountPath };
    const pod = podOf({ volumeMounts: [own] }, { volumes: [{ name: 'mine', emptyDir: {} }] });
    expect(await create(pod)).toMatchObject({
      spec: { containers: [{ volumeMounts: [own] }], volumes: [{ name: 'mine', emptyDir: {} }] },
    });
  });

  it('refuses an account that is not there', async () => {
    const missing = 'error looking up service account n/other: serviceaccount "other" not found';
    expect(await create(podOf({}, { serviceAccountName: 'other' }))).toBe(missing);
  });

  it('takes over the secrets for pulling images, unless the pod has some', async () => {
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
  ])('lets a mirror pod reach for nothing: %j', async (spec, message) => {
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
  ])('keeps to the secrets of an account that lists them: %j %j', async (spec, container, message) => {
    const annotations = { 'kubernetes.io/enforce-mountable-secrets': 'true' };
    const account = { metadata: { annotations }, secrets: [{ name: 'own' }], imagePullSecrets: [{ name: 'own' }] };
    expect(await create(podOf(container, spec), account)).toBe(message);
    expect(await create(podOf(container, spec), {})).toBeTypeOf('object');
  });

  const listing = { metadata: { annotations: { 'kubernetes.io/enforce-mountable-secrets': 'true' } } };

  it('refuses before anything else is said of the pod', async () => {
    const chain = createChain([serviceAccount(fakeWorld([held('serviceaccounts', 'default', listing, 'n')]))]);
    const pod = podOf({}, { volumes: [{ name: 'v', secret: { secretName: 's' } }] });
    await expect(runMutating(chain, requestFor('pods', pod))).rejects.toMatchObject({ code: 403 });
  });

  it('looks at containers that are added later for a while', async () => {
    const env = [{ name: 'E', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }];
    const add = (serviceAccountName: string) => {
      const pod = podOf({ env }, { serviceAccountName, ephemeralContainers: [{ name: 'e', env }] });
      const part = { subresource: 'ephemeralcontainers', oldObject: old(pod) };
      const world = fakeWorld([held('serviceaccounts', 'default', listing, 'n')]);
      return outcome(serviceAccount(world), requestFor('pods', pod, part));
    };
    expect(await add('default')).toBe(denied('ephemeral container e with envVar E referencing secret.secretName="s"'));
    expect(await add('')).toBe('no service account specified for pod n/x');
  });
});
