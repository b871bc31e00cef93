import { dirname, resolve } from 'node:path';
import { parseYaml } from '../../codec/index.ts';
import { isJsonObject, type Json, type JsonObject, StatusError } from '../../meta/index.ts';
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

/** A kubeconfig of a setting, as messages name it. */
interface Source {
  readonly path: string;
  readonly where: string;
}

const sourceOf = (setting: string, path: string, what = ''): Source => ({
  path,
  where: `${setting}=${JSON.stringify(path)}${what === '' ? '' : `: ${what}`}`,
});

/**
 * Reads the webhook of the current context from the kubeconfig of a setting, such as `--flag`. `what` prefixes messages about
 * its content. @throws StartError
 */
export async function readWebhookConfig(setting: string, path: string, what = ''): Promise<WebhookConfig> {
  const source = sourceOf(setting, path, what);
  const { where } = source;
  const config = parseKubeconfig(await readFileOf(setting, path), where);
  const current = textOf(config, 'current-context', where);
  const context = requireEntry(config, 'contexts', 'context', current, `${where}${withoutContext(config, current)}`);
  const clusterName = textOf(context, 'cluster', where);
  const cluster = requireEntry(config, 'clusters', 'cluster', clusterName, where);
  const userName = textOf(context, 'user', where);
  const user = userName === undefined ? {} : (findEntry(config, 'users', 'user', userName) ?? {});
  rejectFields(cluster, ['proxy-url'], where);
  const skipVerify = cluster['insecure-skip-tls-verify'] === true;
  const ca = await pemOf(cluster, 'certificate-authority', source);
  if (skipVerify && ca !== undefined) {
    throw new StartError(`${where}: insecure-skip-tls-verify and certificate-authority exclude each other`);
  }
  return {
    url: urlOf(textOf(cluster, 'server', where), clusterName, where),
    ca,
    serverName: textOf(cluster, 'tls-server-name', where),
    skipVerify,
    ...(await readUser(user, userName, source)),
  };
}

/** Reads the kubeconfig of a setting whose users are named after the hosts of webhooks. @throws StartError */
export async function readWebhookCredentials(setting: string, path: string): Promise<WebhookCredentials> {
  const source = sourceOf(setting, path);
  const { where } = source;
  const config = parseKubeconfig(await readFileOf(setting, path), where);
  const entries: Json = config['users'] ?? [];
  const users = new Map<string, WebhookUser>();
  for (const entry of Array.isArray(entries) ? entries : []) {
    const name = isJsonObject(entry) ? textOf(entry, 'name', where) : undefined;
    if (name !== undefined)
      users.set(name, await readUser(requireEntry(config, 'users', 'user', name, where), name, source));
  }
  const current = textOf(config, 'current-context', where);
  const context = current === undefined ? {} : requireEntry(config, 'contexts', 'context', current, where);
  const fallback = users.get('*') ?? users.get(textOf(context, 'user', where) ?? '');
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
}

/** The names of users for a host: the host, and wildcards of its domains. */
function namesOf(target: string): string[] {
  const labels = target.split('.');
  return [target, ...labels.slice(1).map((_, i) => `*.${labels.slice(i + 1).join('.')}`)];
}

/** Reads `<field>-data`, otherwise the file of `<field>`. */
async function pemOf(from: JsonObject, field: string, { path, where }: Source): Promise<string | undefined> {
  const data = textOf(from, `${field}-data`, where);
  if (data !== undefined) return Buffer.from(data, 'base64').toString();
  const file = textOf(from, field, where);
  return file === undefined ? undefined : readFileOf(`${where}: ${field}`, resolve(dirname(path), file));
}

async function readUser(user: JsonObject, name: string | undefined, source: Source): Promise<WebhookUser> {
  const { where } = source;
  rejectFields(user, ['exec', 'auth-provider', 'as', 'as-uid', 'as-groups', 'as-user-extra'], where);
  const [cert, key] = [await pemOf(user, 'client-certificate', source), await pemOf(user, 'client-key', source)];
  if (cert !== undefined && key === undefined) {
    const why = `client-key-data or client-key must be specified for ${name} to use the clientCert authentication method.`;
    throw new StartError(`${where}: invalid configuration: ${why}`);
  }
  if (cert === undefined && key !== undefined) {
    throw new StartError(`${where}: client-certificate and client-key must be given together`);
  }
  return { cert, key, authorization: authorizationOf(user, source) };
}

function authorizationOf(user: JsonObject, { path, where }: Source): WebhookUser['authorization'] {
  const tokenFile = textOf(user, 'tokenFile', where);
  // Read for each request, because tokens in the file are renewed.
  if (tokenFile !== undefined) {
    const file = resolve(dirname(path), tokenFile);
    return async () => `Bearer ${(await readFileOf(`${where}: tokenFile`, file)).trim()}`;
  }
  const token = textOf(user, 'token', where);
  if (token !== undefined) return async () => `Bearer ${token}`;
  const name = textOf(user, 'username', where);
  if (name === undefined) return undefined;
  const basic = Buffer.from(`${name}:${textOf(user, 'password', where) ?? ''}`).toString('base64');
  return async () => `Basic ${basic}`;
}

function parseKubeconfig(text: string, where: string): JsonObject {
  try {
    const { value, findings } = parseYaml(Buffer.from(text));
    if (findings.length > 0) throw new StartError(`${where}: ${findings.join('; ')}`);
    if (isJsonObject(value) && value['kind'] === 'Config') return value;
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    throw new StartError(`${where}: ${error.message}`, error);
  }
  throw new StartError(`${where}: it is not a kubeconfig: its kind must be Config`);
}

/** The message of other clients about a missing current context. */
const withoutContext = ({ contexts = [] }: JsonObject, current: string | undefined): string =>
  current === undefined ||
  !Array.isArray(contexts) ||
  contexts.some((one) => isJsonObject(one) && one['name'] === current)
    ? ''
    : `: invalid configuration: [context was not found for specified context: ${current}, cluster has no server defined]`;

/** Finds an entry of a list by name. @throws StartError when it is missing */
function requireEntry(
  config: JsonObject,
  list: string,
  what: string,
  name: string | undefined,
  where: string,
): JsonObject {
  if (name === undefined) throw new StartError(`${where}: it must have a current-context with a cluster`);
  const entry = findEntry(config, list, what, name);
  if (entry !== undefined) return entry;
  throw new StartError(`${where}: ${list} has no ${what} named ${JSON.stringify(name)}`);
}

/** Finds an entry of a list by name; undefined when it is missing. */
function findEntry(config: JsonObject, list: string, what: string, name: string): JsonObject | undefined {
  const entries = config[list];
  const item = Array.isArray(entries) ? entries.find((one) => isJsonObject(one) && one['name'] === name) : undefined;
  const entry = isJsonObject(item ?? null) ? ((item as JsonObject)[what] ?? null) : null;
  return isJsonObject(entry) ? entry : undefined;
}

/** The text of a field; undefined when it is absent or empty. @throws StartError */
function textOf(from: JsonObject, field: string, where: string): string | undefined {
  const value = from[field] ?? '';
  if (typeof value !== 'string') throw new StartError(`${where}: ${field} must be a string`);
  return value === '' ? undefined : value;
}

function rejectFields(from: JsonObject, fields: readonly string[], where: string): void {
  const field = fields.find((name) => from[name] !== undefined && from[name] !== null);
  if (field !== undefined) throw new StartError(`${where}: ${field} is not supported`);
}

function urlOf(text: string | undefined, cluster: string | undefined, where: string): URL {
  if (text === undefined) {
    throw new StartError(`${where}: invalid configuration: no server found for cluster ${JSON.stringify(cluster)}`);
  }
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'https:' && url.username === '' && url.password === '') return url;
  throw new StartError(`${where}: server must be a URL with https and without credentials`);
}
