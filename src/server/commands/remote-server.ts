/** Connections of commands to servers. */
import { setTimeout as pause } from 'node:timers/promises';
import {
  type Client,
  type Connection,
  connectionOf,
  type HttpsOptions,
  KubeconfigError,
  parseKubeconfig,
} from '../../client/index.ts';
import { isJsonObject, type Json } from '../../meta/index.ts';
import { readFileOf } from '../settings/read-file.ts';
import { StartError, systemReason } from '../start-error.ts';
import { readWebhookConfig, type WebhookConfig } from '../webhooks/webhook-kubeconfig.ts';

/**
 * The way to the server of a kubeconfig of a setting, with every kind of credentials that clients have, exec plugins included.
 * @throws StartError
 */
export async function connectionOfKubeconfig(setting: string, path: string): Promise<Connection> {
  const text = await readFileOf(setting, path);
  try {
    return await connectionOf(parseKubeconfig(text, path));
  } catch (error) {
    if (!(error instanceof KubeconfigError)) throw error;
    throw new StartError(`${setting}=${JSON.stringify(path)}: ${error.message}`, error);
  }
}

/** Reads the server and the credentials from the kubeconfig of a setting, such as `--kubeconfig`. @throws StartError */
export async function serverOfKubeconfig(setting: string, path: string): Promise<HttpsOptions> {
  const config = await readWebhookConfig(setting, path);
  if (config.url.pathname !== '/') {
    throw new StartError(`${setting}=${JSON.stringify(path)}: the server must be a URL without a path`);
  }
  return httpsOptionsOf(config);
}

/** The server and the credentials of a kubeconfig, without the path of its URL. */
export function httpsOptionsOf(config: WebhookConfig): HttpsOptions {
  const { url, ca, serverName, skipVerify, cert, key, authorization } = config;
  return {
    server: url.origin,
    skipVerify,
    ...(ca === undefined ? {} : { ca }),
    ...(serverName === undefined ? {} : { serverName }),
    ...(cert === undefined || key === undefined ? {} : { certificate: { cert, key } }),
    ...(authorization === undefined ? {} : { authorization }),
  };
}

/** Reads the names of the API groups. Waits up to `waitSeconds` for an unreachable server. @throws StartError */
export async function groupsOf(client: Client, url: string, waitSeconds: number): Promise<string[]> {
  for (let second = 0; ; second++) {
    try {
      const { status, body } = await client.request({ method: 'GET', url: '/apis', headers: {} });
      const chunks: Uint8Array[] = [];
      for await (const chunk of body) chunks.push(chunk);
      if (status !== 200) throw new StartError(`${url}/apis cannot be read: HTTP status ${status}`);
      const list = JSON.parse(Buffer.concat(chunks).toString()) as Json;
      const groups = isJsonObject(list) ? list['groups'] : [];
      const names = (Array.isArray(groups) ? groups : []).map((group) => (isJsonObject(group) ? group['name'] : ''));
      return names.filter((name) => typeof name === 'string');
    } catch (error) {
      if (error instanceof StartError) throw error;
      if (second === waitSeconds) throw new StartError(`${url} cannot be used: ${systemReason(error)}`, error);
      await pause(1_000);
    }
  }
}
