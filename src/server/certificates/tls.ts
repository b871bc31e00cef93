import { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import type { KubeletTrust } from '../../http/index.ts';
import type { Names } from '../../meta/index.ts';
import { type CertKeyPair, formatPem, isCertificate, pemBlocks } from '../../pki/index.ts';
import type { Store } from '../../store/index.ts';
import type { ServerSettings } from '../settings/flags.ts';
import { readPrivateKey, readSettingFile } from '../settings/read-file.ts';
import { StartError, systemReason } from '../start-error.ts';
import { ensureCertificates } from './certificates.ts';

type TlsSettings = Pick<
  ServerSettings,
  | 'bindAddress'
  | 'advertiseAddress'
  | 'serviceClusterIpRange'
  | 'tlsCertFile'
  | 'tlsPrivateKeyFile'
  | 'clientCaFile'
  | 'requestheaderClientCaFile'
  | 'rootCaFile'
  | 'clusterSigningCertFile'
  | 'clusterSigningKeyFile'
  | 'dataDir'
>;

/** The PEM files of the listener and its administrator. */
export interface Tls {
  readonly cert: string;
  readonly key: string;
  /** The client CA bundle: the server's own authority and those of `--client-ca-file`. */
  readonly clientCa: string;
  /** The CA bundle of authenticating proxies; undefined: there are none. */
  readonly requestHeaderCa: string | undefined;
  /** The CA bundle by which clients verify `cert`. */
  readonly authority: string;
  /** The CA bundle by which pods verify the server. */
  readonly rootCa: string;
  /** Signs certificate signing requests. */
  readonly signing: CertKeyPair;
  /** The server's own authority, whose client certificates it accepts. */
  readonly clientAuthority: CertKeyPair;
  readonly admin: CertKeyPair;
}

/**
 * Loads the certificates of the settings and the data directory. `sharedBy` is the store with the shared authority, if any;
 * `previous` are those in use, of which a server without a data directory retains its own.
 * @throws StartError, StoreError
 */
export async function loadTls(
  settings: TlsSettings,
  names: Names,
  now: number,
  sharedBy?: Store,
  previous?: Tls,
): Promise<Tls> {
  const { tlsCertFile, tlsPrivateKeyFile, clientCaFile, requestheaderClientCaFile: proxyCaFile, dataDir } = settings;
  const { rootCaFile, clusterSigningCertFile: cert, clusterSigningKeyFile: key } = settings;
  const own = await ensureCertificates({
    folder: dataDir,
    previous: previous && certificatesOf(previous),
    sharedBy,
    names,
    bindAddress: settings.bindAddress,
    advertiseAddress: settings.advertiseAddress,
    serviceRanges: settings.serviceClusterIpRange,
    now,
  });
  const clientCa = clientCaFile === undefined ? '' : await readAuthorities('client-ca-file', clientCaFile);
  const requestHeaderCa =
    proxyCaFile === undefined ? undefined : await readAuthorities('requestheader-client-ca-file', proxyCaFile);
  const configuredPair = await readCertificatePair(
    'tls-cert-file',
    tlsCertFile,
    'tls-private-key-file',
    tlsPrivateKeyFile,
  );
  // The chain of a configured certificate serves as CA bundle, because its root is unknown.
  const authority = configuredPair?.cert ?? own.authority.cert;
  return {
    ...(configuredPair ?? own.server),
    authority,
    rootCa: rootCaFile === undefined ? authority : await readAuthorities('root-ca-file', rootCaFile),
    signing:
      (await readCertificatePair('cluster-signing-cert-file', cert, 'cluster-signing-key-file', key)) ?? own.authority,
    clientCa: own.authority.cert + clientCa,
    clientAuthority: own.authority,
    requestHeaderCa,
    admin: own.admin,
  };
}

/** The certificates that the server has issued, unless others are configured. */
const certificatesOf = ({ clientAuthority: authority, cert, key, admin }: Tls) => ({
  authority,
  server: { cert, key },
  admin,
});

/** The expiry of the current certificates (seconds since 1970) by their use. */
export function certificateExpiries(tls: Tls | undefined): ReadonlyMap<string, number> {
  if (tls === undefined) return new Map();
  const used = { serving: tls.cert, signing: tls.signing.cert, admin: tls.admin.cert };
  return new Map(
    Object.entries(used).map(([use, cert]) => [use, Date.parse(new X509Certificate(cert).validTo) / 1000]),
  );
}

/** Reads the CA bundle and the client certificate for connections to kubelets. @throws StartError */
export async function readKubeletTrust(
  settings: Pick<ServerSettings, 'kubeletCertificateAuthority' | 'kubeletClientCertificate' | 'kubeletClientKey'>,
): Promise<KubeletTrust> {
  const { kubeletCertificateAuthority: ca, kubeletClientCertificate: cert, kubeletClientKey: key } = settings;
  return {
    ...(ca === undefined ? {} : { ca: await readAuthorities('kubelet-certificate-authority', ca) }),
    ...(await readCertificatePair('kubelet-client-certificate', cert, 'kubelet-client-key', key)),
  };
}

/** Reads a certificate and its key; undefined when the files are not set. @throws StartError */
export async function readCertificatePair(
  certFlag: string,
  certPath: string | undefined,
  keyFlag: string,
  keyPath: string | undefined,
): Promise<CertKeyPair | undefined> {
  if (certPath === undefined || keyPath === undefined) return undefined;
  const cert = await readSettingFile(certFlag, certPath);
  const key = await readPrivateKey(keyFlag, keyPath);
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    const [one, other] = [`--${certFlag}=${JSON.stringify(certPath)}`, `--${keyFlag}=${JSON.stringify(keyPath)}`];
    throw new StartError(
      `${one} and ${other} are not a certificate in PEM with its key: ${systemReason(error)}`,
      error,
    );
  }
  return { cert, key };
}

/** Reads the certificates of a file and drops other text. @throws StartError */
export async function readAuthorities(flag: string, path: string): Promise<string> {
  const text = await readSettingFile(flag, path);
  const where = `--${flag}=${JSON.stringify(path)}`;
  const blocks = pemBlocks(text).filter(({ type }) => type === 'CERTIFICATE');
  const headerCount = text.split('-----BEGIN CERTIFICATE-----').length - 1;
  if (headerCount > blocks.length || !blocks.every(({ bytes }) => isCertificate(bytes))) {
    throw new StartError(`${where} holds a broken certificate`);
  }
  if (blocks.length === 0) throw new StartError(`${where} holds no certificate in PEM`);
  return blocks.map(({ type, bytes }) => formatPem(type, bytes)).join('');
}
