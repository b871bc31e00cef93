import { createPrivateKey, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { type Cidr, firstAddress, type Names } from '../../meta/index.ts';
import { type CertificateRequest, type CertKeyPair, issueCertificate } from '../../pki/index.ts';
import type { Store } from '../../store/index.ts';
import { ensureFolder, readIfExists, readPrivate, writePrivate, writePublic } from '../private-files.ts';
import { ownAuthority, sharedAuthority, subjectText, tryRead } from './authority.ts';

/** The certificate authority of the server, its serving certificate and the administrator's client certificate. */
export interface Certificates {
  /** Signs the other two; trusted by clients, and by the server for client certificates. */
  readonly authority: CertKeyPair;
  readonly server: CertKeyPair;
  readonly admin: CertKeyPair;
}

export interface CertificateOptions {
  /** Folder of the certificates and keys, created if missing. Undefined: they stay in memory. */
  readonly folder: string | undefined;
  /** The certificates in memory so far, which stay in use without a folder. */
  readonly previous?: Certificates | undefined;
  /** The store with the authority that all of its servers share. Default: the authority is in the folder. */
  readonly sharedBy?: Store | undefined;
  readonly names: Names;
  readonly bindAddress: string;
  /** The configured advertise address. */
  readonly advertiseAddress?: string | undefined;
  readonly serviceRanges: readonly Cidr[];
  /** Milliseconds since 1970. */
  readonly now: number;
}

const day = 86_400_000;
const authorityDays = 10 * 365;
const leafDays = 3 * 365;
/** Certificates that expire sooner are renewed at startup, so that a server can run for a year. */
const renewDays = 365;

const authorityNameOf = ({ product }: Names) => `${product}-ca`;

/**
 * Issues a client certificate, valid from an hour before `now` (milliseconds since 1970) until `lifeMs` after it.
 */
export const issueClientCertificate = (
  authority: CertKeyPair,
  subject: Pick<CertificateRequest, 'commonName' | 'organizations'>,
  now: number,
  lifeMs = day,
): CertKeyPair =>
  issueCertificate(
    { ...subject, usage: 'client', notBefore: now - day / 24, notAfter: now + lifeMs },
    { ...authority, name: commonNameOf(authority.cert) },
  );

/** The common name of the subject of a certificate in PEM. */
export const commonNameOf = (cert: string): string =>
  new X509Certificate(cert).toLegacyObject().subject.CN?.toString() ?? '';

/**
 * Loads the certificates of the folder and issues those that are missing. The key of the authority is never replaced,
 * because clients and nodes trust what it signed. The other two are issued again when they are missing, unreadable or
 * about to expire, when the names of the server have changed, or when they were not signed by the authority.
 * @throws StartError when the authority is lost or damaged; StoreError
 */
export async function ensureCertificates(options: CertificateOptions): Promise<Certificates> {
  const { folder, sharedBy, names, now } = options;
  const previous = folder === undefined ? options.previous : undefined;
  const life = (days: number) => ({ notBefore: now - day / 24, notAfter: now + days * day });
  const authorityName = authorityNameOf(names);
  if (folder !== undefined) await ensureFolder(folder);
  const request = { commonName: authorityName, usage: 'authority', ...life(authorityDays) } as const;
  const authorityRequest = { request, renewBefore: now + renewDays * day };
  const authority = await (sharedBy === undefined
    ? (previous?.authority ?? ownAuthority(folder, authorityRequest))
    : sharedAuthority(sharedBy, folder, authorityRequest));
  const end = Date.parse(new X509Certificate(authority.cert).validTo);
  const leaf = life(leafDays);
  const leafLife = { notBefore: leaf.notBefore, notAfter: Math.min(leaf.notAfter, end) };
  const issuer = { ...authority, name: authorityName };
  const hosts = serverHosts(options);
  return {
    authority,
    server: await ensureLeaf(
      folder,
      'server',
      now,
      { commonName: `${names.product}-apiserver`, usage: 'server', hosts, ...leafLife },
      issuer,
      previous?.server,
    ),
    admin: await ensureLeaf(
      folder,
      'admin',
      now,
      { commonName: `${names.product}-admin`, organizations: ['system:masters'], usage: 'client', ...leafLife },
      issuer,
      previous?.admin,
    ),
  };
}

/** The subject alternative names of the serving certificate: local, advertised, and those of the service. */
function serverHosts({ names, bindAddress, advertiseAddress, serviceRanges }: CertificateOptions): string[] {
  const service = names.product;
  return [
    ...new Set([
      'localhost',
      '127.0.0.1',
      '::1',
      bindAddress,
      ...(advertiseAddress === undefined ? [] : [advertiseAddress]),
      // A host name need not be a valid DNS name.
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

async function ensureLeaf(
  folder: string | undefined,
  name: string,
  now: number,
  request: CertificateRequest,
  issuer: CertKeyPair & { readonly name: string },
  previous: CertKeyPair | undefined,
): Promise<CertKeyPair> {
  if (folder === undefined) {
    return previous !== undefined && isUsable(previous, request, now, issuer)
      ? previous
      : issueCertificate(request, issuer);
  }
  const files = filesOf(folder, name);
  const [cert, key] = [await readIfExists(files.cert), await readPrivate(files.key)];
  if (cert !== undefined && key !== undefined && isUsable({ cert, key }, request, now, issuer)) return { cert, key };
  const fresh = issueCertificate(request, issuer);
  await writePrivate(files.key, fresh.key);
  await writePublic(files.cert, fresh.cert);
  return fresh;
}

function isUsable(pair: CertKeyPair, request: CertificateRequest, now: number, issuer: CertKeyPair): boolean {
  const certificate = tryRead(() => new X509Certificate(pair.cert));
  const key = tryRead(() => createPrivateKey(pair.key));
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

function sameHosts(certificate: X509Certificate, hosts: readonly string[]): boolean {
  const count = certificate.subjectAltName?.split(', ').length ?? 0;
  const covers = (host: string) =>
    (isIP(host) === 0 ? certificate.checkHost(host, { subject: 'never' }) : certificate.checkIP(host)) !== undefined;
  return count === hosts.length && hosts.every(covers);
}
