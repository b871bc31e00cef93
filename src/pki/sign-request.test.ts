import { createPublicKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { readCertificateRequest } from './certificate-request.ts';
import { der } from './der.ts';
import { formatPem, pemBlocks } from './pem.ts';
import { type IssuedCertificate, signRequest } from './sign-request.ts';
import { certificateRequest, commonName, organization, type TestRequest } from './testing/certificate-request.ts';
import { TrustPool } from './trust-pool.ts';
import { issueCertificate } from './x509.ts';

const [notBefore, notAfter] = [Date.UTC(2026, 0, 1), Date.UTC(2027, 0, 1)];
const authority = issueCertificate({ commonName: 'root', usage: 'authority', notBefore, notAfter });
const clientAuth = '1.3.6.1.5.5.7.3.2';

function issue(request: TestRequest, more: Partial<IssuedCertificate> = {}, issuer = authority): X509Certificate {
  const requested = readCertificateRequest(certificateRequest(request));
  if (requested === undefined) throw new Error('the request cannot be parsed');
  const issued = { keyUsage: [], extendedKeyUsage: [clientAuth], notBefore, notAfter, ...more };
  return new X509Certificate(signRequest(requested, issuer, issued));
}

describe('a certificate for a request', () => {
  it('has its subject and its key, and is trusted where its authority is', () => {
    const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
    const certificate = issue({ subject: [organization('devs'), commonName('alice')], key });
    expect(certificate.subject).toBe('O=devs\nCN=alice');
    expect(certificate.issuer).toBe('CN=root');
    expect(certificate.publicKey.equals(createPublicKey(key))).toBe(true);
    expect(certificate.ca).toBe(false);
    expect(certificate.keyUsage).toEqual([clientAuth]);
    expect([Date.parse(certificate.validFrom), Date.parse(certificate.validTo)]).toEqual([notBefore, notAfter]);
    expect(new TrustPool(authority.cert).validate([certificate])).toEqual([{ from: notBefore, until: notAfter }]);
  });

  it('has the known attributes of the subject in a fixed order, several of a type in one relative name', () => {
    const { subject } = issue({
      subject: [
        commonName('first'),
        commonName('last'),
        organization('bb'),
        organization('c'),
        organization('a'),
        ['2.5.4.11', 'unit'],
        ['2.5.4.6', 'CH'],
        ['2.5.4.4', 'surname'],
      ],
    });
    expect(subject).toBe('C=CH\nO=a + O=c + O=bb\nOU=unit\nCN=last');
  });

  it('has its alternative names, and no subject where it has none', () => {
    const names = {
      dns: ['b.example', 'a.example'],
      emails: ['a@example.com'],
      ips: ['10.0.0.1', '2001:db8::1', '::ffff:10.0.0.2'],
      uris: ['https://example.com/a?b'],
    };
    const certificate = issue(names);
    expect(certificate.subjectAltName).toBe(
      'DNS:b.example, DNS:a.example, email:a@example.com, IP Address:10.0.0.1, IP Address:2001:DB8:0:0:0:0:0:1, IP Address:10.0.0.2, URI:https://example.com/a?b',
    );
    expect(certificate.subject).toBeUndefined();
  });

  it.each([
    ['RSA', () => generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey],
    ['ECDSA with P-384', () => generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey],
    ['ECDSA with P-521', () => generateKeyPairSync('ec', { namedCurve: 'P-521' }).privateKey],
    ['Ed25519', () => generateKeyPairSync('ed25519').privateKey],
  ])('is signed with a key of %s', (_, keyOf) => {
    const key = keyOf();
    // Who has signed the certificate of an authority does not matter.
    const cert = issue({ subject: [commonName('other root')] }).toString();
    const pair = { cert, key: key.export({ type: 'pkcs8', format: 'pem' }).toString() };
    const certificate = issue({ subject: [commonName('alice')] }, {}, pair);
    expect(certificate.verify(createPublicKey(key))).toBe(true);
    expect(certificate.issuer).toBe('CN=other root');
  });
});

describe('a certificate request', () => {
  const whole = certificateRequest({ subject: [commonName('alice')], dns: ['a.example'] });
  const [block] = pemBlocks(whole);
  const bytes = block?.bytes ?? Buffer.alloc(0);
  const replaced = (from: Buffer, to: Buffer) => {
    const at = bytes.indexOf(from);
    expect(at).toBeGreaterThan(0);
    return formatPem(
      'CERTIFICATE REQUEST',
      Buffer.concat([bytes.subarray(0, at), to, bytes.subarray(at + from.length)]),
    );
  };

  it('is parsed', () => {
    const requested = readCertificateRequest(whole);
    expect(requested).toMatchObject({ commonName: 'alice', organizations: [] });
    expect(requested?.alternativeNames).toEqual([{ type: 'dns', bytes: Buffer.from('a.example') }]);
  });

  it.each([
    ['a name beyond ASCII', Buffer.from('a.example'), Buffer.from('\xff.example', 'latin1')],
    ['an IP address of nine bytes', der.implicit(2, Buffer.from('a.example')), der.implicit(7, Buffer.alloc(9))],
    ['a subject that is not a string', der.utf8('alice'), Buffer.from([4, 5, 1, 2, 3, 4, 5])],
    ['a subject that is not UTF-8', der.utf8('alice'), Buffer.from([12, 5, 255, 255, 255, 255, 255])],
  ])('with %s is undefined', (_, from, to) => {
    expect(readCertificateRequest(replaced(from, to))).toBeUndefined();
  });

  it('is undefined when it is cut off anywhere', () => {
    for (let end = 0; end < bytes.length; end++) {
      expect(readCertificateRequest(formatPem('CERTIFICATE REQUEST', bytes.subarray(0, end)))).toBeUndefined();
    }
  });
});
