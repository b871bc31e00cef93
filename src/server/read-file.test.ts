import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { issueCertificate } from '../pki/index.ts';
import { createServer, type ServerOptions } from './index.ts';
import { kubeletTrustOf } from './tls.ts';

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
  ['token-auth-file', 't.csv', (mode) => ({ tokenAuthFile: file('t.csv', 'a,b,c\n', mode) })],
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

describe.runIf(process.platform !== 'win32')('a file with a secret', () => {
  it.each(secrets)('of --%s must be open to its owner only', async (flag, name, option) => {
    for (const mode of [0o644, 0o640, 0o604, 0o620]) {
      const path = join(folder, `${mode.toString(8)} ${name}`);
      await expect(startAndStop(option(mode))).rejects.toThrow(
        `--${flag}=${JSON.stringify(path)} is secret, and open to others than its owner (mode 0${mode.toString(8)}): chmod 600 '${path}'`,
      );
    }
    for (const mode of [0o600, 0o400]) await startAndStop(option(mode));
  });

  it('of --kubelet-client-key must be open to its owner only', async () => {
    const trust = (mode: number) =>
      kubeletTrustOf({
        kubeletCertificateAuthority: undefined,
        kubeletClientCertificate: certificate,
        kubeletClientKey: file('kubelet.key', pair.key, mode),
      });
    await expect(trust(0o644)).rejects.toThrow('--kubelet-client-key=');
    expect(await trust(0o600)).toMatchObject({ key: pair.key });
  });

  it('does not include public keys', async () => {
    await startAndStop({ serviceAccountKeyFile: [certificate] });
  });
});
