import { execFileSync } from 'node:child_process';
import { mkdtempSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { hasKubectl } from '../../../test/support/requirements.ts';
import { kubeconfig, urlOf, writeKubeconfig } from './kubeconfig.ts';

const options = {
  cluster: 'orch',
  server: 'https://127.0.0.1:6443',
  authority: 'CA',
  user: 'orch-admin',
  certificate: { cert: 'CERT', key: 'KEY' },
};
const base64 = (text: string) => Buffer.from(text).toString('base64');

describe('kubeconfig', () => {
  it('is YAML with cluster, user and context', () => {
    expect(parse(kubeconfig(options))).toEqual({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'orch', cluster: { server: options.server, 'certificate-authority-data': base64('CA') } }],
      users: [
        {
          name: 'orch-admin',
          user: { 'client-certificate-data': base64('CERT'), 'client-key-data': base64('KEY') },
        },
      ],
      contexts: [{ name: 'orch', context: { cluster: 'orch', user: 'orch-admin' } }],
      'current-context': 'orch',
    });
  });

  it.skipIf(!hasKubectl())('is read by kubectl', async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'orch-')), 'admin.kubeconfig');
    await writeKubeconfig(path, kubeconfig(options));
    const out = execFileSync('kubectl', ['--kubeconfig', path, 'config', 'view', '--minify', '-o', 'json']).toString();
    expect(JSON.parse(out)).toMatchObject({ clusters: [{ cluster: { server: options.server } }] });
  });

  it('is written with mode 0600, and only when it has changed', async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'orch-')), 'admin.kubeconfig');
    await writeKubeconfig(path, kubeconfig(options));
    const first = statSync(path);
    expect(first.mode & 0o777).toBe(0o600);
    await writeKubeconfig(path, kubeconfig(options));
    expect(statSync(path).ino).toBe(first.ino);
    await writeKubeconfig(path, kubeconfig({ ...options, server: 'https://127.0.0.1:7443' }));
    expect(statSync(path).ino).not.toBe(first.ino);
    writeFileSync(path, 'edited', { mode: 0o644 });
    await writeKubeconfig(path, kubeconfig(options));
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });
});

describe('urlOf', () => {
  it.each([
    ['127.0.0.1', 'https://127.0.0.1:1'],
    ['0.0.0.0', 'https://127.0.0.1:1'],
    ['::', 'https://[::1]:1'],
    ['fd00::1', 'https://[fd00::1]:1'],
  ])('of %s is %s', (address, url) => expect(urlOf(address, 1)).toBe(url));
});
