import { createPublicKey, generateKeyPairSync, type KeyObject, sign, X509Certificate } from 'node:crypto';
import { der } from '../der.ts';
import { extension, oid, serialNumber } from '../x509.ts';

/** A certificate as a test wants it, right or wrong, with its private key. */
export interface Forged {
  readonly certificate: X509Certificate;
  readonly key: KeyObject;
  /** Its subject in DER. */
  readonly subject: Buffer;
}

export interface ForgedRequest {
  /** In DER. Default: the common name `ann`. */
  readonly subject?: Buffer;
  readonly extensions: readonly Buffer[];
  /** Milliseconds since 1970. */
  readonly notBefore?: number;
  readonly notAfter?: number;
  /** Default: a new one on P-256. */
  readonly key?: KeyObject;
  /** Default: SHA-256. */
  readonly digest?: 'sha1' | 'sha256';
  /** Wraps the list of extensions. Default: as DER demands. */
  readonly wrapExtensions?: (list: Buffer) => Buffer;
}

const signatureAlgorithms: { readonly [keyAndDigest: string]: string } = {
  'ec sha1': '1.2.840.10045.4.1',
  'ec sha256': oid.ecdsaWithSha256,
  'rsa sha1': '1.2.840.113549.1.1.5',
  'rsa sha256': '1.2.840.113549.1.1.11',
};

/** The time of verification, and the default validity around it (ms). */
export const judged = Date.UTC(2026, 5, 1);
const hour = 3_600_000;

export const newKey = (): KeyObject => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;

/** Signs a certificate by an issuer, or by its own key, without regard to what X.509 allows. */
export function forge(
  {
    subject = nameOf([oid.commonName, der.utf8('ann')]),
    extensions,
    notBefore = judged - hour,
    notAfter = judged + hour,
    key = newKey(),
    digest = 'sha256',
    wrapExtensions = (list) => der.explicit(3, list),
  }: ForgedRequest,
  issuer?: Forged,
): Forged {
  const signer = issuer?.key ?? key;
  const type = signatureAlgorithms[`${signer.asymmetricKeyType} ${digest}`] ?? '';
  const algorithm = der.sequence(der.objectId(type), ...(signer.asymmetricKeyType === 'rsa' ? [der.null()] : []));
  const body = der.sequence(
    der.explicit(0, der.unsigned(Buffer.from([2]))),
    der.unsigned(serialNumber()),
    algorithm,
    issuer?.subject ?? subject,
    der.sequence(der.time(notBefore), der.time(notAfter)),
    subject,
    createPublicKey(key).export({ type: 'spki', format: 'der' }),
    wrapExtensions(der.sequence(...extensions)),
  );
  const signature = der.bitString(sign(digest, body, signer));
  return { certificate: new X509Certificate(der.sequence(body, algorithm, signature)), key, subject };
}

/** A subject with these attributes, each with its type and its value in DER. */
export const nameOf = (...attributes: readonly (readonly [type: string, value: Buffer])[]): Buffer =>
  der.sequence(...attributes.map(([type, value]) => der.set(der.sequence(der.objectId(type), value))));

/** Extensions by what they say. */
export const says = {
  authority: (pathLength?: number) =>
    extension(
      oid.basicConstraints,
      der.sequence(der.boolean(true), ...(pathLength === undefined ? [] : [der.unsigned(Buffer.from([pathLength]))])),
      true,
    ),
  noAuthority: () => extension(oid.basicConstraints, der.sequence(), true),
  signsCertificates: () => extension(oid.keyUsage, der.bits(5, 6), true),
  signsData: () => extension(oid.keyUsage, der.bits(0), true),
  forClients: () => extension(oid.extendedKeyUsage, der.sequence(der.objectId(oid.clientAuth))),
  forServers: () => extension(oid.extendedKeyUsage, der.sequence(der.objectId(oid.serverAuth))),
};

/** The extensions of an authority, and of a client. */
export const ofAuthority = (): Buffer[] => [says.authority(), says.signsCertificates()];
export const ofClient = (): Buffer[] => [says.noAuthority(), says.signsData(), says.forClients()];
