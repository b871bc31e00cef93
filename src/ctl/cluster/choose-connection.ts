import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type Connection,
  connectionOf,
  inClusterAddress,
  inClusterConnection,
  type Kubeconfig,
  KubeconfigError,
  readKubeconfig,
} from '../../client/index.ts';
import { compatibleDomain, defaultDomain, type JsonObject } from '../../meta/index.ts';
import type { GlobalValues } from '../flags/global-flags.ts';
import type { Io } from '../io.ts';

/** The folder below which servers keep their data, and the administrator's kubeconfig in each data folder. */
const dataFolders = 'orch-data';
const administrator = 'admin.kubeconfig';

/**
 * The connection of a command: that of `--kubeconfig`, of the variable `KUBECONFIG`, of the kubeconfig in the home folder, or
 * of the one server that has its data below `./orch-data`; in a pod, that of its service account. @throws KubeconfigError
 */
export async function chooseConnection(globals: GlobalValues, io: Io): Promise<Connection> {
  const { env } = io;
  const config = await configOf(globals, io);
  const isEmpty = config.clusters.size === 0 && config.contexts.size === 0;
  if (isEmpty && globals.server === '') {
    const apiDomain = [compatibleDomain, defaultDomain].find((domain) => inClusterAddress({ apiDomain: domain, env }));
    if (apiDomain !== undefined) return inClusterConnection({ apiDomain, env });
  }
  return connectionOf(config, overridesOf(globals), {
    env,
    now: () => io.clock.now(),
    isInteractive: io.stdin.isTTY === true,
  });
}

/** The kubeconfig of a command. @throws KubeconfigError, also when the file of `--kubeconfig` is required and absent */
export async function configOf(
  { kubeconfig, server }: GlobalValues,
  { env, home, folder }: Io,
  { isRequired = true } = {},
): Promise<Kubeconfig> {
  const config = await readKubeconfig({ path: kubeconfig, isRequired, env, home });
  if (kubeconfig !== '') return config;
  if (config.files.length > 0 || server !== '' || (env['KUBECONFIG'] ?? '') !== '') return config;
  const path = await localKubeconfig(folder);
  return path === undefined ? config : readKubeconfig({ path });
}

/** The administrator's kubeconfig of the one server below `./orch-data`; undefined without one. */
async function localKubeconfig(folder: string): Promise<string | undefined> {
  const namesIn = (path: string): Promise<string[]> => readdir(path).catch(() => []);
  const found: string[] = [];
  for (const name of await namesIn(join(folder, dataFolders))) {
    if ((await namesIn(join(folder, dataFolders, name))).includes(administrator))
      found.push(join(dataFolders, name, administrator));
  }
  if (found.length > 1) {
    throw new KubeconfigError(
      `there are several servers: choose one with --kubeconfig: ${found.toSorted().join(', ')}`,
    );
  }
  return found[0] === undefined ? undefined : join(folder, found[0]);
}

function overridesOf(globals: GlobalValues) {
  const named = (value: string) => (value === '' ? undefined : value);
  return {
    context: named(globals.context),
    cluster: named(globals.cluster),
    user: named(globals.user),
    namespace: named(globals.namespace),
    clusterFields: present({
      server: globals.server,
      'certificate-authority': globals.certificateAuthority,
      'tls-server-name': globals.tlsServerName,
      ...(globals.insecureSkipTlsVerify ? { 'insecure-skip-tls-verify': true } : {}),
    }),
    userFields: present({
      token: globals.token,
      username: globals.username,
      password: globals.password,
      'client-certificate': globals.clientCertificate,
      'client-key': globals.clientKey,
      as: globals.as,
      'as-uid': globals.asUid,
      ...(globals.asGroup.length === 0 ? {} : { 'as-groups': [...globals.asGroup] }),
    }),
  };
}

const present = (fields: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''));
