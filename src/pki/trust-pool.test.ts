import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { TrustPool } from './trust-pool.ts';
import { type CertificateRequest, type CertKeyPair, issueCertificate } from './x509.ts';

const second = 1_000;
const [from, until] = [Date.UTC(2026, 0, 1), Date.UTC(2027, 0, 1)];
const life = { notBefore: from, notAfter: until };
type Issuer = CertKeyPair & { readonly name: string };

function authority(name: string, issuer?: Issuer, more: Partial<CertificateRequest> = {}): Issuer {
  return { ...issueCertificate({ commonName: name, usage: 'authority', ...life, ...more }, issuer), name };
}
const client = (issuer?: Issuer, more: Partial<CertificateRequest> = {}) =>
  issueCertificate({ commonName: 'ann', usage: 'client', ...life, ...more }, issuer);
const validate = (roots: readonly CertKeyPair[], ...chain: readonly CertKeyPair[]) =>
  new TrustPool(roots.map(({ cert }) => cert).join('')).validate(chain.map(({ cert }) => new X509Certificate(cert)));

const root = authority('root');
const other = authority('other');
const middle = authority('middle', root);
const always = [{ from, until }];

describe('a trust pool', () => {
  it('trusts what one of its certificates has signed, and nothing else', () => {
    expect(validate([other, root], client(root))).toEqual(always);
    expect(validate([other], client(root))).toEqual([]);
    expect(validate([], client(root))).toEqual([]);
    expect(validate([root])).toEqual([]);
  });

  it('does not trust an authority by its name', () => {
    const impostor = authority('root');
    expect(validate([root], client(impostor))).toEqual([]);
    expect(validate([root], client(impostor), impostor)).toEqual([]);
    // A renewed authority often keeps its name: both are in the file for a while.
    expect(validate([impostor, root], client(root))).toEqual(always);
    expect(validate([root, impostor], client(impostor))).toEqual(always);
  });

  it('follows intermediate certificates of the chain in any order', () => {
    const low = authority('low', middle);
    const leaf = client(low);
    expect(validate([root], leaf, low, middle)).toEqual(always);
    expect(validate([root], leaf, middle, low, root)).toEqual(always);
    expect(validate([root], leaf, low)).toEqual([]);
    expect(validate([root], leaf)).toEqual([]);
  });

  it('trusts an intermediate certificate of the pool without its root, and a client certificate of the pool', () => {
    expect(validate([middle], client(middle))).toEqual(always);
    const own = client();
    expect(validate([own], own)).toEqual(always);
    expect(validate([own], client())).toEqual([]);
  });

  it('never takes a client certificate for an authority', () => {
    const leaf = client(root);
    expect(validate([root], client({ ...leaf, name: 'ann' }), leaf)).toEqual([]);
  });

  it('requires the extended key usage of clients', () => {
    expect(validate([root], client(root, { usage: 'server', hosts: ['a.example'] }))).toEqual([]);
    // Without an extended key usage any use is allowed.
    expect(validate([root], authority('ann', root))).toEqual(always);
  });

  it('is valid while every certificate of the path is', () => {
    const late = authority('late', root, { notBefore: from + second });
    expect(validate([root], client(late, { notAfter: until - second }), late)).toEqual([
      { from: from + second, until: until - second },
    ]);
    const renewed = authority('root', undefined, { key: root.key, notAfter: until + second });
    const leaf = client(root, { notAfter: until + 2 * second });
    expect(validate([root, renewed], leaf)).toEqual([
      { from, until },
      { from, until: until + second },
    ]);
  });

  it('verifies a bounded number of signatures of a hostile chain', () => {
    // Authorities of one name and one key, which have all signed each other.
    const same = authority('same');
    const chain = Array.from({ length: 40 }, () => authority('same', same, { key: same.key }));
    expect(validate([root], client(same), ...chain)).toEqual([]);
  });

  it('leaves out what is not a certificate', () => {
    expect(new TrustPool(`-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n${root.cert}`)).toBeDefined();
  });
});
