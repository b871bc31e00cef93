import { createSecureContext } from 'node:tls';
import type { KubeletTrust } from '../http/index.ts';
import type { Names } from '../meta/index.ts';
import { type CertKeyPair, formatPem, isCertificate, pemBlocks } from '../pki/index.ts';
import { ensureCertificates } from './certificates.ts';
import type { ServerSettings } from './flags.ts';
import { readPrivateKey, readSettingFile } from './read-file.ts';
import { StartError, systemReason } from './start-error.ts';

type TlsSettings = Pick<
  ServerSettings,
  | 'bindAddress'
  | 'advertiseAddress'
  | 'serviceClusterIpRange'
  | 'tlsCertFile'
  | 'tlsPrivateKeyFile'
  | 'clientCaFile'
  | 'requestheaderClientCaFile'
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
  readonly admin: CertKeyPair;
}

/** The certificates of the settings and of the data directory. @throws StartError */
export async function tlsOf(settings: TlsSettings, names: Names, now: number): Promise<Tls> {
  const { tlsCertFile, tlsPrivateKeyFile, clientCaFile, requestheaderClientCaFile: proxyCaFile, dataDir } = settings;
  const own = await ensureCertificates({
    folder: dataDir,
    names,
    bindAddress: settings.bindAddress,
    advertiseAddress: settings.advertiseAddress,
    serviceRanges: settings.serviceClusterIpRange,
    now,
  });
  const clientCa = clientCaFile === undefined ? '' : await readAuthorities('client-ca-file', clientCaFile);
  const requestHeaderCa =
    proxyCaFile === undefined ? undefined : await readAuthorities('requestheader-client-ca-file', proxyCaFile);
  const shared = { clientCa: own.authority.cert + clientCa, requestHeaderCa, admin: own.admin };
  if (tlsCertFile === undefined || tlsPrivateKeyFile === undefined) {
    return { ...shared, ...own.server, authority: own.authority.cert };
  }
  const given = await readPair(['tls-cert-file', tlsCertFile], ['tls-private-key-file', tlsPrivateKeyFile]);
  // The chain of the given certificate serves as CA bundle, because its root is not known.
  return { ...shared, ...given, authority: given.cert };
}

/** The CA bundle and the client certificate for connections to kubelets. @throws StartError */
export async function kubeletTrustOf(
  settings: Pick<ServerSettings, 'kubeletCertificateAuthority' | 'kubeletClientCertificate' | 'kubeletClientKey'>,
): Promise<KubeletTrust> {
  const { kubeletCertificateAuthority: ca, kubeletClientCertificate: cert, kubeletClientKey: key } = settings;
  return {
    ...(ca === undefined ? {} : { ca: await readAuthorities('kubelet-certificate-authority', ca) }),
    ...(cert === undefined || key === undefined
      ? {}
      : await readPair(['kubelet-client-certificate', cert], ['kubelet-client-key', key])),
  };
}

type FileSetting = readonly [flag: string, path: string];

async function readPair(certFile: FileSetting, keyFile: FileSetting): Promise<CertKeyPair> {
  const cert = await readSettingFile(...certFile);
  const key = await readPrivateKey(...keyFile);
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    const [one, other] = [certFile, keyFile].map(([flag, path]) => `--${flag}=${JSON.stringify(path)}`);
    throw new StartError(`${one} and ${other} are no certificate in PEM with its key: ${systemReason(error)}`, error);
  }
  return { cert, key };
}

/** The certificates of a file, without other text. @throws StartError */
async function readAuthorities(flag: string, path: string): Promise<string> {
  const text = await readSettingFile(flag, path);
  const where = `--${flag}=${JSON.stringify(path)}`;
  const blocks = pemBlocks(text).filter(({ type }) => type === 'CERTIFICATE');
  const begun = text.split('-----BEGIN CERTIFICATE-----').length - 1;
  if (begun > blocks.length || !blocks.every(({ bytes }) => isCertificate(bytes))) {
    throw new StartError(`${where} holds a broken certificate`);
  }
  if (blocks.length === 0) throw new StartError(`${where} holds no certificate in PEM`);
  return blocks.map(({ type, bytes }) => formatPem(type, bytes)).join('');
}
