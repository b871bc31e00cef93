/** Transports from connections. */
import { readFile } from 'node:fs/promises';
import { compatibleDomain, namesFor } from '../../meta/index.ts';
import { credentialedTransport } from '../transport/credentialed.ts';
import { type HttpsOptions, httpsTransport } from '../transport/https.ts';
import { proxyOfEnvironment } from '../transport/proxy-environment.ts';
import type { Transport } from '../transport/transport.ts';
import { type Connection, type Impersonation, readToken } from './connection.ts';
import { KubeconfigError } from './kubeconfig.ts';

/** A transport to the server of a connection. Idle connections stay open until `close`. */
export function connect(connection: Connection): Transport & { close(): void } {
  const { server, ca, serverName, skipVerify, proxy, credentials, impersonation } = connection;
  const options: HttpsOptions = {
    server,
    skipVerify,
    ...(ca === undefined ? {} : { ca }),
    ...(serverName === undefined ? {} : { serverName }),
    ...(proxy === undefined ? {} : { proxy }),
    ...(impersonation === undefined ? {} : { headers: headersOf(impersonation) }),
  };
  return credentials === undefined ? httpsTransport(options) : credentialedTransport(options, credentials);
}

function headersOf({ user, groups, uid, extra }: Impersonation): { [name: string]: string | readonly string[] } {
  const extras = Object.entries(extra).map(([key, values]) => [
    `impersonate-extra-${encodeURIComponent(key).toLowerCase()}`,
    values,
  ]);
  return {
    'impersonate-user': user,
    ...(groups.length === 0 ? {} : { 'impersonate-group': groups }),
    ...(uid === undefined ? {} : { 'impersonate-uid': uid }),
    ...Object.fromEntries(extras),
  };
}

export interface InClusterOptions {
  /** The API domain of the cluster, in which variables and folders are named. */
  readonly apiDomain?: string;
  readonly env?: { readonly [name: string]: string | undefined };
  /** The folder of the service account. */
  readonly folder?: string;
}

/** The address of the server in the environment of a pod; undefined outside of one. */
export function inClusterAddress({
  apiDomain = compatibleDomain,
  env = process.env,
}: InClusterOptions): string | undefined {
  const prefix = namesFor(apiDomain).product.toUpperCase().replaceAll('-', '_');
  const [host = '', port = ''] = [env[`${prefix}_SERVICE_HOST`], env[`${prefix}_SERVICE_PORT`]];
  return host === '' || port === '' ? undefined : `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/**
 * The connection of a pod with its service account: the address from the environment, the authority and the token from the
 * folder of the account. The token is read for each request. @throws KubeconfigError outside of a pod
 */
export async function inClusterConnection(options: InClusterOptions = {}): Promise<Connection> {
  const server = inClusterAddress(options);
  if (server === undefined) {
    throw new KubeconfigError(
      'unable to load in-cluster configuration: the variables of the service of the server must be set',
    );
  }
  const { labels } = namesFor(options.apiDomain ?? compatibleDomain);
  const { folder = `/var/run/secrets/${labels}/serviceaccount` } = options;
  const read = (name: string) =>
    readFile(`${folder}/${name}`, 'utf8').catch((error: unknown) => {
      throw new KubeconfigError(`unable to load in-cluster configuration: ${folder}/${name} cannot be read`, error);
    });
  const ca = await read('ca.crt');
  const token = async () => ({ authorization: `Bearer ${await readToken(`${folder}/token`)}` });
  return {
    server,
    ca,
    serverName: undefined,
    skipVerify: false,
    proxy: proxyOfEnvironment(server, options.env ?? process.env),
    credentials: { current: token, reject: () => false },
    impersonation: undefined,
    namespace: (await read('namespace').catch(() => 'default')).trim(),
  };
}
