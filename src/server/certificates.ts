import { createPrivateKey, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { type Cidr, firstAddress, type Names } from '../meta/index.ts';
import { ensureFolder, readIfThere, readPrivate, writePrivate, writePublic } from './files.ts';
import { StartError } from './start-error.ts';
import { type CertificateRequest, type Identity, issueCertificate } from './x509.ts';

/** What the server shows of itself, and what it hands to its administrator. */
export interface Certificates {
  /** Signs the other two; clients trust it, and the server trusts the clients that it signed. */
  readonly authority: Identity;
  readonly server: Identity;
  readonly admin: Identity;
}

export interface CertificateOptions {
  /** Folder of the certificates and keys; made when it is missing. Undefined: they are kept nowhere. */
  readonly folder: string | undefined;
  readonly names: Names;
  readonly bindAddress: string;
  /** Under which others reach the server, if someone has said so. */
  readonly advertiseAddress?: string | undefined;
  readonly serviceRanges: readonly Cidr[];
  /** Milliseconds since 1970. */
  readonly now: number;
}

const day = 86_400_000;
const authorityDays = 10 * 365;
const leafDays = 3 * 365;
/** One that ends sooner is renewed at a start: a server may then run for a year. */
const renewDays = 365;

/**
 * An authority, a serving certificate and an administrator's certificate, as they are in the folder. All are made when
 * there are none. The key of the authority is never replaced: clients and nodes trust what it signed. The other two are
 * issued again when they are missing or unreadable, when they near their end, when the names of the server have changed,
 * or when the authority did not sign them. @throws StartError when the authority is lost or damaged
 */
export async function ensureCertificates(options: CertificateOptions): Promise<Certificates> {
  const { folder, names, now } = options;
  const life = (days: number) => ({ notBefore: now - day / 24, notAfter: now + days * day });
  const authorityName = `${names.product}-ca`;
  if (folder !== undefined) await ensureFolder(folder);
  const authority = await ensureAuthority(folder, now, {
    commonName: authorityName,
    usage: 'authority',
    ...life(authorityDays),
  });
  const end = Date.parse(new X509Certificate(authority.cert).validTo);
  const leaf = life(leafDays);
  const leafLife = { notBefore: leaf.notBefore, notAfter: Math.min(leaf.notAfter, end) };
  const issuer = { ...authority, name: authorityName };
  const hosts = serverHosts(options);
  return {
    authority,
    server: await ensure(
      folder,
      'server',
      now,
      { commonName: `${names.product}-apiserver`, usage: 'server', hosts, ...leafLife },
      issuer,
    ),
    admin: await ensure(
      folder,
      'admin',
      now,
      { commonName: `${names.product}-admin`, organizations: ['system:masters'], usage: 'client', ...leafLife },
      issuer,
    ),
  };
}

/** Under what names and addresses clients reach the server: from this machine, from others, and from inside a cluster. */
function serverHosts({ names, bindAddress, advertiseAddress, serviceRanges }: CertificateOptions): string[] {
  const service = names.product;
  return [
    ...new Set([
      'localhost',
      '127.0.0.1',
      '::1',
      bindAddress,
      ...(advertiseAddress === undefined ? [] : [advertiseAddress]),
      // A host name may hold what a DNS name must not.
      ...(/^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/.test(hostname()) ? [hostname()] : []),
      service,
      `${service}.default`,
      `${service}.default.svc`,
      ...serviceRanges.map(firstAddress),
    ]),
  ].filter((host) => host !== '0.0.0.0' && host !== '::');
}

const filesOf = (folder: string, name: string) => ({
  cert: join(folder, `${name}.crt`),
  key: join(folder, `${name}.key`),
});

/**
 * The authority of the folder, made when there is none. Its certificate is issued again for the same key when it nears
 * its end, or when it is missing because the first start was cut off. @throws StartError
 */
async function ensureAuthority(
  folder: string | undefined,
  now: number,
  request: CertificateRequest,
): Promise<Identity> {
  if (folder === undefined) return issueCertificate(request);
  const files = filesOf(folder, 'ca');
  const [cert, key] = [await readIfThere(files.cert), await readPrivate(files.key)];
  const unusable = (problem: string, remedy: string) =>
    new StartError(
      `${problem}: ${remedy}. To begin with a new authority, which no client and no node trusts yet, remove ${files.cert} and ${files.key}`,
    );
  const restore = 'restore it from a backup';
  if (key === undefined) {
    if (cert !== undefined) throw unusable(`${files.key}, the key of ${files.cert}, is missing`, restore);
    const fresh = issueCertificate(request);
    await writePrivate(files.key, fresh.key);
    await writePublic(files.cert, fresh.cert);
    return fresh;
  }
  const privateKey = readOr(() => createPrivateKey(key));
  if (privateKey === undefined) throw unusable(`${files.key} is not a private key in PEM`, restore);
  if (cert !== undefined) {
    const certificate = readOr(() => new X509Certificate(cert));
    if (certificate === undefined) throw unusable(`${files.cert} is not a certificate in PEM`, restore);
    if (!certificate.checkPrivateKey(privateKey)) {
      throw unusable(`${files.key} is not the key of ${files.cert}`, 'restore both from one backup');
    }
    const subject = subjectText(request);
    if (!certificate.ca || certificate.subject !== subject) {
      throw unusable(`${files.cert} is not the authority ${subject}`, `${restore}, or choose another --data-dir`);
    }
    if (Date.parse(certificate.validTo) > now + renewDays * day) return { cert, key };
  }
  const renewed = issueCertificate({ ...request, key });
  await writePublic(files.cert, renewed.cert);
  return renewed;
}

async function ensure(
  folder: string | undefined,
  name: string,
  now: number,
  request: CertificateRequest,
  issuer: Identity & { readonly name: string },
): Promise<Identity> {
  if (folder === undefined) return issueCertificate(request, issuer);
  const files = filesOf(folder, name);
  const [cert, key] = [await readIfThere(files.cert), await readPrivate(files.key)];
  if (cert !== undefined && key !== undefined && stillGood({ cert, key }, request, now, issuer)) return { cert, key };
  const fresh = issueCertificate(request, issuer);
  await writePrivate(files.key, fresh.key);
  await writePublic(files.cert, fresh.cert);
  return fresh;
}

function stillGood(held: Identity, request: CertificateRequest, now: number, issuer: Identity): boolean {
  const certificate = readOr(() => new X509Certificate(held.cert));
  const key = readOr(() => createPrivateKey(held.key));
  if (certificate === undefined || key === undefined) return false;
  const signer = new X509Certificate(issuer.cert);
  return (
    certificate.checkPrivateKey(key) &&
    certificate.checkIssued(signer) &&
    certificate.verify(signer.publicKey) &&
    !certificate.ca &&
    Date.parse(certificate.validFrom) <= now &&
    Date.parse(certificate.validTo) > now + renewDays * day &&
    certificate.subject === subjectText(request) &&
    sameHosts(certificate, request.hosts ?? [])
  );
}

/** Undefined when the text is not what `read` expects. */
function readOr<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

const subjectText = ({ commonName, organizations = [] }: CertificateRequest) =>
  [...organizations.map((organization) => `O=${organization}`), `CN=${commonName}`].join('\n');

function sameHosts(certificate: X509Certificate, hosts: readonly string[]): boolean {
  const count = certificate.subjectAltName?.split(', ').length ?? 0;
  const covers = (host: string) =>
    (isIP(host) === 0 ? certificate.checkHost(host, { subject: 'never' }) : certificate.checkIP(host)) !== undefined;
  return count === hosts.length && hosts.every(covers);
}
