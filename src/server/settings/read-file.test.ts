import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { issueCertificate } from '../../pki/index.ts';
import { readKubeletTrust } from '../certificates/tls.ts';
import { createServer, type ServerOptions } from '../index.ts';
import { readFileOf } from './read-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'orch-'));
const life = { notBefore: Date.now() - 60_000, notAfter: Date.now() + 3_600_000 };
const pair = issueCertificate({ commonName: 'a', usage: 'server', hosts: ['127.0.0.1'], ...life });

function file(name: string, text: string, mode: number): string {
  const path = join(folder, `${mode.toString(8)} ${name}`);
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

type Option = (mode: number) => ServerOptions;
const certificate = file('a.crt', pair.cert, 0o644);
const secrets: readonly (readonly [flag: string, name: string, Option])[] = [
  [
    'tls-private-key-file',
    'a.key',
    (mode) => ({ tlsCertFile: certificate, tlsPrivateKeyFile: file('a.key', pair.key, mode) }),
  ],
  ['service-account-key-file', 'k.pem', (mode) => ({ serviceAccountKeyFile: [file('k.pem', pair.key, mode)] })],
  [
    'service-account-signing-key-file',
    's.key',
    (mode) => ({ serviceAccountSigningKeyFile: file('s.key', pair.key, mode) }),
  ],
];

async function startAndStop(options: ServerOptions): Promise<void> {
  const server = await createServer({ securePort: 0, ...options });
  try {
    await server.listen();
  } finally {
    await server.close();
  }
}

describe.runIf(process.platform !== 'win32')('a private key', () => {
  it.each(secrets)('of --%s must be closed to others', async (flag, name, option) => {
    for (const mode of [0o644, 0o604, 0o602]) {
      const path = join(folder, `${mode.toString(8)} ${name}`);
      await expect(startAndStop(option(mode))).rejects.toThrow(
        `--${flag}=${JSON.stringify(path)} is secret, and open to others (mode 0${mode.toString(8)}): chmod 600 '${path}'`,
      );
    }
    for (const mode of [0o600, 0o400, 0o640]) await startAndStop(option(mode));
  });

  it('of --kubelet-client-key must be closed to others', async () => {
    const trust = (mode: number) =>
      readKubeletTrust({
        kubeletCertificateAuthority: undefined,
        kubeletClientCertificate: certificate,
        kubeletClientKey: file('kubelet.key', pair.key, mode),
      });
    await expect(trust(0o644)).rejects.toThrow('--kubelet-client-key=');
    expect(await trust(0o600)).toMatchObject({ key: pair.key });
  });

  it('is not what --service-account-key-file has where it has public keys only', async () => {
    await startAndStop({ serviceAccountKeyFile: [certificate] });
  });
});

it.runIf(process.platform !== 'win32')('a token file that others may read is used, with a warning', async () => {
  const warnings: string[] = [];
  const log = { info() {}, error() {}, warn: (text: string) => void warnings.push(text) };
  for (const mode of [0o644, 0o600]) {
    const server = await createServer({ tokenAuthFile: file('t.csv', 'a,b,c\n', mode) }, { log });
    await server.close();
  }
  expect(warnings).toEqual([
    expect.stringMatching(/^--token-auth-file=.* is secret, and open to others \(mode 0644\): chmod/),
  ]);
});

it('a file that is too large, or has no end, is not read', async () => {
  const large = file('large.yaml', 'x'.repeat(9 * 1024 * 1024), 0o600);
  await expect(readFileOf('--config', large)).rejects.toThrow('cannot be read: it is larger than 8 MiB');
  if (process.platform === 'win32') return;
  await expect(readFileOf('--config', '/dev/zero')).rejects.toThrow('cannot be read: it is larger than 8 MiB');
});
