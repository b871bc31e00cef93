import { join } from 'node:path';
import {
  type EtcdStoreOptions,
  type LmdbObserver,
  openEtcdStore,
  openLmdbStore,
  openMemoryStore,
  openMigrated,
  type Store,
  StoreError,
} from '../../store/index.ts';
import { readAuthorities, readCertificatePair } from '../certificates/tls.ts';
import type { Dependencies } from '../dependencies.ts';
import { ensureFolder } from '../private-files.ts';
import type { ServerSettings } from '../settings/flags.ts';
import { StartError, systemReason } from '../start-error.ts';

type OpenDependencies = Pick<Dependencies, 'clock' | 'random' | 'log'> & { readonly observer?: LmdbObserver };

/** Interval between attempts to open an unavailable store (ms). */
const retryMs = 1_000;

/** Opens the store of the settings. Waits until etcd is available. @throws StartError */
export async function openStore(settings: ServerSettings, dependencies: OpenDependencies): Promise<Store> {
  const { clock, observer } = dependencies;
  const { store, dataDir, etcdCompactionInterval: historyMs } = settings;
  if (store === 'memory') return openMemoryStore({ clock, historyMs });
  if (store === 'etcd') return waitForEtcd(settings, dependencies);
  if (dataDir === undefined) throw new StartError('the store "lmdb" needs a data directory');
  try {
    await ensureFolder(dataDir);
    return await openLmdbStore({ path: join(dataDir, 'store'), clock, historyMs, ...(observer && { observer }) });
  } catch (error) {
    // The message of a StoreError names the fix.
    if (error instanceof StoreError) throw new StartError(error.message, error);
    throw new StartError(`the folder ${dataDir} cannot be used: ${systemReason(error)}`, error);
  }
}

/** Describes the location of the store, for messages. */
export function describeStore({ store, dataDir, etcdServers, etcdPrefix }: ServerSettings): string {
  if (store === 'etcd') return `etcd at ${etcdServers.join(',')} below ${etcdPrefix}`;
  return store === 'memory' || dataDir === undefined ? 'memory' : `the data directory ${dataDir}`;
}

type EtcdSettings = Pick<
  ServerSettings,
  'etcdServers' | 'etcdPrefix' | 'etcdCafile' | 'etcdCertfile' | 'etcdKeyfile' | 'etcdCompactionInterval'
>;

/** The options of the store over etcd. Validates its files. @throws StartError */
export async function etcdStoreOptions(
  settings: EtcdSettings,
  { clock, random, log }: OpenDependencies,
): Promise<EtcdStoreOptions> {
  const { etcdServers: servers, etcdCafile: cafile, etcdCertfile: certfile, etcdKeyfile: keyfile } = settings;
  if (cafile !== undefined) await readAuthorities('etcd-cafile', cafile);
  await readCertificatePair('etcd-certfile', certfile, 'etcd-keyfile', keyfile);
  return {
    servers,
    clock,
    random,
    prefix: settings.etcdPrefix,
    historyMs: settings.etcdCompactionInterval,
    ...(cafile === undefined ? {} : { cafile }),
    ...(certfile === undefined || keyfile === undefined ? {} : { certfile, keyfile }),
    warn: log.warn,
  };
}

async function waitForEtcd(settings: ServerSettings, dependencies: OpenDependencies): Promise<Store> {
  const { clock, log } = dependencies;
  const options = await etcdStoreOptions(settings, dependencies);
  const { servers } = options;
  log.info('connecting to etcd', { servers });
  const late: EtcdStoreOptions['late'] = (servers) =>
    log.warn('etcd does not answer yet: check --etcd-servers', { servers });
  for (let attempt = 1; ; attempt++) {
    try {
      return await openMigrated(await openEtcdStore({ ...options, ...(attempt === 1 && { late }) }));
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      if (error.code !== 'unavailable') throw new StartError(error.message, error);
      log.warn('the store is not available: it is tried again until it is', { servers, error: error.message });
    }
    await new Promise<void>((resolve) => {
      clock.after(retryMs, resolve);
    });
  }
}
