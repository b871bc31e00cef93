import { flag, type SettingsOf } from './flag.ts';
import * as type from './flag-types.ts';

/** The problem of the URL of an etcd member. Credentials are rejected, because they would reach logs. */
function serverProblem(server: string): string | undefined {
  const valid = URL.canParse(server) && /^https?:\/\/[^/@?#]+\/?$/.test(server);
  return valid ? undefined : `must be URLs such as https://10.0.0.1:2379; ${JSON.stringify(server)} is not`;
}

/** The flags of the backing store. */
export const storeFlags = {
  store: flag(
    'Store',
    type.oneOf('lmdb', 'memory', 'etcd'),
    'lmdb',
    'Where objects are stored: `lmdb` durably in the data directory, `memory` until the process ends, `etcd` in the cluster of `--etcd-servers`, which any number of servers may share.',
  ),
  dataDir: flag(
    'Store',
    type.folder,
    undefined,
    'Folder for objects (with `--store=lmdb`), certificates and the kubeconfig. If not set, it is `./orch-data/` followed by the API domain or, with `--store=memory`, a temporary folder that is removed at the end. Only the owner has access to its secret files. Servers must not share a folder.',
  ),
  etcdServers: flag(
    'Store',
    type.texts('url', serverProblem),
    [],
    'URLs of all members of the etcd cluster, 3.5.8 or newer.',
  ),
  etcdCafile: flag(
    'Store',
    type.file,
    undefined,
    'CA bundle in PEM for the certificates of etcd. If not set, the authorities of the system are trusted. A changed file takes effect with the next connection.',
  ),
  etcdCertfile: flag(
    'Store',
    type.file,
    undefined,
    'Client certificate in PEM for connections to etcd. A changed file takes effect with the next connection.',
  ),
  etcdKeyfile: flag(
    'Store',
    type.file,
    undefined,
    'Private key of `--etcd-certfile` in PEM. Others must not have access to the file.',
  ),
  etcdPrefix: flag(
    'Store',
    type.keyPrefix,
    '/registry',
    'Prefix of the keys of all objects in etcd. Servers with the same prefix are replicas of each other.',
  ),
  etcdCompactionInterval: flag(
    'Store',
    type.duration,
    300_000,
    'How long earlier resourceVersions can be listed and watched from, counted while a server runs. 0 keeps them for ever, and leaves the compaction of etcd to others.',
  ),
  historyMaxSize: flag(
    'Store',
    type.integer(0, Number.MAX_SAFE_INTEGER, 'bytes'),
    0,
    'Maximum size in bytes of the changes that are kept for `--etcd-compaction-interval`: beyond it the oldest are compacted earlier ([history.md](history.md)). 0 means no limit.',
  ),
  objectHistory: flag(
    'Store',
    type.boolean,
    false,
    'Whether a GET of an object with `resourceVersion=V&resourceVersionMatch=Exact` returns the object as it was at V ([history.md](history.md)). The reference server ignores `resourceVersionMatch` there.',
  ),
};

type StoreSettings = Pick<SettingsOf<typeof storeFlags>, 'store' | 'etcdServers' | 'etcdCafile' | 'etcdCertfile'>;

/** The problems of inconsistent store settings; `nameOf` spells a setting. */
export function storeProblems(settings: StoreSettings, nameOf: (key: keyof StoreSettings) => string): string[] {
  const { store, etcdServers: servers, etcdCafile, etcdCertfile } = settings;
  const files = [etcdCafile && nameOf('etcdCafile'), etcdCertfile && nameOf('etcdCertfile')].filter(Boolean);
  if (store !== 'etcd') {
    const given = [...(servers.length > 0 ? [nameOf('etcdServers')] : []), ...files];
    return given.map((name) => `${name} is for ${nameOf('store')}=etcd only`);
  }
  if (servers.length === 0) {
    return [`${nameOf('store')}=etcd needs ${nameOf('etcdServers')}, such as https://10.0.0.1:2379`];
  }
  if (servers.some((server) => server.startsWith('https:'))) return [];
  return files.map((name) => `${name} needs https in ${nameOf('etcdServers')}`);
}
