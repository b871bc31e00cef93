import { join } from 'node:path';
import { type Handler, listen } from '../http/index.ts';
import type { Names } from '../meta/index.ts';
import type { Dependencies } from './dependencies.ts';
import type { ServerSettings } from './flags.ts';
import { kubeconfig, urlOf, writeKubeconfig } from './kubeconfig.ts';
import { StartError, systemReason } from './start-error.ts';
import { type Tls, tlsOf } from './tls.ts';

/** The address of a listening server, and the kubeconfig of its administrator. */
export interface Address {
  /** Such as `https://127.0.0.1:6443`. */
  readonly url: string;
  readonly port: number;
  /** The administrator's kubeconfig (`system:masters`). */
  readonly kubeconfig: string;
  /** The file that holds it; undefined without a data directory. */
  readonly kubeconfigPath: string | undefined;
}

/** The open listener of a server. */
export interface Listening {
  readonly address: Address;
  /** The current client CA bundle, in PEM. */
  readonly clientCa: () => string;
  /** Stops accepting connections; resolves when all are closed, at the latest after `graceMs`. */
  close(graceMs: number): Promise<void>;
}

/** How often certificates are reloaded from their files and renewed if about to expire (ms). */
const renewMs = 3_600_000;

/** Opens the TLS port, and writes the administrator's kubeconfig when there is a data directory. @throws StartError */
export async function openListener(
  settings: ServerSettings,
  names: Names,
  handler: Handler,
  { clock, log }: Pick<Dependencies, 'clock' | 'log'>,
): Promise<Listening> {
  let tls = await tlsOf(settings, names, clock.now());
  const listener = await open(settings, handler, { clock, log }, tls);
  const url = urlOf(listener.address, listener.port);
  const path = settings.dataDir === undefined ? undefined : join(settings.dataDir, 'admin.kubeconfig');
  const config = () => kubeconfig({ names, server: url, authority: tls.authority, admin: tls.admin });
  const writeConfig = async () => {
    if (path !== undefined) await writeKubeconfig(path, config());
  };
  await writeConfig();

  let cancel = () => {};
  let closed = false;
  const renew = async () => {
    try {
      const fresh = await tlsOf(settings, names, clock.now());
      if (JSON.stringify(fresh) !== JSON.stringify(tls)) {
        tls = fresh;
        listener.renew(tls);
        await writeConfig();
        log.info('certificates were renewed', {});
      }
    } catch (error) {
      log.error('failed to renew the certificates', { error });
    }
  };
  const renewLater = () => {
    if (!closed) cancel = clock.after(renewMs, () => void renew().finally(renewLater));
  };
  renewLater();
  return {
    address: { url, port: listener.port, kubeconfig: config(), kubeconfigPath: path },
    clientCa: () => tls.clientCa,
    close(graceMs) {
      closed = true;
      cancel();
      return listener.close(graceMs);
    },
  };
}

async function open(
  settings: ServerSettings,
  handler: Handler,
  dependencies: Pick<Dependencies, 'clock' | 'log'>,
  tls: Tls,
) {
  const { bindAddress: address, securePort: port } = settings;
  try {
    return await listen({ handler, address, port, tls, ...dependencies });
  } catch (error) {
    throw new StartError(`cannot listen on ${address} port ${port}: ${systemReason(error)}`, error);
  }
}
