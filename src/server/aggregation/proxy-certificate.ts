import type { CertKeyPair } from '../../pki/index.ts';
import { readCertificatePair } from '../certificates/tls.ts';
import type { Dependencies } from '../dependencies.ts';
import { repeat } from '../repeat.ts';
import type { ServerSettings } from '../settings/flags.ts';

/** Interval at which the files are read again (ms). */
const rereadMs = 60_000;

/** The client certificate that this server shows to extension API servers. Changed files take effect within a minute. */
export interface ProxyCertificate {
  readonly current: () => CertKeyPair | undefined;
  close(): Promise<void>;
}

/** @throws StartError */
export async function openProxyCertificate(
  { proxyClientCertFile: cert, proxyClientKeyFile: key }: ServerSettings,
  { clock, log }: Pick<Dependencies, 'clock' | 'log'>,
): Promise<ProxyCertificate> {
  const read = () => readCertificatePair('proxy-client-cert-file', cert, 'proxy-client-key-file', key);
  let pair = await read();
  if (pair === undefined) return { current: () => undefined, close: async () => {} };
  let failed = false;
  const stop = repeat(clock, rereadMs, async () => {
    try {
      pair = await read();
      failed = false;
    } catch (error) {
      // The files may be about to be replaced. The same failure is logged once.
      if (!failed) log.error('failed to read the certificate of --proxy-client-cert-file again', { error });
      failed = true;
    }
  });
  return { current: () => pair, close: stop };
}
