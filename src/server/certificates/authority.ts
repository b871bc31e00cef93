/** The certificate authority of the server: in a folder, or in the store for all servers of the store. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import { isJsonObject, type Json } from '../../meta/index.ts';
import { type CertificateRequest, type CertKeyPair, issueCertificate } from '../../pki/index.ts';
import type { Store } from '../../store/index.ts';
import { readIfExists, readPrivate, writePrivate, writePublic } from '../private-files.ts';
import { StartError } from '../start-error.ts';
import { secretsPrefix } from './stored-keys.ts';

/** The certificate and the key in PEM; either may be missing. */
type StoredPair = Partial<CertKeyPair>;

/** Describes the certificate of the authority. */
export interface AuthorityRequest {
  readonly request: CertificateRequest;
  /** A certificate that expires before this time is issued again for the same key (milliseconds since 1970). */
  readonly renewBefore: number;
}

/** The store key of the authority, whose certificate and key are JSON. */
const authorityKey = `${secretsPrefix}certificate-authority`;

/** The authority in the folder, created if missing; a new one without a folder. @throws StartError when it is lost or damaged */
export async function ownAuthority(
  folder: string | undefined,
  authorityRequest: AuthorityRequest,
): Promise<CertKeyPair> {
  if (folder === undefined) return issueCertificate(authorityRequest.request);
  const files = filesOf(folder);
  const storedPair = await readFolder(folder);
  const authority = authorityOf(storedPair, authorityRequest, files);
  if (authority.key !== storedPair.key) await writePrivate(files.key, authority.key);
  if (authority.cert !== storedPair.cert) await writePublic(files.cert, authority.cert);
  return authority;
}

/**
 * The authority in the store. The first server that needs it creates it, from the authority in its folder if there is one.
 * The certificate is copied to the folder, the key is not.
 * @throws StartError when it is damaged, or when the folder has the key of another authority; StoreError
 */
export async function sharedAuthority(
  store: Store,
  folder: string | undefined,
  authorityRequest: AuthorityRequest,
): Promise<CertKeyPair> {
  const own = folder === undefined ? {} : await readFolder(folder);
  for (;;) {
    const { entry } = await store.get(authorityKey);
    const storedPair = entry === undefined ? withKey(own) : readStored(entry.value);
    const authority = authorityOf(
      storedPair,
      authorityRequest,
      folder !== undefined && entry === undefined ? filesOf(folder) : storeLabels,
    );
    if (entry === undefined || authority.cert !== storedPair.cert) {
      const compare = { key: authorityKey, revision: entry?.revision ?? 0 };
      const value = Buffer.from(JSON.stringify(authority));
      const { ok } = await store.commit([compare], [{ key: authorityKey, value }]);
      // Another server was first.
      if (!ok) continue;
    }
    if (folder !== undefined) await saveCertificate(folder, own, authority);
    return authority;
  }
}

/** Names of the certificate and key in the store, for messages. */
const storeLabels: CertKeyPair = {
  cert: `the certificate of ${authorityKey} in the store`,
  key: `the key of ${authorityKey} in the store`,
};

/** A certificate without its key is a copy of the one in the store. */
const withKey = (own: StoredPair): StoredPair => (own.key === undefined ? {} : own);

async function saveCertificate(folder: string, own: StoredPair, { cert, key }: CertKeyPair): Promise<void> {
  const files = filesOf(folder);
  if (own.key !== undefined && own.key !== key) {
    throw new StartError(
      `${files.key} is the key of another authority than that of the store: choose another --data-dir, or remove ${files.cert} and ${files.key}`,
    );
  }
  if (own.cert !== cert) await writePublic(files.cert, cert);
}

const filesOf = (folder: string): CertKeyPair => ({ cert: join(folder, 'ca.crt'), key: join(folder, 'ca.key') });

async function readFolder(folder: string): Promise<StoredPair> {
  const files = filesOf(folder);
  const [cert, key] = [await readIfExists(files.cert), await readPrivate(files.key)];
  return { ...(cert === undefined ? {} : { cert }), ...(key === undefined ? {} : { key }) };
}

/** @throws StartError */
function readStored(value: Uint8Array): CertKeyPair {
  const parsed = tryRead(() => JSON.parse(Buffer.from(value).toString()) as Json);
  const { cert, key } = isJsonObject(parsed) ? parsed : {};
  if (typeof cert === 'string' && typeof key === 'string') return { cert, key };
  throw new StartError(
    `the store has a damaged certificate authority under the key ${authorityKey}: restore it from a backup`,
  );
}

/**
 * The stored authority, or a new one when nothing is stored. Its certificate is issued again for the same key when it is
 * about to expire, or missing because the first start was interrupted. `names` are those of the certificate and key in
 * messages. @throws StartError
 */
function authorityOf(
  { cert, key }: StoredPair,
  { request, renewBefore }: AuthorityRequest,
  names: CertKeyPair,
): CertKeyPair {
  const unusable = (problem: string, remedy: string) =>
    new StartError(
      `${problem}: ${remedy}. To start with a new authority, which clients and nodes do not trust yet, remove ${names.cert} and ${names.key}`,
    );
  const restore = 'restore it from a backup';
  if (key === undefined) {
    if (cert !== undefined) throw unusable(`${names.key}, the key of ${names.cert}, is missing`, restore);
    return issueCertificate(request);
  }
  const privateKey = tryRead(() => createPrivateKey(key));
  if (privateKey === undefined) throw unusable(`${names.key} is not a private key in PEM`, restore);
  if (cert !== undefined) {
    const certificate = tryRead(() => new X509Certificate(cert));
    if (certificate === undefined) throw unusable(`${names.cert} is not a certificate in PEM`, restore);
    if (!certificate.checkPrivateKey(privateKey)) {
      throw unusable(`${names.key} is not the key of ${names.cert}`, 'restore both from one backup');
    }
    const subject = subjectText(request);
    if (!certificate.ca || certificate.subject !== subject) {
      throw unusable(`${names.cert} is not the authority ${subject}`, `${restore}, or choose another --data-dir`);
    }
    if (Date.parse(certificate.validTo) > renewBefore) return { cert, key };
  }
  return issueCertificate({ ...request, key });
}

/** Returns undefined when `read` throws. */
export function tryRead<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** The subject of a certificate as Node writes it. */
export const subjectText = ({ commonName, organizations = [] }: CertificateRequest) =>
  [...organizations.map((organization) => `O=${organization}`), `CN=${commonName}`].join('\n');
