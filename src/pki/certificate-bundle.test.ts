import { expect, it } from 'vitest';
import { findBundleError } from './certificate-bundle.ts';
import { formatPem } from './pem.ts';
import { issueCertificate } from './x509.ts';

const { cert } = issueCertificate({ commonName: 'a', usage: 'authority', notBefore: 0, notAfter: 1_000 });
const broken = formatPem('CERTIFICATE', Buffer.from('abc'));
const other = formatPem('FOO', Buffer.from('abc'));

// As the reference server answers.
it.each([
  ['a certificate', cert, undefined],
  ['a certificate after a broken one and another block', `${broken}${other}text\n${cert}`, undefined],
  [
    'a certificate after a hundred broken ones',
    broken.repeat(100) + cert,
    'failed to parse certificate: x509: malformed certificate',
  ],
  ['a broken certificate', broken, 'failed to parse certificate: x509: malformed certificate'],
  [
    'a broken certificate after another block',
    other + broken,
    'failed to parse certificate: x509: malformed certificate',
  ],
  ['other blocks', other + other, 'no valid certificate authority data seen'],
  ['a certificate with headers', cert.replace('\n', '\nA: b\n\n'), 'no valid certificate authority data seen'],
  ['another block and text', `${other}text`, 'unable to parse bytes as PEM block'],
  ['text', 'nonsense', 'unable to parse bytes as PEM block'],
  ['nothing', '', 'unable to parse bytes as PEM block'],
])('the fault of %s', (_, pem, fault) => {
  expect(findBundleError(pem)).toBe(fault);
});
