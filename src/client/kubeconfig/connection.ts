/** The connection that a kubeconfig describes: the address of a server, its authority, and the credentials of a user. */
import { readFile } from 'node:fs/promises';
import { isJsonObject, type JsonObject } from '../../meta/index.ts';
import type { Credential, Credentials } from '../transport/credentials.ts';
import { proxyOfEnvironment } from '../transport/proxy-environment.ts';
import { type ExecEnvironment, type ExecPlugin, execCredentials, readExecPlugin } from './exec-plugin.ts';
import {
  type Kubeconfig,
  type KubeconfigEntry,
  KubeconfigError,
  type kubeconfigLists,
  pathIn,
  pemIn,
  reasonOf,
  textIn,
} from './kubeconfig.ts';

/** Replaces parts of a kubeconfig, as the flags of a command line do. */
export interface ConnectionOverrides {
  readonly context?: string | undefined;
  readonly cluster?: string | undefined;
  readonly user?: string | undefined;
  readonly namespace?: string | undefined;
  /** Fields of the cluster, under the names that they have in a kubeconfig. */
  readonly clusterFields?: JsonObject;
  /** Fields of the user, under the names that they have in a kubeconfig. */
  readonly userFields?: JsonObject;
}

/** The way to a server. */
export interface Connection {
  /** The URL of the server, with a path where it is served below one. */
  readonly server: string;
  /** The CA bundle in PEM; undefined: the authorities that the system trusts. */
  readonly ca: string | undefined;
  readonly serverName: string | undefined;
  readonly skipVerify: boolean;
  /** The URL of a proxy. */
  readonly proxy: string | undefined;
  readonly credentials: Credentials | undefined;
  /** Whom the user impersonates. */
  readonly impersonation: Impersonation | undefined;
  /** The namespace of the context; `default` without one. */
  readonly namespace: string;
}

export interface Impersonation {
  readonly user: string;
  readonly groups: readonly string[];
  readonly uid: string | undefined;
  readonly extra: { readonly [key: string]: readonly string[] };
}

const nothing = (file: string): KubeconfigEntry => ({ name: '', fields: {}, file });

/** The connection of a context, by default the current one. Runs nothing and sends nothing. @throws KubeconfigError */
export async function connectionOf(
  config: Kubeconfig,
  overrides: ConnectionOverrides = {},
  environment: ExecEnvironment = {},
): Promise<Connection> {
  const contextName = overrides.context ?? config.currentContext;
  const context = findEntry(config, 'contexts', contextName) ?? nothing('.');
  const clusterName = overrides.cluster ?? textIn(context, 'cluster') ?? '';
  const cluster = replaced(findEntry(config, 'clusters', clusterName), overrides.clusterFields);
  const userName = overrides.user ?? textIn(context, 'user') ?? '';
  const user = replaced(findEntry(config, 'users', userName), userFieldsOf(overrides));
  const server = urlIn(cluster, clusterName);
  const [ca, skipVerify] = [await pemIn(cluster, 'certificate-authority'), isSkipped(cluster)];
  if (ca !== undefined && skipVerify) {
    throw new KubeconfigError(
      `cluster ${JSON.stringify(cluster.name)}: certificate-authority and insecure-skip-tls-verify exclude each other`,
    );
  }
  const target = { server, ca, serverName: textIn(cluster, 'tls-server-name'), skipVerify };
  const proxy = textIn(cluster, 'proxy-url');
  return {
    ...target,
    proxy: proxy ?? proxyOfEnvironment(server, environment.env ?? process.env),
    credentials: await credentialsOf(user, { ...target, proxy, config: execConfigOf(cluster) }, environment),
    impersonation: impersonationOf(user),
    namespace: overrides.namespace ?? textIn(context, 'namespace') ?? 'default',
  };
}

/** A bearer token or a password of the overrides replaces what the kubeconfig has for either. */
function userFieldsOf({ userFields = {} }: ConnectionOverrides): JsonObject {
  const replacesToken = userFields['token'] !== undefined || userFields['username'] !== undefined;
  return replacesToken ? { token: '', tokenFile: '', username: '', password: '', ...userFields } : userFields;
}

function replaced(entry: KubeconfigEntry | undefined, fields: JsonObject = {}): KubeconfigEntry {
  const { name, fields: before, file } = entry ?? nothing('.');
  const isData = (field: string) => field.endsWith('-data') && fields[field.slice(0, -'-data'.length)] !== undefined;
  const kept = Object.entries(before).filter(([field]) => !isData(field));
  const skips = fields['insecure-skip-tls-verify'] === true;
  const usable = skips ? kept.filter(([field]) => !field.startsWith('certificate-authority')) : kept;
  return {
    name,
    fields: { ...Object.fromEntries(usable), ...fields },
    file: Object.keys(fields).length > 0 && entry === undefined ? '.' : file,
  };
}

/** The messages about missing entries, as other clients spell them. */
const missingEntry = {
  contexts: (name: string) => `context was not found for specified context: ${name}`,
  clusters: (name: string) => `no server found for cluster ${JSON.stringify(name)}`,
  users: (name: string) => `auth info ${JSON.stringify(name)} does not exist`,
};

/** @throws KubeconfigError when an entry is named and missing */
function findEntry(config: Kubeconfig, list: keyof typeof kubeconfigLists, name: string): KubeconfigEntry | undefined {
  if (name === '') return undefined;
  const entry = config[list].get(name);
  if (entry !== undefined) return entry;
  throw new KubeconfigError(missingEntry[list](name));
}

const isSkipped = ({ fields }: KubeconfigEntry) => fields['insecure-skip-tls-verify'] === true;

function urlIn(cluster: KubeconfigEntry, name: string): string {
  const text = textIn(cluster, 'server');
  if (text === undefined) {
    throw new KubeconfigError(
      name === ''
        ? 'invalid configuration: no configuration has been provided, try setting KUBECONFIG or --kubeconfig'
        : `invalid configuration: no server found for cluster ${JSON.stringify(name)}`,
    );
  }
  // An address without a scheme is that of a server without TLS.
  const url = /^[a-z]+:\/\//i.test(text) ? text : `http://${text}`;
  const { protocol, username, password } = URL.canParse(url)
    ? new URL(url)
    : { protocol: '', username: '', password: '' };
  if ((protocol === 'https:' || protocol === 'http:') && username === '' && password === '') return url;
  throw new KubeconfigError(
    `cluster ${JSON.stringify(name)}: server must be a URL with http or https, without credentials`,
  );
}

/** The configuration of a cluster for exec plugins. */
function execConfigOf({ fields }: KubeconfigEntry): JsonObject | undefined {
  const { extensions = [] } = fields;
  const items = Array.isArray(extensions) ? extensions.filter(isJsonObject) : [];
  const found = items.find(({ name }) => typeof name === 'string' && /^client\.authentication\..+\/exec$/.test(name));
  const { extension = null } = found ?? {};
  return isJsonObject(extension) ? extension : undefined;
}

async function credentialsOf(
  user: KubeconfigEntry,
  target: ExecPlugin['target'],
  environment: ExecEnvironment,
): Promise<Credentials | undefined> {
  if (user.fields['auth-provider'] !== undefined && user.fields['auth-provider'] !== null) {
    throw new KubeconfigError(`user ${JSON.stringify(user.name)}: auth-provider is not supported: use exec`);
  }
  const certificate = await certificateOf(user);
  const authorization = authorizationOf(user);
  const plugin = readExecPlugin(user, target);
  if (plugin !== undefined) {
    if (authorization === undefined) return execCredentials(plugin, environment, certificate);
    throw new KubeconfigError(
      `more than one authentication method found for ${user.name}; found exec and a token or password, only one is allowed`,
    );
  }
  if (certificate === undefined && authorization === undefined) return undefined;
  return {
    current: async (): Promise<Credential> => ({ certificate, authorization: await authorization?.() }),
    reject: () => false,
  };
}

async function certificateOf(user: KubeconfigEntry): Promise<Credential['certificate']> {
  const [cert, key] = [await pemIn(user, 'client-certificate'), await pemIn(user, 'client-key')];
  if (cert === undefined && key === undefined) return undefined;
  if (cert !== undefined && key !== undefined) return { cert, key };
  const missing = cert === undefined ? 'client-certificate' : 'client-key';
  throw new KubeconfigError(
    `${missing}-data or ${missing} must be specified for ${user.name} to use the clientCert authentication method.`,
  );
}

function authorizationOf(user: KubeconfigEntry): (() => Promise<string>) | undefined {
  const file = pathIn(user, 'tokenFile');
  // Read for each request, because tokens in the file are renewed.
  if (file !== undefined) return async () => `Bearer ${await readToken(file)}`;
  const token = textIn(user, 'token');
  if (token !== undefined) return async () => `Bearer ${token}`;
  const name = textIn(user, 'username');
  if (name === undefined) return undefined;
  const basic = Buffer.from(`${name}:${textIn(user, 'password') ?? ''}`).toString('base64');
  return async () => `Basic ${basic}`;
}

/** @throws KubeconfigError */
export async function readToken(file: string): Promise<string> {
  try {
    const token = (await readFile(file, 'utf8')).trim();
    if (token !== '') return token;
  } catch (error) {
    throw new KubeconfigError(`failed to read token file ${JSON.stringify(file)}: ${reasonOf(error, file)}`, error);
  }
  throw new KubeconfigError(`read empty token from file ${JSON.stringify(file)}`);
}

function impersonationOf(user: KubeconfigEntry): Impersonation | undefined {
  const [name, uid] = [textIn(user, 'as'), textIn(user, 'as-uid')];
  const groups = textsIn(user.fields['as-groups']);
  const extra = user.fields['as-user-extra'] ?? {};
  const extras = isJsonObject(extra)
    ? Object.entries(extra).map(([key, values]) => [key, textsIn(values)] as const)
    : [];
  if (name === undefined) {
    if (uid === undefined && groups.length === 0 && extras.length === 0) return undefined;
    throw new KubeconfigError(
      'requesting uid, groups or user-extra for user impersonation without impersonating a user',
    );
  }
  return { user: name, uid, groups, extra: Object.fromEntries(extras) };
}

const textsIn = (value: JsonObject[string] | undefined): string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
