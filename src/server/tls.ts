import { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import type { Names } from '../meta/index.ts';
import { ensureCertificates } from './certificates.ts';
import type { ServerSettings } from './flags.ts';
import { readSettingFile } from './read-file.ts';
import { StartError, systemReason } from './start-error.ts';
import type { Identity } from './x509.ts';

type TlsSettings = Pick<
  ServerSettings,
  | 'bindAddress'
  | 'advertiseAddress'
  | 'serviceClusterIpRange'
  | 'tlsCertFile'
  | 'tlsPrivateKeyFile'
  | 'clientCaFile'
  | 'dataDir'
>;

/** Everything in PEM that the listener and its administrator need. */
export interface Tls {
  readonly cert: string;
  readonly key: string;
  /** Authorities of client certificates: the server's own, and those of `--client-ca-file`. */
  readonly clientCa: string;
  /** What clients must trust to trust `cert`. */
  readonly authority: string;
  readonly admin: Identity;
}

/** Certificates as the settings say and the data directory has them. @throws StartError */
export async function tlsOf(settings: TlsSettings, names: Names, now: number): Promise<Tls> {
  const { tlsCertFile, tlsPrivateKeyFile, clientCaFile, dataDir } = settings;
  const own = await ensureCertificates({
    folder: dataDir,
    names,
    bindAddress: settings.bindAddress,
    advertiseAddress: settings.advertiseAddress,
    serviceRanges: settings.serviceClusterIpRange,
    now,
  });
  const clientCa = clientCaFile === undefined ? '' : await readAuthorities(clientCaFile);
  const shared = { clientCa: own.authority.cert + clientCa, admin: own.admin };
  if (tlsCertFile === undefined || tlsPrivateKeyFile === undefined) {
    return { ...shared, ...own.server, authority: own.authority.cert };
  }
  const given = await readPair(tlsCertFile, tlsPrivateKeyFile);
  // Who trusts the certificates of the chain themselves needs to know nothing of what signed them.
  return { ...shared, ...given, authority: given.cert };
}

async function readPair(certFile: string, keyFile: string): Promise<Identity> {
  const cert = await readSettingFile('tls-cert-file', certFile);
  const key = await readSettingFile('tls-private-key-file', keyFile);
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    const files = `--tls-cert-file=${JSON.stringify(certFile)} and --tls-private-key-file=${JSON.stringify(keyFile)}`;
    throw new StartError(`${files} are no certificate in PEM with its key: ${systemReason(error)}`, error);
  }
  return { cert, key };
}

async function readAuthorities(path: string): Promise<string> {
  const text = await readSettingFile('client-ca-file', path);
  try {
    for (const [pem] of text.matchAll(/-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----/gs)) {
      // Throws when it is none.
      new X509Certificate(pem);
    }
  } catch (error) {
    throw new StartError(`--client-ca-file=${JSON.stringify(path)} holds a broken certificate`, error);
  }
  if (!text.includes('-----BEGIN CERTIFICATE-----')) {
    throw new StartError(`--client-ca-file=${JSON.stringify(path)} holds no certificate in PEM`);
  }
  return text;
}
