import { X509Certificate } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { namesFor } from '../../meta/index.ts';
import { formatPem, issueCertificate } from '../../pki/index.ts';
import { loadTls, readKubeletTrust } from './tls.ts';

const path = join(mkdtempSync(join(tmpdir(), 'orch-')), 'ca.crt');
const times = { notBefore: Date.now() - 60_000, notAfter: Date.now() + 3_600_000 };
const [one, other] = ['one', 'other'].map((commonName) =>
  issueCertificate({ commonName, usage: 'authority', ...times }),
);
const [first = '', second = ''] = [one?.cert, other?.cert];

function authorities(text: string): Promise<string | undefined> {
  writeFileSync(path, text);
  const none = { kubeletClientCertificate: undefined, kubeletClientKey: undefined };
  return readKubeletTrust({ kubeletCertificateAuthority: path, ...none }).then(({ ca }) => ca);
}

it.each([
  ['one', first, first],
  ['several', first + second, first + second],
  ['text around them', `# one\n${first}\n# other\n${second}#`, first + second],
  ['lines of another system', first.replaceAll('\n', '\r\n'), first],
  ['blocks of other types', first + (one?.key ?? '') + formatPem('TRUSTED CERTIFICATE', Buffer.from('x')), first],
])('parses a CA bundle: %s', async (_, text, expected) => {
  expect(await authorities(text)).toBe(expected);
});

it.each([
  ['one that is cut off', first + second.slice(0, 200), 'holds a broken certificate'],
  ['one in a line with text', `${first}x${second}`, 'holds a broken certificate'],
  ['something else in a block', first + formatPem('CERTIFICATE', Buffer.from('x')), 'holds a broken certificate'],
  ['more than a certificate in a block', formatPem('CERTIFICATE', twice(first)), 'holds a broken certificate'],
  ['a key alone', one?.key ?? '', 'holds no certificate in PEM'],
  ['nothing', '', 'holds no certificate in PEM'],
])('rejects a CA bundle: %s', async (_, text, why) => {
  await expect(authorities(text)).rejects.toThrow(`--kubelet-certificate-authority=${JSON.stringify(path)} ${why}`);
});

function twice(cert: string): Buffer {
  const { raw } = new X509Certificate(cert);
  return Buffer.concat([raw, raw]);
}

type Settings = Parameters<typeof loadTls>[0];

describe('the certificates that controllers publish and sign with', () => {
  const settings: Settings = {
    bindAddress: '127.0.0.1',
    advertiseAddress: undefined,
    serviceClusterIpRange: [],
    tlsCertFile: undefined,
    tlsPrivateKeyFile: undefined,
    clientCaFile: undefined,
    requestheaderClientCaFile: undefined,
    rootCaFile: undefined,
    clusterSigningCertFile: undefined,
    clusterSigningKeyFile: undefined,
    dataDir: undefined,
  };
  const read = (given: Partial<Settings>) => loadTls({ ...settings, ...given }, namesFor('k8s.io'), Date.now());
  const file = (name: string, text: string) => {
    const at = join(mkdtempSync(join(tmpdir(), 'orch-')), name);
    writeFileSync(at, text, { mode: 0o600 });
    return at;
  };

  it('are those of the own authority by default', async () => {
    const { rootCa, signing, authority, clientCa } = await read({});
    expect([rootCa, signing.cert, clientCa]).toEqual([authority, authority, authority]);
    expect(signing.key).toContain('PRIVATE KEY');
  });

  it('are those that are given', async () => {
    const files = {
      rootCaFile: file('root.crt', `# one\n${first}${second}`),
      clusterSigningCertFile: file('signing.crt', second),
      clusterSigningKeyFile: file('signing.key', other?.key ?? ''),
    };
    const { rootCa, signing, authority, clientCa } = await read(files);
    expect(rootCa).toBe(first + second);
    expect(signing).toEqual(other);
    expect(clientCa).toBe(authority);
  });

  it('must be usable', async () => {
    await expect(read({ rootCaFile: file('root.crt', '') })).rejects.toThrow('holds no certificate in PEM');
    const clusterSigningCertFile = file('signing.crt', first);
    const clusterSigningKeyFile = file('signing.key', other?.key ?? '');
    await expect(read({ clusterSigningCertFile, clusterSigningKeyFile })).rejects.toThrow(
      `--cluster-signing-cert-file=${JSON.stringify(clusterSigningCertFile)} and --cluster-signing-key-file=`,
    );
  });
});
