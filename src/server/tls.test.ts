import { X509Certificate } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { formatPem, issueCertificate } from '../pki/index.ts';
import { kubeletTrustOf } from './tls.ts';

const path = join(mkdtempSync(join(tmpdir(), 'orch-')), 'ca.crt');
const times = { notBefore: Date.now() - 60_000, notAfter: Date.now() + 3_600_000 };
const [one, other] = ['one', 'other'].map((commonName) =>
  issueCertificate({ commonName, usage: 'authority', ...times }),
);
const [first = '', second = ''] = [one?.cert, other?.cert];

function authorities(text: string): Promise<string | undefined> {
  writeFileSync(path, text);
  const none = { kubeletClientCertificate: undefined, kubeletClientKey: undefined };
  return kubeletTrustOf({ kubeletCertificateAuthority: path, ...none }).then(({ ca }) => ca);
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
