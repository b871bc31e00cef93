import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { hasProgram } from '../../../test/support/requirements.ts';
import { namesFor } from '../../meta/index.ts';
import { StartError } from '../start-error.ts';
import { type CertificateOptions, ensureCertificates } from './certificates.ts';

const day = 86_400_000;
const now = Date.now();

type Foldered = CertificateOptions & { readonly folder: string };
function options(more: Partial<Foldered> = {}): Foldered {
  return {
    folder: join(mkdtempSync(join(tmpdir(), 'orch-pki-')), 'pki'),
    names: namesFor('orch.io'),
    bindAddress: '192.0.2.7',
    serviceRanges: [{ address: '10.0.0.0', prefix: 24 }],
    now,
    ...more,
  };
}

describe('ensureCertificates', () => {
  it('issues an authority and two certificates signed by it', async () => {
    const made = await ensureCertificates(options());
    const [authority, server, admin] = [made.authority, made.server, made.admin].map(
      (i) => new X509Certificate(i.cert),
    );
    expect(authority?.subject).toBe('CN=orch-ca');
    expect(authority?.ca).toBe(true);
    expect(server?.ca).toBe(false);
    expect(server?.verify(authority!.publicKey)).toBe(true);
    expect(admin?.checkIssued(authority!)).toBe(true);
    expect(admin?.subject).toBe('O=system:masters\nCN=orch-admin');
    for (const host of ['localhost', 'orch', 'orch.default', 'orch.default.svc']) {
      expect(server?.checkHost(host, { subject: 'never' })).toBe(host);
    }
    for (const ip of ['127.0.0.1', '::1', '192.0.2.7', '10.0.0.1']) expect(server?.checkIP(ip)).toBe(ip);
    expect(server?.checkIP('10.0.0.2')).toBeUndefined();
  });

  it.skipIf(!hasProgram('openssl', 'version'))('makes what another implementation reads and trusts', async () => {
    const { folder } = options();
    await ensureCertificates(options({ folder }));
    const verify = (purpose: string, file: string) =>
      execFileSync('openssl', [
        'verify',
        '-x509_strict',
        '-CAfile',
        join(folder, 'ca.crt'),
        '-purpose',
        purpose,
        join(folder, file),
      ]).toString();
    expect(verify('sslserver', 'server.crt')).toContain(': OK');
    expect(verify('sslclient', 'admin.crt')).toContain(': OK');
    const text = execFileSync('openssl', ['x509', '-in', join(folder, 'server.crt'), '-noout', '-text']).toString();
    expect(text).toContain('ecdsa-with-SHA256');
    expect(text).toMatch(/Key Usage: critical\s+Digital Signature\n/);
    expect(text).toMatch(/Extended Key Usage: \s*TLS Web Server Authentication/);
  });

  it('allows mutual TLS between server and administrator', async () => {
    const { authority, server, admin } = await ensureCertificates(options());
    const listener = createServer({ ...server, ca: authority.cert, requestCert: true }, (req, res) => {
      res.end((req.socket as TLSSocket).getPeerCertificate().subject.CN);
    });
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    const { port } = listener.address() as { port: number };
    const answer = await new Promise<string>((resolve, reject) => {
      request({ host: '127.0.0.1', port, ca: authority.cert, ...admin }, (res) => {
        res.on('data', (chunk: Buffer) => resolve(chunk.toString()));
      })
        .on('error', reject)
        .end();
    });
    listener.close();
    listener.closeAllConnections();
    expect(answer).toBe('orch-admin');
  });

  it('writes no files without a folder', async () => {
    const { authority, server } = await ensureCertificates({ ...options(), folder: undefined });
    expect(new X509Certificate(server.cert).verify(new X509Certificate(authority.cert).publicKey)).toBe(true);
  });

  it('retains the certificates in memory without a folder, and renews those that are about to expire', async () => {
    const inMemory = { ...options(), folder: undefined };
    const first = await ensureCertificates(inMemory);
    expect(await ensureCertificates({ ...inMemory, previous: first })).toEqual(first);
    const later = await ensureCertificates({ ...inMemory, now: inMemory.now + (2 * 365 + 1) * day, previous: first });
    expect(later.authority).toEqual(first.authority);
    expect([later.server.key, later.admin.key]).not.toContain(first.server.key);
    expect(new X509Certificate(later.server.cert).verify(new X509Certificate(first.authority.cert).publicKey)).toBe(
      true,
    );
  });

  it('writes private keys with mode 0600', async () => {
    const { folder } = options();
    await ensureCertificates(options({ folder }));
    for (const name of ['ca', 'server', 'admin']) {
      expect(statSync(join(folder, `${name}.key`)).mode & 0o777).toBe(0o600);
      expect(statSync(join(folder, `${name}.crt`)).mode & 0o777).toBe(0o644);
    }
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  });

  it('reuses valid certificates', async () => {
    const { folder } = options();
    const first = await ensureCertificates(options({ folder }));
    expect(await ensureCertificates(options({ folder, now: now + 365 * day }))).toEqual(first);
  });

  it('renews only the serving certificate when a host name changes', async () => {
    const { folder } = options();
    const first = await ensureCertificates(options({ folder }));
    for (const bindAddress of ['192.0.2.8', '0.0.0.0']) {
      const second = await ensureCertificates(options({ folder, bindAddress }));
      expect(second.authority).toEqual(first.authority);
      expect(second.admin).toEqual(first.admin);
      expect(second.server.cert).not.toBe(first.server.cert);
      expect(new X509Certificate(second.server.cert).checkIP('192.0.2.7')).toBeUndefined();
    }
    const told = await ensureCertificates(options({ folder, advertiseAddress: '203.0.113.1' }));
    for (const address of ['192.0.2.7', '203.0.113.1']) {
      expect(new X509Certificate(told.server.cert).checkIP(address)).toBe(address);
    }
  });

  it('renews what expires within a year, the authority with its existing key', async () => {
    const { folder } = options();
    const first = await ensureCertificates(options({ folder }));
    const leaves = await ensureCertificates(options({ folder, now: now + (2 * 365 + 1) * day }));
    expect(leaves.authority).toEqual(first.authority);
    expect(leaves.server).not.toEqual(first.server);
    const later = now + (9 * 365 + 1) * day;
    const all = await ensureCertificates(options({ folder, now: later }));
    expect(all.authority.cert).not.toBe(first.authority.cert);
    expect(all.authority.key).toBe(first.authority.key);
    // Clients that trust the previous certificate trust new signatures.
    expect(new X509Certificate(all.server.cert).checkIssued(new X509Certificate(first.authority.cert))).toBe(true);
    expect(new X509Certificate(all.server.cert).verify(new X509Certificate(first.authority.cert).publicKey)).toBe(true);
    expect(new X509Certificate(all.server.cert).verify(new X509Certificate(all.authority.cert).publicKey)).toBe(true);
    expect(await ensureCertificates(options({ folder, now: later }))).toEqual(all);
  });

  it('issues no certificate that expires after its authority', async () => {
    const { folder } = options();
    await ensureCertificates(options({ folder }));
    const { authority, server } = await ensureCertificates(options({ folder, now: now + 8 * 365 * day }));
    expect(new X509Certificate(server.cert).validTo).toBe(new X509Certificate(authority.cert).validTo);
  });

  it('replaces unreadable files and mismatched pairs', async () => {
    const { folder } = options();
    const first = await ensureCertificates(options({ folder }));
    writeFileSync(join(folder, 'server.key'), 'broken');
    writeFileSync(join(folder, 'admin.key'), first.server.key);
    const second = await ensureCertificates(options({ folder }));
    expect(second.authority).toEqual(first.authority);
    expect(second.server).not.toEqual(first.server);
    expect(second.admin).not.toEqual(first.admin);
    expect(readFileSync(join(folder, 'server.key'), 'utf8')).toBe(second.server.key);
  });

  describe('keeps the authority', () => {
    const damages: [name: string, damage: (folder: string) => void, problem: string, remedy: string][] = [
      ['a missing key', (f) => rmSync(join(f, 'ca.key')), 'ca.key, the key of ', 'restore it from a backup'],
      ['an empty key', (f) => writeFileSync(join(f, 'ca.key'), ''), 'ca.key is not a private key', 'restore it'],
      [
        'a key cut short',
        (f) => writeFileSync(join(f, 'ca.key'), readFileSync(join(f, 'ca.key')).subarray(0, 100)),
        'ca.key is not a private key in PEM',
        'restore it from a backup',
      ],
      [
        'the key of another certificate',
        (f) => writeFileSync(join(f, 'ca.key'), readFileSync(join(f, 'server.key'))),
        'ca.key is not the key of ',
        'restore both from one backup',
      ],
      [
        'a damaged certificate',
        (f) => writeFileSync(join(f, 'ca.crt'), 'x'),
        'ca.crt is not a certificate',
        'restore it',
      ],
    ];
    it.each(damages)('from %s: an error that names the file and the fix', async (_, damage, problem, remedy) => {
      const { folder } = options();
      await ensureCertificates(options({ folder }));
      damage(folder);
      const files = () => readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]);
      const before = files();
      const error = await ensureCertificates(options({ folder })).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(StartError);
      const { message } = error as StartError;
      expect(message).toContain(problem);
      expect(message).toContain(remedy);
      expect(message).toContain(`remove ${join(folder, 'ca.crt')} and ${join(folder, 'ca.key')}`);
      expect(files()).toEqual(before);
    });

    it('from names of another domain', async () => {
      const { folder } = options();
      await ensureCertificates(options({ folder }));
      const other = ensureCertificates(options({ folder, names: namesFor('k8s.io') }));
      await expect(other).rejects.toThrow('ca.crt is not the authority CN=kubernetes-ca');
    });

    it('from a first start that was cut off before its certificate was written', async () => {
      const { folder } = options();
      const first = await ensureCertificates(options({ folder }));
      for (const name of ['ca.crt', 'server.crt', 'server.key', 'admin.crt', 'admin.key']) rmSync(join(folder, name));
      const second = await ensureCertificates(options({ folder }));
      expect(second.authority.key).toBe(first.authority.key);
      expect(await ensureCertificates(options({ folder }))).toEqual(second);
    });
  });
});
