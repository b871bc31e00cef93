import { join } from 'node:path';
import {
  type ConnectionCounts,
  type Handler,
  type Listener,
  type ListenerOptions,
  listen,
  maxConnections,
} from '../http/index.ts';
import type { Names } from '../meta/index.ts';
import type { Store } from '../store/index.ts';
import { loadTls, type Tls } from './certificates/tls.ts';
import type { TrustedAuthorities } from './certificates/trusted-authorities.ts';
import { kubeconfig, urlOf, writeKubeconfig } from './commands/kubeconfig.ts';
import type { Dependencies } from './dependencies.ts';
import { readFileLimit } from './observability/process-usage.ts';
import type { ServerSettings } from './settings/flags.ts';
import { shareOf } from './settings/in-flight-limits.ts';
import { StartError, systemReason } from './start-error.ts';
import type { Workers } from './workers/workers.ts';

/** The address of a listening server, and the kubeconfig of its administrator. */
export interface Address {
  /** URL such as `https://127.0.0.1:6443`. */
  readonly url: string;
  readonly port: number;
  /** The administrator's kubeconfig (`system:masters`). */
  readonly kubeconfig: string;
  /** The file of the kubeconfig; undefined without a data directory. */
  readonly kubeconfigPath: string | undefined;
}

/** The open listener of a server. */
export interface Listening {
  readonly address: Address;
  /** The current certificates. */
  readonly tls: () => Tls;
  readonly connections: () => ConnectionCounts;
  /** Whether requests are still handled, or may arrive after `close`. */
  readonly busy: () => boolean;
  /** Stops accepting connections. Resolves once all are closed, at the latest after `graceMs`. */
  close(graceMs: number): Promise<void>;
}

type ListeningDependencies = Pick<Dependencies, 'clock' | 'log'> & {
  readonly trusted: TrustedAuthorities;
  /** The store with the certificate authority that all of its servers share. Undefined: it is in the data directory. */
  readonly sharedBy: Store | undefined;
  /** The other processes of the server, which are given connections. */
  readonly workers: Workers | undefined;
};

/** Interval at which certificates are reloaded, and renewed when they are about to expire (ms). */
const renewMs = 60_000;

/**
 * Opens the TLS port, and writes the administrator's kubeconfig when there is a data directory. `trusted` follows the
 * files of the certificate authorities. @throws StartError, StoreError
 */
export async function openListener(
  settings: ServerSettings,
  names: Names,
  handler: Handler,
  { clock, log, trusted, sharedBy, workers }: ListeningDependencies,
): Promise<Listening> {
  const load = (previous?: Tls) => loadTls(settings, names, clock.now(), sharedBy, previous);
  let tls = await load();
  trusted.replace(tls);
  const listener = await open(settings, handler, { clock, log, assign: workers?.assign }, wireTls(tls, trusted));
  trusted.onFrontChange(() => listener.renew(wireTls(tls, trusted)));
  const url = urlOf(listener.address, listener.port);
  const publish = async () => workers?.publish({ tls, url });
  await publish();
  const path = settings.dataDir === undefined ? undefined : join(settings.dataDir, 'admin.kubeconfig');
  const config = () =>
    kubeconfig({
      cluster: names.product,
      server: url,
      authority: tls.authority,
      user: `${names.product}-admin`,
      certificate: tls.admin,
    });
  const writeConfig = async () => {
    if (path !== undefined) await writeKubeconfig(path, config());
  };
  await writeConfig();

  let cancel = () => {};
  let closed = false;
  let failure = '';
  const renew = async () => {
    try {
      const fresh = await load(tls);
      if (JSON.stringify(fresh) !== JSON.stringify(tls)) {
        tls = fresh;
        trusted.replace(tls);
        listener.renew(wireTls(tls, trusted));
        await Promise.all([publish(), writeConfig()]);
        log.info('certificates were renewed', {});
      }
      failure = '';
    } catch (error) {
      // The previous certificates stay in use. The same failure is logged once.
      if (String(error) !== failure) log.error('failed to renew the certificates', { error });
      failure = String(error);
    }
  };
  const renewLater = () => {
    if (!closed) cancel = clock.after(renewMs, () => void renew().finally(renewLater));
  };
  renewLater();
  return {
    address: { url, port: listener.port, kubeconfig: config(), kubeconfigPath: path },
    tls: () => tls,
    connections: listener.counts,
    busy: () => listener.busy > 0,
    close(graceMs) {
      closed = true;
      cancel();
      return listener.close(graceMs);
    },
  };
}

/** The listener of this process and its limits: a share of those of the server, and that of its files. */
export const processListening = async (
  settings: ServerSettings,
): Promise<Pick<ListenerOptions, 'http2' | 'limits' | 'maxFiles'>> => ({
  http2: !settings.disableHttp2Serving,
  limits: { connections: shareOf(settings, maxConnections) },
  maxFiles: await readFileLimit(),
});

/** The handshake names the authorities of clients and proxies; authenticators tell them apart later. */
export const wireTls = ({ cert, key }: Tls, trusted: TrustedAuthorities) => ({ cert, key, clientCa: trusted.all });

async function open(
  settings: ServerSettings,
  handler: Handler,
  dependencies: Pick<Dependencies, 'clock' | 'log'> & Pick<ListenerOptions, 'assign'>,
  tls: ListenerOptions['tls'],
): Promise<Listener> {
  const { bindAddress: address, securePort: port } = settings;
  const options = { handler, address, port, tls, ...(await processListening(settings)), ...dependencies };
  try {
    return await listen(options);
  } catch (error) {
    throw new StartError(`cannot listen on ${address} port ${port}: ${systemReason(error)}`, error);
  }
}
