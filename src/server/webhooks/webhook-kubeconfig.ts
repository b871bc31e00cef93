import {
  type Kubeconfig,
  type KubeconfigEntry,
  KubeconfigError,
  kubeconfigLists,
  parseKubeconfig,
  pathIn,
  textIn,
} from '../../client/index.ts';
import { readFileOf } from '../settings/read-file.ts';
import { StartError } from '../start-error.ts';

/** The credentials for a webhook. */
export interface WebhookUser {
  readonly cert: string | undefined;
  readonly key: string | undefined;
  /** Resolves with the `Authorization` header; undefined without one. */
  readonly authorization: (() => Promise<string>) | undefined;
}

/** The address of a webhook, how its certificate is verified, and its credentials. */
export interface WebhookConfig extends WebhookUser {
  readonly url: URL;
  /** CA bundle in PEM; undefined: the authorities that Node trusts. */
  readonly ca: string | undefined;
  /** The name in the certificate of the webhook. Default: the host of the URL. */
  readonly serverName: string | undefined;
  readonly skipVerify: boolean;
}

/** The credentials for webhooks by host. */
export interface WebhookCredentials {
  /** The kubeconfig with the credentials. */
  readonly path: string;
  /** Undefined: the webhook is called without credentials. */
  readonly userFor: (host: string, port: string) => WebhookUser | undefined;
}

/** How messages name the kubeconfig of a setting. */
const placeOf = (setting: string, path: string, what = ''): string =>
  `${setting}=${JSON.stringify(path)}${what === '' ? '' : `: ${what}`}`;

/**
 * Reads the webhook of the current context from the kubeconfig of a setting, such as `--flag`. `what` prefixes messages about
 * its content. @throws StartError
 */
export async function readWebhookConfig(setting: string, path: string, what = ''): Promise<WebhookConfig> {
  const where = placeOf(setting, path, what);
  const text = await readFileOf(setting, path);
  return withStartErrors(where, async () => {
    const config = parseKubeconfig(text, path);
    const context = currentContext(config);
    const clusterName = textIn(context, 'cluster') ?? '';
    const cluster = requireEntry(config, 'clusters', clusterName);
    const user = config.users.get(textIn(context, 'user') ?? '');
    rejectFields(cluster, ['proxy-url']);
    const skipVerify = cluster.fields['insecure-skip-tls-verify'] === true;
    const ca = await readPem(cluster, 'certificate-authority', where);
    if (skipVerify && ca !== undefined) {
      throw new KubeconfigError('insecure-skip-tls-verify and certificate-authority exclude each other');
    }
    return {
      url: urlOf(textIn(cluster, 'server'), clusterName),
      ca,
      serverName: textIn(cluster, 'tls-server-name'),
      skipVerify,
      ...(user === undefined ? anonymous : await readUser(user, where)),
    };
  });
}

/** Reads the kubeconfig of a setting whose users are named after the hosts of webhooks. @throws StartError */
export async function readWebhookCredentials(setting: string, path: string): Promise<WebhookCredentials> {
  const where = placeOf(setting, path);
  const text = await readFileOf(setting, path);
  return withStartErrors(where, async () => {
    const config = parseKubeconfig(text, path);
    const users = new Map<string, WebhookUser>();
    for (const [name, user] of config.users) users.set(name, await readUser(user, where));
    const context = config.currentContext === '' ? undefined : requireEntry(config, 'contexts', config.currentContext);
    const fallback = users.get('*') ?? users.get((context && textIn(context, 'user')) ?? '');
    return {
      path,
      userFor: (host, port) => {
        const targets = [`${host}:${port}`, ...(port === '443' ? [host] : [])];
        for (const name of targets.flatMap(namesOf)) {
          const user = users.get(name);
          if (user !== undefined) return user;
        }
        return fallback;
      },
    };
  });
}

/** Names the setting in an error of the kubeconfig. */
async function withStartErrors<T>(where: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof KubeconfigError)) throw error;
    throw new StartError(`${where}: ${error.message}`, error);
  }
}

/** The names of users for a host: the host, and wildcards of its domains. */
function namesOf(target: string): string[] {
  const labels = target.split('.');
  return [target, ...labels.slice(1).map((_, i) => `*.${labels.slice(i + 1).join('.')}`)];
}

/** Reads `<field>-data`, otherwise the file of `<field>`. @throws StartError when the file cannot be read */
async function readPem(entry: KubeconfigEntry, field: string, where: string): Promise<string | undefined> {
  const data = textIn(entry, `${field}-data`);
  if (data !== undefined) return Buffer.from(data, 'base64').toString();
  const file = pathIn(entry, field);
  return file === undefined ? undefined : readFileOf(`${where}: ${field}`, file);
}

const anonymous: WebhookUser = { cert: undefined, key: undefined, authorization: undefined };

async function readUser(user: KubeconfigEntry, where: string): Promise<WebhookUser> {
  rejectFields(user, ['exec', 'auth-provider', 'as', 'as-uid', 'as-groups', 'as-user-extra']);
  const [cert, key] = [await readPem(user, 'client-certificate', where), await readPem(user, 'client-key', where)];
  if (cert !== undefined && key === undefined) {
    const why = `client-key-data or client-key must be specified for ${user.name} to use the clientCert authentication method.`;
    throw new KubeconfigError(`invalid configuration: ${why}`);
  }
  if (cert === undefined && key !== undefined) {
    throw new KubeconfigError('client-certificate and client-key must be given together');
  }
  return { cert, key, authorization: authorizationOf(user, where) };
}

function authorizationOf(user: KubeconfigEntry, where: string): WebhookUser['authorization'] {
  const file = pathIn(user, 'tokenFile');
  // Read for each request, because tokens in the file are renewed.
  if (file !== undefined) return async () => `Bearer ${(await readFileOf(`${where}: tokenFile`, file)).trim()}`;
  const token = textIn(user, 'token');
  if (token !== undefined) return async () => `Bearer ${token}`;
  const name = textIn(user, 'username');
  if (name === undefined) return undefined;
  const basic = Buffer.from(`${name}:${textIn(user, 'password') ?? ''}`).toString('base64');
  return async () => `Basic ${basic}`;
}

/** @throws KubeconfigError with the message of other clients about a missing context */
function currentContext({ contexts, currentContext: name }: Kubeconfig): KubeconfigEntry {
  if (name === '') throw new KubeconfigError('it must have a current-context with a cluster');
  const context = contexts.get(name);
  if (context !== undefined) return context;
  const why = `context was not found for specified context: ${name}, cluster has no server defined`;
  throw new KubeconfigError(`invalid configuration: [${why}]: contexts has no context named ${JSON.stringify(name)}`);
}

function requireEntry(config: Kubeconfig, list: keyof typeof kubeconfigLists, name: string): KubeconfigEntry {
  const entry = config[list].get(name);
  if (entry !== undefined) return entry;
  if (name === '') throw new KubeconfigError('it must have a current-context with a cluster');
  throw new KubeconfigError(`${list} has no ${kubeconfigLists[list]} named ${JSON.stringify(name)}`);
}

function rejectFields({ fields }: KubeconfigEntry, rejected: readonly string[]): void {
  const field = rejected.find((name) => fields[name] !== undefined && fields[name] !== null);
  if (field !== undefined) throw new KubeconfigError(`${field} is not supported`);
}

function urlOf(text: string | undefined, cluster: string): URL {
  if (text === undefined) {
    throw new KubeconfigError(`invalid configuration: no server found for cluster ${JSON.stringify(cluster)}`);
  }
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'https:' && url.username === '' && url.password === '') return url;
  throw new KubeconfigError('server must be a URL with https and without credentials');
}
