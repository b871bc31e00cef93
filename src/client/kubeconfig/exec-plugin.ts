/** Credentials from a program that the kubeconfig names (access.md, "Client exec plugin"). */
import { spawn } from 'node:child_process';
import { dirname, isAbsolute, resolve } from 'node:path';
import { isJsonObject, type Json, type JsonObject, namesFor, systemClock } from '../../meta/index.ts';
import type { Credential, Credentials } from '../transport/credentials.ts';
import { type KubeconfigEntry, KubeconfigError, textIn } from './kubeconfig.ts';

/** The plugin of a user. */
export interface ExecPlugin {
  readonly apiVersion: string;
  /** The variable that has the input of the plugin. */
  readonly infoVariable: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: { readonly [name: string]: string };
  readonly installHint: string | undefined;
  readonly interactiveMode: InteractiveMode;
  /** The description of the cluster for the plugin, where `provideClusterInfo` is set. */
  readonly cluster: JsonObject | undefined;
  readonly target: ExecTarget;
}

const interactiveModes = ['Never', 'IfAvailable', 'Always'] as const;
type InteractiveMode = (typeof interactiveModes)[number];

/** The cluster that credentials are for. */
interface ExecTarget {
  readonly server: string;
  readonly ca: string | undefined;
  readonly serverName: string | undefined;
  readonly skipVerify: boolean;
  readonly proxy: string | undefined;
  readonly config: JsonObject | undefined;
}

/** The process that starts plugins. Every part has a default. */
export interface ExecEnvironment {
  readonly env?: { readonly [name: string]: string | undefined };
  readonly now?: () => number;
  /** Whether standard input is a terminal that a plugin may read from. */
  readonly isInteractive?: boolean;
}

/** The maximum size of the output of a plugin in bytes. */
const maxOutput = 1024 * 1024;

/** Reads the plugin of a user; undefined without one. @throws KubeconfigError */
export function readExecPlugin(user: KubeconfigEntry, target: ExecTarget): ExecPlugin | undefined {
  const exec = user.fields['exec'] ?? null;
  if (exec === null) return undefined;
  if (!isJsonObject(exec)) throw new KubeconfigError(`users: exec of ${user.name} must be an object`);
  const entry = { ...user, fields: exec };
  const command = textIn(entry, 'command');
  if (command === undefined) {
    throw new KubeconfigError(`command must be specified for ${user.name} to use exec authentication plugin`);
  }
  const { apiVersion, domain } = versionIn(entry);
  const { args = [], env = [] } = exec;
  return {
    apiVersion,
    infoVariable: namesFor(domain).execInfoVariable,
    command: commandPath(command, user.file),
    args: Array.isArray(args) ? args.map(String) : [],
    env: variablesOf(env, user.name),
    installHint: textIn(entry, 'installHint'),
    interactiveMode: modeIn(entry, apiVersion),
    cluster: exec['provideClusterInfo'] === true ? clusterInfo(target) : undefined,
    target,
  };
}

function versionIn(entry: KubeconfigEntry): { apiVersion: string; domain: string } {
  const apiVersion = textIn(entry, 'apiVersion');
  if (apiVersion === undefined) {
    throw new KubeconfigError(`apiVersion must be specified for ${entry.name} to use exec authentication plugin`);
  }
  const [, domain] = /^client\.authentication\.(.+)\/(?:v1|v1beta1)$/.exec(apiVersion) ?? [];
  if (domain === undefined) throw new KubeconfigError(`exec plugin: invalid apiVersion ${JSON.stringify(apiVersion)}`);
  return { apiVersion, domain };
}

function modeIn(entry: KubeconfigEntry, apiVersion: string): InteractiveMode {
  const mode = textIn(entry, 'interactiveMode');
  if (mode === undefined && apiVersion.endsWith('/v1beta1')) return 'IfAvailable';
  if (mode === undefined) {
    throw new KubeconfigError(`interactiveMode must be specified for ${entry.name} to use exec authentication plugin`);
  }
  const known = interactiveModes.find((candidate) => candidate === mode);
  if (known !== undefined) return known;
  throw new KubeconfigError(
    `invalid interactiveMode for ${entry.name}: ${JSON.stringify(mode)}: it must be one of ${interactiveModes.join(', ')}`,
  );
}

/** A path with a folder is relative to the folder of the kubeconfig; a bare name is searched in PATH. */
const commandPath = (command: string, file: string): string =>
  isAbsolute(command) || !/[/\\]/.test(command) ? command : resolve(dirname(file), command);

function variablesOf(env: Json, user: string): { readonly [name: string]: string } {
  const variables: { [name: string]: string } = {};
  for (const variable of Array.isArray(env) ? env : []) {
    const { name = '', value = '' } = isJsonObject(variable) ? variable : {};
    if (typeof name !== 'string' || name === '' || typeof value !== 'string') {
      throw new KubeconfigError(`env variable name must be specified for ${user} to use exec authentication plugin`);
    }
    variables[name] = value;
  }
  return variables;
}

function clusterInfo({ server, ca, serverName, skipVerify, proxy, config }: ExecTarget): JsonObject {
  return {
    server,
    ...(serverName === undefined ? {} : { 'tls-server-name': serverName }),
    ...(skipVerify ? { 'insecure-skip-tls-verify': true } : {}),
    ...(ca === undefined ? {} : { 'certificate-authority-data': Buffer.from(ca).toString('base64') }),
    ...(proxy === undefined ? {} : { 'proxy-url': proxy }),
    config: config ?? null,
  };
}

interface CachedCredential {
  readonly credential: Credential;
  /** In milliseconds since 1970; undefined: valid until the server rejects it. */
  readonly expires: number | undefined;
}

/**
 * The credentials of a plugin. It runs at the first request, when its credential has expired and after the server has
 * answered 401; requests at the same time share one run. `certificate` is that of the kubeconfig, used where the plugin
 * supplies none.
 */
export function execCredentials(
  plugin: ExecPlugin,
  environment: ExecEnvironment,
  certificate: Credential['certificate'],
): Credentials {
  const now = environment.now ?? (() => systemClock.now());
  let cached: CachedCredential | undefined;
  let running: Promise<CachedCredential> | undefined;
  const run = async () => {
    cached = await runPlugin(plugin, environment, certificate);
    return cached;
  };
  return {
    current: async () => {
      if (cached !== undefined && (cached.expires === undefined || cached.expires > now())) return cached.credential;
      running ??= run().finally(() => {
        running = undefined;
      });
      return (await running).credential;
    },
    reject: (credential) => {
      // Another request may have renewed it in the meantime.
      if (cached?.credential === credential) cached = undefined;
      return true;
    },
  };
}

async function runPlugin(
  plugin: ExecPlugin,
  environment: ExecEnvironment,
  certificate: Credential['certificate'],
): Promise<CachedCredential> {
  const { interactiveMode, apiVersion, cluster } = plugin;
  const { isInteractive = process.stdin.isTTY === true } = environment;
  if (interactiveMode === 'Always' && !isInteractive) {
    throw failure('exec plugin cannot support interactive mode: standard input is not a terminal');
  }
  const interactive = interactiveMode !== 'Never' && isInteractive;
  const spec = { ...(cluster === undefined ? {} : { cluster }), interactive };
  const info = JSON.stringify({ kind: 'ExecCredential', apiVersion, spec });
  return credentialFrom(
    await outputOf(plugin, environment.env ?? process.env, info, interactive),
    apiVersion,
    certificate,
  );
}

/** Runs the program and returns its standard output. Its standard error is that of this process. */
function outputOf(plugin: ExecPlugin, env: NodeJS.ProcessEnv, info: string, interactive: boolean): Promise<string> {
  const { command, args, infoVariable, installHint } = plugin;
  return new Promise((resolvePromise, reject) => {
    const child = spawn(command, args, {
      env: { ...env, ...plugin.env, [infoVariable]: info },
      stdio: [interactive ? 'inherit' : 'ignore', 'pipe', 'inherit'],
    });
    const chunks: Uint8Array[] = [];
    let size = 0;
    child.stdout?.on('data', (chunk: Uint8Array) => {
      size += chunk.length;
      if (size <= maxOutput) chunks.push(chunk);
      else {
        child.kill();
        // Programs that the plugin has started may hold the pipe.
        child.stdout?.destroy();
      }
    });
    child.once('error', (error: NodeJS.ErrnoException) => {
      const hint = installHint === undefined ? '' : `\n\n${installHint}`;
      reject(
        error.code === 'ENOENT'
          ? failure(`exec: executable ${command} not found${hint}`)
          : failure(`exec: ${command}: ${error.message}`),
      );
    });
    child.once('close', (code, signal) => {
      if (size > maxOutput) reject(failure(`exec: the output of ${command} is larger than 1 MiB`));
      else if (code === 0) resolvePromise(Buffer.concat(chunks).toString());
      else if (code === null) reject(failure(`exec: executable ${command} ended by signal ${signal}`));
      else reject(failure(`exec: executable ${command} failed with exit code ${code}`));
    });
  });
}

const failure = (message: string) => new KubeconfigError(`getting credentials: ${message}`);

function credentialFrom(text: string, apiVersion: string, certificate: Credential['certificate']): CachedCredential {
  const value = objectFrom(text);
  if (value['kind'] !== 'ExecCredential') throw failure('decoding stdout: the output is not an ExecCredential');
  if (value['apiVersion'] !== apiVersion) {
    throw failure(
      `exec plugin is configured to use API version ${apiVersion}, plugin returned version ${textOf(value, 'apiVersion') ?? 'none'}`,
    );
  }
  const { status = null } = value;
  if (!isJsonObject(status)) throw failure("exec plugin didn't return a status field");
  const [token, cert, key] = ['token', 'clientCertificateData', 'clientKeyData'].map((field) => textOf(status, field));
  if (token === undefined && cert === undefined && key === undefined) {
    throw failure("exec plugin didn't return a token or cert/key pair");
  }
  if ((cert === undefined) !== (key === undefined)) {
    throw failure('exec plugin returned only certificate or key, not both');
  }
  return {
    credential: {
      authorization: token === undefined ? undefined : `Bearer ${token}`,
      certificate: cert === undefined || key === undefined ? certificate : { cert, key },
    },
    expires: expiryOf(textOf(status, 'expirationTimestamp')),
  };
}

function objectFrom(text: string): JsonObject {
  try {
    const value = JSON.parse(text) as Json;
    if (isJsonObject(value)) return value;
  } catch {
    // The output may be a secret: no message quotes it.
  }
  throw failure('decoding stdout: the output is not a JSON object');
}

function textOf(status: JsonObject, field: string): string | undefined {
  const value = status[field] ?? '';
  if (typeof value !== 'string') throw failure(`decoding stdout: status.${field} must be a string`);
  return value === '' ? undefined : value;
}

function expiryOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const time = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time)) throw failure('decoding stdout: status.expirationTimestamp must be a time of RFC 3339');
  return time;
}
