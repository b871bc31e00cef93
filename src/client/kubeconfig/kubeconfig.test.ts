import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inClusterConnection } from './connect.ts';
import { connectionOf } from './connection.ts';
import { KubeconfigError, parseKubeconfig, readKubeconfig } from './kubeconfig.ts';

let folder = '';
const file = (name: string, text: string) => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'orch-kubeconfig-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const config = (context: string, rest = '') => `apiVersion: v1
kind: Config
clusters:
- name: c
  cluster: { server: 'https://127.0.0.1:6443', certificate-authority: ca.crt }
users:
- name: u
  user: ${context}
contexts:
- name: x
  context: { cluster: c, user: u, namespace: shop }
current-context: x
${rest}`;
const of = (user: string) => parseKubeconfig(config(user), join(folder, 'config'));

describe('several kubeconfigs', () => {
  it('are merged: the first entry of a name wins, and the first current context', async () => {
    const first = file('a', `contexts:\n- { name: x, context: { cluster: one } }\n`);
    const second = file(
      'b',
      `contexts:\n- { name: x, context: { cluster: two } }\n- { name: z, context: {} }\ncurrent-context: z\n`,
    );
    const env = { KUBECONFIG: [first, join(folder, 'missing'), second, first].join(delimiter) };
    const { contexts, currentContext, files } = await readKubeconfig({ env });
    expect(contexts.get('x')?.fields).toEqual({ cluster: 'one' });
    expect([...contexts.keys()].sort()).toEqual(['x', 'z']);
    expect([currentContext, files]).toEqual(['z', [first, second]]);
  });

  it('come from the home folder without the variable, and from one file that must exist when it is named', async () => {
    mkdirSync(join(folder, '.kube'));
    file('.kube/config', 'current-context: home\n');
    expect((await readKubeconfig({ env: {}, home: folder })).currentContext).toBe('home');
    const path = join(folder, 'nope');
    await expect(readKubeconfig({ path })).rejects.toThrow(`stat ${path}: no such file or directory`);
  });

  it('name the file and the fault when one is damaged', async () => {
    const path = file('bad', 'clusters: 1\n');
    await expect(readKubeconfig({ path })).rejects.toThrow(
      `error loading config file "${path}": clusters must be a list`,
    );
    await expect(readKubeconfig({ path: file('other', 'kind: Pod\n') })).rejects.toThrow('its kind must be Config');
    // As kubectl.
    const twice = file('twice', 'clusters:\n- { name: c, cluster: {} }\n- { name: c, cluster: {} }\n');
    await expect(readKubeconfig({ path: twice })).rejects.toThrow('duplicate name "c" in clusters');
  });
});

describe('a connection', () => {
  it('has the server, the authority and the namespace of the context; paths start at the folder of the file', async () => {
    file('ca.crt', 'PEM');
    expect(await connectionOf(of('{ token: t }'))).toMatchObject({
      server: 'https://127.0.0.1:6443',
      ca: 'PEM',
      namespace: 'shop',
      skipVerify: false,
    });
  });

  it('prefers the token file to the token, and reads it again for each request', async () => {
    file('token', 'first\n');
    const { credentials } = await connectionOf(of('{ token: t, tokenFile: token }'));
    expect(await credentials?.current()).toMatchObject({ authorization: 'Bearer first' });
    file('token', 'second');
    expect(await credentials?.current()).toMatchObject({ authorization: 'Bearer second' });
    file('token', '');
    await expect(credentials?.current()).rejects.toThrow('read empty token from file');
  });

  it('has a password in basic authentication', async () => {
    const { credentials } = await connectionOf(of('{ username: a, password: b }'));
    const authorization = `Basic ${Buffer.from('a:b').toString('base64')}`;
    expect(await credentials?.current()).toMatchObject({ authorization });
  });

  it('prefers embedded certificates to files, and needs both a certificate and its key', async () => {
    const data = (text: string) => Buffer.from(text).toString('base64');
    const user = `{ client-certificate-data: ${data('C')}, client-certificate: nope, client-key-data: ${data('K')} }`;
    const { credentials } = await connectionOf(of(user));
    expect((await credentials?.current())?.certificate).toEqual({ cert: 'C', key: 'K' });
    await expect(connectionOf(of(`{ client-certificate-data: ${data('C')} }`))).rejects.toThrow(
      'client-key-data or client-key must be specified for u to use the clientCert authentication method.',
    );
  });

  it('impersonates the user of the kubeconfig, with groups, uid and extra', async () => {
    const user = '{ token: t, as: jane, as-uid: "7", as-groups: [a, b], as-user-extra: { k: [v] } }';
    const { impersonation } = await connectionOf(of(user));
    expect(impersonation).toEqual({ user: 'jane', uid: '7', groups: ['a', 'b'], extra: { k: ['v'] } });
    await expect(connectionOf(of('{ token: t, as-groups: [a] }'))).rejects.toThrow('without impersonating a user');
  });

  it('follows overrides: a token replaces the other credentials, and skipped verification the authority', async () => {
    const overrides = {
      namespace: 'other',
      userFields: { token: 'mine' },
      clusterFields: { 'insecure-skip-tls-verify': true, 'tls-server-name': 'name' },
    };
    const connection = await connectionOf(of('{ tokenFile: nope, username: a }'), overrides);
    expect(connection).toMatchObject({ namespace: 'other', skipVerify: true, ca: undefined, serverName: 'name' });
    expect(await connection.credentials?.current()).toMatchObject({ authorization: 'Bearer mine' });
  });

  it.each([
    ['context', { context: 'nope' }, 'context was not found for specified context: nope'],
    ['cluster', { cluster: 'nope' }, 'no server found for cluster "nope"'],
    ['user', { user: 'nope' }, 'auth info "nope" does not exist'],
  ])('is refused when its %s does not exist', async (_, overrides, message) => {
    await expect(connectionOf(of('{ token: t }'), overrides)).rejects.toThrow(new KubeconfigError(message));
  });

  it('of a pod has the address of the environment and the token of the service account', async () => {
    file('ca.crt', 'PEM');
    file('namespace', 'shop');
    file('token', 'a');
    const env = { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' };
    const connection = await inClusterConnection({ env, folder });
    expect(connection).toMatchObject({ server: 'https://10.0.0.1:443', ca: 'PEM', namespace: 'shop' });
    expect(await connection.credentials?.current()).toEqual({ authorization: 'Bearer a' });
    await expect(inClusterConnection({ env: {}, folder })).rejects.toThrow('unable to load in-cluster configuration');
  });
});
